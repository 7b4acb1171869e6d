// Values are put together while nlohmann's parser reads, and their leaves written by nlohmann's writer.
#include "serve/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "serve/api_error.h"
#include "support/str_cat.h"
#include "support/utf8.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;
using Leaf = nlohmann::ordered_json;

// Deeper than any request, and shallow enough for every stack.
constexpr std::size_t kMaxDepth = 64;
// A new member is looked up among all of its object: many take the square of that.
constexpr std::size_t kMaxMembers = 1024;

// Puts a value together while it is read.
class Builder : public nlohmann::json_sax<Leaf> {
 public:
  explicit Builder(Json& root) : next_(&root) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Json& object = *open_.back();
    if (object.size() == kMaxMembers) {
      throw ApiError(400, "bad_json", str_cat("an object of the body has more than ", kMaxMembers, " members"));
    }
    next_ = &object[name];
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*last*/,
                   const nlohmann::detail::exception& error) override {
    std::string message = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const std::size_t end = message.find("] "); message.starts_with('[') && end != std::string::npos) {
      message.erase(0, end + 2);
    }
    throw ApiError(400, "bad_json", "the body is not JSON: " + message);
  }

 private:
  bool put(Json value) {
    place() = std::move(value);
    return true;
  }
  bool open(Json empty) {
    if (open_.size() == kMaxDepth) {
      throw ApiError(400, "bad_json", str_cat("the body is nested more than ", kMaxDepth, " deep"));
    }
    Json& value = place();
    value = std::move(empty);
    open_.push_back(&value);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  // Of the value that is read.
  Json& place() {
    const bool in_list = !open_.empty() && open_.back()->is_array();
    return in_list ? open_.back()->push_back(nullptr) : *next_;
  }

  Json* next_;               // the root, or the member whose name was read
  std::vector<Json*> open_;  // lists and objects, the innermost last
};

// The first byte that is not part of a UTF-8 character; the size when all are.
std::size_t first_bad_byte(std::string_view text) {
  std::size_t at = 0;
  while (const std::size_t length = internal::first_character(text.substr(at)).length) at += length;
  return at;
}

struct Writer {
  std::string& out;

  void operator()(std::monostate /*null*/) const { out += "null"; }
  void operator()(const Json::List& list) const {
    out += '[';
    for (const Json& value : list) {
      if (&value != &list.front()) out += ',';
      value.visit(*this);
    }
    out += ']';
  }
  void operator()(const Json::Object& members) const {
    out += '{';
    for (const Json::Member& member : members) {
      if (&member != &members.front()) out += ',';
      (*this)(member.name);
      out += ':';
      member.value.visit(*this);
    }
    out += '}';
  }
  void operator()(const auto& leaf) const { out += Leaf(leaf).dump(-1, ' ', false, Leaf::error_handler_t::replace); }
};

}  // namespace

double Json::number() const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  return std::get<double>(value_);
}

std::size_t Json::size() const {
  if (is_array()) return list().size();
  return is_object() ? members().size() : 0;
}

bool Json::contains(std::string_view name) const {
  return std::any_of(members().begin(), members().end(), [&](const Member& member) { return member.name == name; });
}

const Json& Json::operator[](std::string_view name) const {
  static const Json kNull;
  const auto found =
      std::find_if(members().begin(), members().end(), [&](const Member& member) { return member.name == name; });
  return found == members().end() ? kNull : found->value;
}

Json& Json::operator[](std::string_view name) {
  Object& object = std::get<Object>(value_);
  const auto found =
      std::find_if(object.begin(), object.end(), [&](const Member& member) { return member.name == name; });
  return found == object.end() ? object.emplace_back(Member{std::string(name), nullptr}).value : found->value;
}

void Json::update(Json other) {
  for (Member& member : std::get<Object>(other.value_)) (*this)[member.name] = std::move(member.value);
}

Json parse_json(std::string_view text) {
  if (const std::size_t bad = first_bad_byte(text); bad < text.size()) {
    throw ApiError(400, "bad_utf8", str_cat("the body is not UTF-8: byte ", bad, " begins no character"));
  }
  Json json;
  Builder builder(json);
  Leaf::sax_parse(text, &builder);
  return json;
}

Json parse_body(std::string_view body) {
  Json json = parse_json(body);
  if (!json.is_object()) throw ApiError(400, "bad_json", "the body must be a JSON object");
  return json;
}

std::string dump(const Json& json) {
  std::string out;
  json.visit(Writer{out});
  return out;
}

void to_json(nlohmann::ordered_json& out, const Json& json) { out = nlohmann::ordered_json::parse(dump(json)); }

}  // namespace metactrl::serve
