#include "serve/fields.h"

#include <algorithm>
#include <cmath>

#include "support/nearest_name.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

// Deeper than any request, and shallow enough for every stack.
constexpr std::size_t kMaxDepth = 64;
// An object keeps the order of its members, and looks a new one up among all of them: many take the square of that.
constexpr std::size_t kMaxMembers = 1024;

// Goes through a text and throws ApiError for what is nested too deeply or has too many members. Mistakes in the JSON
// are left to others.
class ShapeCheck : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return open(); }
  bool start_array(std::size_t /*size*/) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& /*name*/) override {
    if (++members_.back() <= kMaxMembers) return true;
    throw ApiError(400, "bad_json", str_cat("an object of the body has more than ", kMaxMembers, " members"));
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*last*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  bool open() {
    if (members_.size() == kMaxDepth) {
      throw ApiError(400, "bad_json", str_cat("the body is nested more than ", kMaxDepth, " deep"));
    }
    members_.push_back(0);
    return true;
  }
  bool close() {
    members_.pop_back();
    return true;
  }

  std::vector<std::size_t> members_;  // of the objects and lists that are open
};

// The first byte that is not part of a UTF-8 character; the size when all are.
std::size_t first_bad_byte(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    std::size_t length = 1;
    std::uint32_t code = lead;
    if (lead >= 0xF0 && lead < 0xF5) {
      length = 4;
      code = lead & 0x07U;
    } else if (lead >= 0xE0) {
      length = 3;
      code = lead & 0x0FU;
    } else if (lead >= 0xC2) {
      length = 2;
      code = lead & 0x1FU;
    } else if (lead >= 0x80) {
      return i;
    }
    if (lead >= 0xF5 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0U) != 0x80U) return i;
      code = (code << 6U) | (next & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return i;
    i += length;
  }
  return i;
}

// What a client wrote is repeated in messages, but not a megabyte of it.
constexpr std::size_t kShown = 80;
std::string shown(const std::string& text) { return text.size() <= kShown ? text : text.substr(0, kShown) + "..."; }
std::string guess(const std::string& name, const std::vector<std::string>& known) {
  return name.size() <= kShown ? internal::did_you_mean(name, known) : "";
}

std::string number_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? str_cat(static_cast<std::int64_t>(value))
                                                              : str_cat(value);
}

}  // namespace

Json parse_body(std::string_view body) {
  if (const std::size_t bad = first_bad_byte(body); bad < body.size()) {
    throw ApiError(400, "bad_utf8", str_cat("the body is not UTF-8: byte ", bad, " begins no character"));
  }
  Json json;
  try {
    // Twice, since a callback that looks at every value while it is read makes that quadratic in the values.
    ShapeCheck check;
    Json::sax_parse(body, &check);
    json = Json::parse(body);
  } catch (const Json::exception& error) {
    std::string message = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const std::size_t end = message.find("] "); message.starts_with('[') && end != std::string::npos) {
      message.erase(0, end + 2);
    }
    throw ApiError(400, "bad_json", "the body is not JSON: " + message);
  }
  if (!json.is_object()) throw ApiError(400, "bad_json", "the body must be a JSON object");
  return json;
}

Fields::Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object.is_object()) {
    const std::string name = path_.substr(0, path_.empty() ? 0 : path_.size() - 1);
    throw ApiError(400, "bad_request", str_cat("'", name, "' must be an object"), name);
  }
}

void Fields::refuse(const std::string& name, const std::string& message) const {
  throw ApiError(400, "bad_request", str_cat("'", path_, name, "' ", message), path_ + name);
}

const Json* Fields::find(const std::string& name) {
  known_.push_back(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Fields::text(const std::string& name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, "must be a string");
  return value->get<std::string>();
}

std::optional<double> Fields::number(const std::string& name, double low, double high) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::string wanted = str_cat("must be a number from ", number_text(low), " to ", number_text(high));
  if (!value->is_number()) refuse(name, wanted);
  const auto number = value->get<double>();
  if (!(number >= low && number <= high)) refuse(name, str_cat(wanted, ", and is ", number_text(number)));
  return number;
}

std::optional<std::uint64_t> Fields::integer(const std::string& name, std::uint64_t low, std::uint64_t high) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::string wanted = str_cat("must be a whole number from ", low, " to ", high);
  if (!value->is_number_unsigned()) refuse(name, wanted);
  const auto number = value->get<std::uint64_t>();
  if (number < low || number > high) refuse(name, str_cat(wanted, ", and is ", number));
  return number;
}

std::optional<bool> Fields::flag(const std::string& name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(name, "must be true or false");
  return value->get<bool>();
}

void Fields::refuse_choice(const std::string& name, const std::string& value,
                           const std::vector<std::string>& names) const {
  std::string known;
  for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
  const std::string nearest = guess(value, names);
  refuse(name, str_cat("must be one of ", known, nearest.empty() ? "" : " (" + nearest + ")"));
}

void Fields::refuse_others() const {
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const std::string nearest = guess(name, known_);
    refuse(shown(name), "is not known" + (nearest.empty() ? "" : "; " + nearest));
  }
}

}  // namespace metactrl::serve
