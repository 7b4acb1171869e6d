// JSON as requests bring it and answers are made of it.
//
//     Json answer{{"plan", steps}, {"goals", {{"met", 2}, {"unmet", 0}}}};
//     answer["cost"] = 7;
//     std::string text = dump(answer);
//
// Read and written by nlohmann's JSON, but not kept in it: that allocates when a value is destroyed, so that the
// program ends if memory has ended. Destroying one of these allocates nothing. Members keep their order; each is looked
// up among all.
#ifndef METACTRL_SRC_SERVE_JSON_H_
#define METACTRL_SRC_SERVE_JSON_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace metactrl::serve {

class Json {
 public:
  struct Member;
  using List = std::vector<Json>;
  // A type of its own: a variant of vectors, strings and numbers alone takes it that copying never throws (libstdc++ 12).
  // What needs its members to be complete is defined below.
  struct Object : std::vector<Member> {
    using std::vector<Member>::vector;
    Object();
    Object(const Object& other);
    Object(Object&& other) noexcept;
    Object& operator=(const Object& other);
    Object& operator=(Object&& other) noexcept;
    ~Object();
  };

  // Conversions are what it is for. NOLINTBEGIN(google-explicit-constructor)
  Json(std::nullptr_t = nullptr) {}
  template <std::integral T>  // bool, too
  Json(T value) : value_(of(value)) {}
  Json(double value) : value_(value) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(const char* text) : value_(std::string(text)) {}
  template <typename T>
  Json(const std::vector<T>& list) : value_(List(list.begin(), list.end())) {}
  // NOLINTEND(google-explicit-constructor)
  Json(std::initializer_list<Member> members);
  static Json array(std::initializer_list<Json> list = {}) { return Json(List(list)); }
  static Json object() { return Json(std::initializer_list<Member>{}); }

  bool is_null() const { return is<std::monostate>(); }
  bool is_boolean() const { return is<bool>(); }
  bool is_number() const { return is<double>() || is<std::uint64_t>() || is<std::int64_t>(); }
  bool is_number_unsigned() const { return is<std::uint64_t>(); }
  bool is_integer() const { return is<std::uint64_t>() || is<std::int64_t>(); }
  bool is_string() const { return is<std::string>(); }
  bool is_array() const { return is<List>(); }
  bool is_object() const { return is<Object>(); }

  bool flag() const { return std::get<bool>(value_); }
  double number() const;
  std::uint64_t whole_number() const { return std::get<std::uint64_t>(value_); }
  const std::string& text() const { return std::get<std::string>(value_); }
  const List& list() const { return std::get<List>(value_); }
  const Object& members() const { return std::get<Object>(value_); }

  // Of a list or an object; null is empty.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  const Json& operator[](std::size_t index) const { return list()[index]; }
  Json& push_back(Json value) { return std::get<List>(value_).emplace_back(std::move(value)); }

  // The member, or null (a Json) without one.
  const Json& operator[](std::string_view name) const;
  bool contains(std::string_view name) const;
  // The member; it is added if there is none.
  Json& operator[](std::string_view name);
  // Takes over the members of an object.
  void update(Json other);

  // Calls `visitor` with what it is: std::monostate for null, bool, a number, std::string, List or Object.
  template <typename Visitor>
  void visit(const Visitor& visitor) const {
    std::visit(visitor, value_);
  }

  bool operator==(const Json& other) const = default;

 private:
  explicit Json(List list) : value_(std::move(list)) {}

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(value_);
  }

  // One number, one representation: signed if it is negative.
  using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Object>;
  static Value of(bool value) { return value; }
  template <std::integral Integer>
  static Value of(Integer value) {
    if (std::cmp_less(value, 0)) return static_cast<std::int64_t>(value);
    return static_cast<std::uint64_t>(value);
  }

  Value value_;
};

struct Json::Member {
  std::string name;
  Json value;

  bool operator==(const Member& other) const = default;
};

inline Json::Object::Object() = default;
inline Json::Object::Object(const Object& other) = default;
inline Json::Object::Object(Object&& other) noexcept = default;
inline Json::Object& Json::Object::operator=(const Object& other) = default;
inline Json::Object& Json::Object::operator=(Object&& other) noexcept = default;
inline Json::Object::~Object() = default;

inline Json::Json(std::initializer_list<Member> members) : value_(Object(members)) {}

// A text as JSON. Throws ApiError for what is no UTF-8, no JSON, or nested too deeply.
Json parse_json(std::string_view text);
// The same, and it must be an object.
Json parse_body(std::string_view body);

// Compact, bad UTF-8 replaced: what is sent is always valid JSON.
std::string dump(const Json& json);

// For whoever keeps the answer among other JSON.
void to_json(nlohmann::ordered_json& out, const Json& json);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_JSON_H_
