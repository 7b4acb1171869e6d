// Numbers and texts as bytes, little-endian, and back.
//
//     ByteWriter out;                         ByteReader in(bytes, "file.hmm", "train it anew");
//     out.number(std::uint32_t{7});           auto seven = in.number<std::uint32_t>();
//     out.text("open");                       std::string open = in.text();
//
// A reader never reads beyond its end: it throws InputError that names the file. Cheap; not for several threads.
#ifndef METACTRL_SRC_SUPPORT_BYTES_H_
#define METACTRL_SRC_SUPPORT_BYTES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "metactrl/error.h"

namespace metactrl::internal {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and read as they are");

class ByteWriter {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes(&value, sizeof(T));
  }
  // Its length in 32 bits, then its bytes.
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes(value.data(), value.size());
  }
  void bytes(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }
  // Zeros up to a multiple of `alignment`.
  void align(std::size_t alignment) { bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment); }
  std::string_view written() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  // `hint` is what to do about a file that ends early.
  ByteReader(std::string_view bytes, std::string file, std::string hint)
      : bytes_(bytes), file_(std::move(file)), hint_(std::move(hint)) {}

  template <typename T>
  T number() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    std::memcpy(&value, bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string text() { return std::string(bytes(number<std::uint32_t>())); }
  std::string_view bytes(std::size_t size) {
    if (size > left()) throw InputError(file_, "ends too early: it is cut off or damaged", hint_);
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  void align(std::size_t alignment) { bytes((alignment - at_ % alignment) % alignment); }
  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::string_view bytes_;
  std::string file_;
  std::string hint_;
  std::size_t at_ = 0;
};

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_BYTES_H_
