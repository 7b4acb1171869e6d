// What long work has done so far, kept so that nothing is lost when the program is killed.
//
// A journal is a file of JSON lines: first the settings of the run, then a line for everything that was done, each
// handed to the operating system before the next piece of work begins. A last line that was cut off is forgotten;
// anything else that is no such line is damage, which is said and not touched.
//
//     JournalFile journal("out.partial", settings, JournalFile::Begin::kGoOn, "name another file");
//     for (const Json& line : journal.earlier()) ...   // done by an earlier run
//     journal.add({{"identifier", "some_id"}, ...});
//
// Only one process at a time writes to a journal; a second one is refused. Thread safety: calls of add must not
// overlap.
#ifndef METACTRL_SRC_JOBS_JOURNAL_H_
#define METACTRL_SRC_JOBS_JOURNAL_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace metactrl::jobs {

using Json = nlohmann::ordered_json;

// What a journal holds; `bytes` is where its last whole line ends.
struct JournalContent {
  Json settings;
  std::vector<Json> lines;
  std::size_t bytes = 0;
};

// Nothing when there is no such file, or no whole line in it. Another process may be writing to it. Throws InputError
// with the line's number for a file that is damaged, or is something else.
std::optional<JournalContent> read_journal(const std::string& file);

// What differs between two settings: "guidance is mask here and was uniform there"; empty when nothing does.
std::string settings_difference(const Json& earlier, const Json& now);
// Throws an InputError about `file` when there is a difference; `hint` says what to do.
void check_settings(const std::string& file, const Json& earlier, const Json& now, const std::string& hint);

// Text that a model wrote may not be UTF-8; what is not is replaced.
std::string dump(const Json& json, int indent);

class JournalFile {
 public:
  enum class Begin { kAnew, kGoOn };

  // Begins a new journal, or goes on with one whose settings are the same; throws InputError when they differ, when
  // another process writes to it, or when it cannot be written.
  JournalFile(std::string file, const Json& settings, Begin begin, const std::string& hint);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  const std::string& file() const { return file_; }
  // What an earlier run had done.
  const std::vector<Json>& earlier() const { return earlier_; }
  // Returns once the line is with the operating system; throws InputError when it cannot be written.
  void add(const Json& line);
  // Removes the file: its content is elsewhere now.
  void remove();

 private:
  void write(const std::string& text);

  std::string file_;
  int descriptor_ = -1;
  std::vector<Json> earlier_;
};

}  // namespace metactrl::jobs

#endif  // METACTRL_SRC_JOBS_JOURNAL_H_
