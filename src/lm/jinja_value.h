// Values of chat templates, which are programs in the language Jinja: Python's values, as far as templates use them. A
// text knows of each of its bytes whether a user said it, however it was cut and joined since.
#ifndef METACTRL_SRC_LM_JINJA_VALUE_H_
#define METACTRL_SRC_LM_JINJA_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace metactrl::lm::jinja {

// The template is not one, or does not like what it is given.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Text {
 public:
  Text() = default;
  explicit Text(std::string bytes, bool by_user = false)
      : bytes_(std::move(bytes)), marks_(bytes_.size(), by_user ? 'u' : 't') {}

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  bool by_user(std::size_t byte) const { return marks_[byte] == 'u'; }
  void append(const Text& more) {
    bytes_ += more.bytes_;
    marks_ += more.marks_;
  }
  Text part(std::size_t from, std::size_t count = std::string::npos) const {
    Text out;
    out.bytes_ = bytes_.substr(from, count);
    out.marks_ = marks_.substr(from, count);
    return out;
  }
  // Each byte by itself, so that the marks stay.
  template <typename Change>
  Text changed(const Change& change) const {
    Text out = *this;
    for (char& c : out.bytes_) c = change(c);
    return out;
  }

 private:
  std::string bytes_;
  std::string marks_;  // of each byte 'u', a user's, or 't', the template's
};

struct Value;
struct Arguments;
using List = std::vector<Value>;
using Function = std::function<Value(const Arguments&)>;

// In the order of insertion, as Python's. Templates have small ones: found by looking at each.
struct Dict {
  std::vector<std::pair<Value, Value>> items;
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(const Value& key, Value value);
};

struct Value {
  enum class Kind { kUndefined, kNone, kBool, kInt, kFloat, kText, kList, kDict, kFunction };

  Kind kind = Kind::kUndefined;
  std::int64_t integer = 0;
  double real = 0;
  std::shared_ptr<const Text> text{};
  std::shared_ptr<List> list{};
  std::shared_ptr<Dict> dict{};
  std::shared_ptr<const Function> function{};

  static Value none();
  static Value boolean(bool value);
  static Value number(std::int64_t value);
  static Value number(double value);
  static Value string(Text text);
  static Value string(std::string text) { return string(Text(std::move(text))); }
  static Value array(List values);
  static Value object(Dict values = {});
  static Value callable(Function function);

  bool is(Kind other) const { return kind == other; }
  bool is_number() const { return kind == Kind::kInt || kind == Kind::kFloat || kind == Kind::kBool; }
  double as_double() const { return kind == Kind::kFloat ? real : static_cast<double>(integer); }
};

// What a function was called with.
struct Arguments {
  List values;
  std::vector<std::pair<std::string, Value>> named{};

  // By place or by name; undefined when it was not given.
  Value get(std::size_t place, std::string_view name) const;
  bool has(std::size_t place, std::string_view name) const;
};

// As Python has it.
bool truth(const Value& value);
bool equal(const Value& a, const Value& b);
// Throws when the two are not of a kind.
bool less(const Value& a, const Value& b);
bool contains(const Value& container, const Value& item);
// What is printed.
Text to_text(const Value& value);
// json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=sort); indent < 0: on one line.
Text to_json(const Value& value, int indent, bool sort);
const char* kind_name(const Value& value);

// Characters, not bytes.
std::size_t characters(std::string_view text);
// Where character number `index` begins; the end when there are not so many.
std::size_t byte_of(std::string_view text, std::size_t index);

}  // namespace metactrl::lm::jinja

#endif  // METACTRL_SRC_LM_JINJA_VALUE_H_
