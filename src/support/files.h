// Reading and writing whole files.
#ifndef METACTRL_SRC_SUPPORT_FILES_H_
#define METACTRL_SRC_SUPPORT_FILES_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::internal {

// The file's bytes. Throws InputError when it does not exist, is a folder, or cannot be read.
std::string read_file(const std::string& path);
// The same piece by piece, for files that need not fit into memory.
void read_pieces(const std::string& path, const std::function<void(std::string_view)>& take);

// The names of what a folder has in it, in order; none where there is no such folder, or it cannot be read.
std::vector<std::string> names_in(const std::string& folder);

// Puts `content` at `path`, all of it or nothing: it is written beside the target and renamed, so that a full disk or a
// crash leaves an older file as it was. A path that exists and is not a plain file (/dev/stdout, a pipe) is written
// directly. Throws InputError that names the path and the system's reason.
void write_file(const std::string& path, std::string_view content);

// All of `content` to an open file. Returns errno, 0 when everything was written.
int write_all(int descriptor, std::string_view content);

// Will write_file be able to put a plain file there? For work that cannot be done again: asked before it begins. Makes
// a file beside the target and removes it. Throws the InputError that write_file would; and one for a path that exists
// and is not a plain file, since that may fail in the end.
void check_writable(const std::string& path);

// Removes what a write_file to `path` left beside it when it was killed, and nothing that is still written. The next write
// does so, too.
void remove_leftovers(const std::string& path);

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_FILES_H_
