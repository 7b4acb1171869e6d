// A file's bytes as memory: pages are read when they are touched.
//
//     std::shared_ptr<const MappedFile> file = MappedFile::open("household.hmm");
//     std::string_view all = file->bytes();   // begins at a page; good as long as `file` lives
//
// The file should be replaced, not overwritten, while it is mapped: write_file does so. Immutable, shared freely.
#ifndef METACTRL_SRC_SUPPORT_MAPPED_FILE_H_
#define METACTRL_SRC_SUPPORT_MAPPED_FILE_H_

#include <memory>
#include <string>
#include <string_view>

namespace metactrl::internal {

class MappedFile {
 public:
  // Throws InputError when it does not exist, is no plain file, or cannot be mapped.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_MAPPED_FILE_H_
