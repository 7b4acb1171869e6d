// Files and short texts from the network: gone on with where they stopped, checked, and whole or not at all.
//
//     Download what;
//     what.address = "https://example.org/model.gguf";
//     what.target = folder / "model.gguf";
//     const Downloaded file = download(what);  // folder/model.gguf is there
//
// Until it is whole the file is TARGET.part, with TARGET.part.json beside it, which says what it is a part of. Both
// stay when the program is killed, the connection is cut or the disk is full, and the next call goes on with them, if
// the server still has the same file; otherwise it begins anew. Connections that are cut and servers that are busy are
// tried again a few times, with growing pauses. Two programs must not fetch the same target at once: hold a lock.
#ifndef METACTRL_SRC_CLI_DOWNLOAD_H_
#define METACTRL_SRC_CLI_DOWNLOAD_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "metactrl/error.h"

namespace metactrl::cli {

struct Download {
  std::string address;           // as check_address allows it (cli/http_request.h)
  std::filesystem::path target;  // in a folder that is there
  std::string title;             // in messages: "model.gguf"
  // What the file must be, where it is known; otherwise what the server says of it.
  std::uint64_t bytes = 0;
  std::string sha256;
  // What is at this address never changes, as a version of a package does not: a part is gone on with although nothing
  // tells whether the server still has the same file. Whoever says so checks the whole.
  bool never_changes = false;
  std::string token;  // told to the address's own host, and to none that it sends us to
};

struct Downloaded {
  std::uint64_t bytes = 0;
  std::string sha256;
};

// The server answered, and asking again will not change its mind: 401, 403, 404 and the like.
class RefusedError : public InputError {
 public:
  RefusedError(const std::string& address, int status, std::string code);
  int status() const { return status_; }
  // What the server calls it ("GatedRepo"), where it does.
  const std::string& code() const { return code_; }

 private:
  int status_;
  std::string code_;
};

// Throws RefusedError; another InputError when curl is missing, there is no room, or the file is not what it must be
// (then nothing of it is kept); ResourceError with kNoNetwork when trying again later may help.
Downloaded download(const Download& what);

// The answer to one question, at most 64 MiB. Throws as download does.
std::string fetch_text(const std::string& address, const std::string& token);

// Throws InputError when there is less room than `needed` bytes where the folder is.
void check_room(const std::filesystem::path& folder, double needed);
// How much of a file is there already, as a whole or in part.
std::uint64_t bytes_present(const std::filesystem::path& target);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_DOWNLOAD_H_
