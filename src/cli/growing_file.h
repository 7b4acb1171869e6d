// A file that is written at its end, piece by piece, for what comes from the network or from another program.
#ifndef METACTRL_SRC_CLI_GROWING_FILE_H_
#define METACTRL_SRC_CLI_GROWING_FILE_H_

#include <filesystem>
#include <string>
#include <string_view>

namespace metactrl::cli {

// What to do when it cannot be written.
inline constexpr const char* kMakeRoom =
    "make room, or let METACTRL_CACHE name another folder; what was fetched is kept";

// Every call throws InputError when the file cannot be written: a full disk, no permission.
class GrowingFile {
 public:
  // Made where there is none; what is in it stays.
  explicit GrowingFile(const std::filesystem::path& path);
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile();

  void write(std::string_view piece) const;
  void empty() const;
  // Returns when the disk has it.
  void sync() const;

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  int descriptor_;
};

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_GROWING_FILE_H_
