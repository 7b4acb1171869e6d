// Text that comes in pieces of bytes: whole characters of it, and where it ends.
#ifndef METACTRL_SRC_SERVE_TEXT_PIECES_H_
#define METACTRL_SRC_SERVE_TEXT_PIECES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace metactrl::serve {

// Bytes in, whole UTF-8 characters out.
class CharacterBuffer {
 public:
  // What can be shown now; the beginning of a character is kept back.
  std::string add(std::string_view bytes);
  // The rest, complete or not.
  std::string flush() { return std::exchange(held_, {}); }

 private:
  std::string held_;
};

// Ends a text at the first of some strings, which is not part of it.
class StopFilter {
 public:
  explicit StopFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {}
  // What is certain not to be part of a stop string.
  std::string add(std::string_view bytes);
  std::string flush();
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_TEXT_PIECES_H_
