// Reading and writing whole files.
#ifndef METACTRL_SRC_SUPPORT_FILES_H_
#define METACTRL_SRC_SUPPORT_FILES_H_

#include <functional>
#include <string>
#include <string_view>

namespace metactrl::internal {

// The file's bytes. Throws InputError when it does not exist, is a folder, or cannot be read.
std::string read_file(const std::string& path);
// The same piece by piece, for files that need not fit into memory.
void read_pieces(const std::string& path, const std::function<void(std::string_view)>& take);

// Puts `content` at `path`, all of it or nothing: it is written beside the target and renamed, so that a full disk or a
// crash leaves an older file as it was. A path that exists and is not a plain file (/dev/stdout, a pipe) is written
// directly. Throws InputError that names the path and the system's reason.
void write_file(const std::string& path, std::string_view content);

// For the result of long work, before it begins: throws InputError when write_file could only fail (the folder is
// missing or may not be written to, the path is a folder). Leaves nothing behind.
void expect_writable(const std::string& path);

// Removes what a write_file to `path` left beside it when it was killed.
void remove_leftovers(const std::string& path);

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_FILES_H_
