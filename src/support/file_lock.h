// A lock that programs hold on a file, so that two of them do not change the same thing at once. The system gives it
// back when the program ends, however it ends.
//
//     FileLock lock(folder + "/.lock");
#ifndef METACTRL_SRC_SUPPORT_FILE_LOCK_H_
#define METACTRL_SRC_SUPPORT_FILE_LOCK_H_

#include <functional>
#include <string>

namespace metactrl::internal {

class FileLock {
 public:
  // Makes the file where there is none, and waits until nobody else holds the lock; `waiting` is called once before it
  // waits. Throws InputError when the file cannot be made.
  explicit FileLock(const std::string& file, const std::function<void()>& waiting = {});
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

// Takes the lock on an open file without waiting. False when another process has it.
bool try_lock(int descriptor);

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_FILE_LOCK_H_
