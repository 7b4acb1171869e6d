#include "serve/text_pieces.h"

#include <algorithm>

namespace metactrl::serve {

namespace {

// How many bytes at the end of the text begin a character without completing it.
std::size_t incomplete(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string CharacterBuffer::add(std::string_view bytes) {
  held_ += bytes;
  std::string out = held_.substr(0, held_.size() - incomplete(held_));
  held_.erase(0, out.size());
  return out;
}

std::string StopFilter::add(std::string_view bytes) {
  if (stopped_) return {};
  held_ += bytes;
  std::size_t end = std::string::npos;
  for (const std::string& stop : stops_) end = std::min(end, held_.find(stop));
  if (end != std::string::npos) {
    stopped_ = true;
    held_.resize(end);
    return std::exchange(held_, {});
  }
  // The longest end of the text that a stop string begins with.
  std::size_t kept = 0;
  for (const std::string& stop : stops_) {
    for (std::size_t length = std::min(stop.size(), held_.size()); length > kept; --length) {
      if (held_.ends_with(stop.substr(0, length))) kept = length;
    }
  }
  std::string out = held_.substr(0, held_.size() - kept);
  held_.erase(0, out.size());
  return out;
}

std::string StopFilter::flush() { return stopped_ ? std::string() : std::exchange(held_, {}); }

}  // namespace metactrl::serve
