// A reader for as much JSON as headers need, and the arrays behind it.
#include "training/safetensors.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <utility>

#include "metactrl/error.h"
#include "support/bytes.h"
#include "support/str_cat.h"

namespace metactrl::training {

using internal::str_cat;

namespace {

constexpr const char* kCopyHint = "copy the file again";

// A JSON value. Numbers that are not whole, and what else is not needed, are kept as kOther.
struct Json {
  enum class Kind { kOther, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kOther;
  std::uint64_t number = 0;
  std::string text;
  std::vector<Json> items;         // of an array or an object
  std::vector<std::string> names;  // of an object's items

  const Json* find(std::string_view key) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == key) return &items[i];
    }
    return nullptr;
  }
};

class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Json read() {
    Json value = read_value(0);
    skip_blanks();
    if (at_ != text_.size()) fail();
    return value;
  }

 private:
  static constexpr int kDepth = 16;

  [[noreturn]] void fail() const {
    throw InputError(file_, str_cat("byte ", at_, " of its JSON cannot be read"), kCopyHint);
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  // The next character that is no blank; not taken.
  char peek() {
    skip_blanks();
    if (at_ == text_.size()) fail();
    return text_[at_];
  }
  void expect(char c) {
    if (peek() != c) fail();
    ++at_;
  }

  Json read_value(int depth) {
    if (depth > kDepth) fail();
    Json value;
    std::set<std::string> seen;
    switch (peek()) {
      case '{':
        value.kind = Json::Kind::kObject;
        read_list('}', [&] {
          skip_blanks();
          std::string key = read_string();
          expect(':');
          if (!seen.insert(key).second) fail();
          value.names.push_back(std::move(key));
          value.items.push_back(read_value(depth + 1));
        });
        break;
      case '[':
        value.kind = Json::Kind::kArray;
        read_list(']', [&] { value.items.push_back(read_value(depth + 1)); });
        break;
      case '"':
        value.kind = Json::Kind::kString;
        value.text = read_string();
        break;
      default:
        read_word(value);
    }
    return value;
  }

  template <typename Item>
  void read_list(char close, const Item& item) {
    ++at_;
    if (peek() == close) {
      ++at_;
      return;
    }
    while (true) {
      item();
      if (peek() == close) break;
      expect(',');
    }
    ++at_;
  }

  // Escapes stay as they are written: no name that matters has one.
  std::string read_string() {
    if (peek() != '"') fail();
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) fail();
    return std::string(text_.substr(begin, at_++ - begin));
  }

  void read_word(Json& value) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) fail();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value.number);
    if (error == std::errc() && end == word.data() + word.size()) value.kind = Json::Kind::kNumber;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

std::vector<std::size_t> numbers(const Json* list, const std::string& file, const std::string& name) {
  std::vector<std::size_t> result;
  if (list == nullptr || list->kind != Json::Kind::kArray) {
    throw InputError(file, str_cat("tensor '", name, "' lacks its shape or its place"), kCopyHint);
  }
  for (const Json& item : list->items) {
    if (item.kind != Json::Kind::kNumber) {
      throw InputError(file, str_cat("tensor '", name, "' has a shape or a place that is no number"), kCopyHint);
    }
    result.push_back(item.number);
  }
  return result;
}

}  // namespace

SafeTensors read_safetensors(std::string_view bytes, const std::string& file) {
  internal::ByteReader in(bytes, file, kCopyHint);
  const auto length = in.number<std::uint64_t>();
  const std::string_view header = in.bytes(length);
  const std::string_view data = bytes.substr(in.at());
  const Json json = JsonReader(header, file).read();
  if (json.kind != Json::Kind::kObject) throw InputError(file, "is not a safetensors file", "check the path");
  SafeTensors result;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    const std::string& name = json.names[i];
    const Json& entry = json.items[i];
    if (name == "__metadata__") {
      for (std::size_t n = 0; n < entry.items.size(); ++n) {
        if (entry.kind == Json::Kind::kObject) result.metadata.emplace(entry.names[n], entry.items[n].text);
      }
      continue;
    }
    const Json* type = entry.find("dtype");
    if (type == nullptr || type->text != "F32") {
      throw InputError(file,
                       str_cat("tensor '", name, "' is of type ", type == nullptr ? "unknown" : type->text,
                               ", and only F32 is read"),
                       "convert it to 32-bit floats");
    }
    Tensor tensor;
    tensor.shape = numbers(entry.find("shape"), file, name);
    const std::vector<std::size_t> place = numbers(entry.find("data_offsets"), file, name);
    std::size_t size = sizeof(float);
    bool fits = place.size() == 2 && place[0] <= place[1] && place[1] <= data.size();
    for (const std::size_t extent : tensor.shape) {
      fits = fits && (extent == 0 || size <= data.size() / extent);
      if (fits) size *= extent;
    }
    if (!fits || place[1] - place[0] != size) {
      throw InputError(file, str_cat("tensor '", name, "' does not fit into the file"), kCopyHint);
    }
    tensor.values.resize(size / sizeof(float));
    if (size > 0) std::memcpy(tensor.values.data(), data.data() + place[0], size);
    places.emplace_back(place[0], place[1]);
    result.tensors.emplace(name, std::move(tensor));
  }
  std::sort(places.begin(), places.end());
  std::size_t end = 0;
  for (const auto& [from, to] : places) {
    if (from != end) throw InputError(file, "has tensors that overlap or leave a gap", kCopyHint);
    end = to;
  }
  if (end != data.size()) throw InputError(file, "holds more or less than its tensors", kCopyHint);
  return result;
}

std::string write_safetensors(const SafeTensors& content) {
  std::string header = R"({"__metadata__":{)";
  for (const auto& [key, value] : content.metadata) {
    header += str_cat(header.ends_with('{') ? "" : ",", '"', key, R"(":")", value, '"');
  }
  header += '}';
  std::size_t at = 0;
  for (const auto& [name, tensor] : content.tensors) {
    std::string shape;
    for (const std::size_t extent : tensor.shape) shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    const std::size_t end = at + tensor.values.size() * sizeof(float);
    header += str_cat(",\"", name, R"(":{"dtype":"F32","shape":[)", shape, R"(],"data_offsets":[)", at, ',', end, "]}");
    at = end;
  }
  header += '}';
  header.resize((header.size() + 7) / 8 * 8, ' ');  // so that the data are aligned
  internal::ByteWriter out;
  out.number(std::uint64_t{header.size()});
  out.bytes(header.data(), header.size());
  for (const auto& [name, tensor] : content.tensors)
    out.bytes(tensor.values.data(), tensor.values.size() * sizeof(float));
  return out.take();
}

std::map<std::string, std::uint64_t> read_json_numbers(std::string_view json, const std::string& file) {
  const Json value = JsonReader(json, file).read();
  if (value.kind != Json::Kind::kObject) throw InputError(file, "is no JSON object", kCopyHint);
  std::map<std::string, std::uint64_t> numbers;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (value.items[i].kind == Json::Kind::kNumber) numbers.emplace(value.names[i], value.items[i].number);
  }
  return numbers;
}

}  // namespace metactrl::training
