// Filters, tests and methods of chat templates.
#ifndef METACTRL_SRC_LM_JINJA_BUILTINS_H_
#define METACTRL_SRC_LM_JINJA_BUILTINS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lm/jinja_value.h"

namespace metactrl::lm::jinja {

// What a template may still do. Throws Error when it was enough.
class Allowance {
 public:
  void spend(std::size_t work) {
    if (work > left_) throw Error("it takes too much time or memory");
    left_ -= work;
  }
  // For a text of so many bytes.
  void spend_bytes(std::size_t bytes) { spend(1 + bytes / 16); }

 private:
  std::size_t left_ = 8'000'000;
};

// All of them throw Error for what there is not.
Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments, Allowance& allowance);
bool apply_test(std::string_view name, const Value& value, const Arguments& arguments);
// value.name as a method; none when the value has no such method.
std::optional<Value> method_of(const Value& value, std::string_view name, Allowance& allowance);
// Keys and values of a mapping, a list of two each.
Value pair_list(const Value& value);
// Items of a list, keys of a mapping, characters of a string. Undefined has none.
List items_of(const Value& value, Allowance& allowance);
// The value's attribute or item of this name; undefined when it has none.
Value attribute_of(const Value& value, std::string_view name);
// Before `item` is put into `container`: nothing may hold itself, not even by way of a function, since such values would
// never be freed.
void check_can_hold(const Value& container, const Value& item, Allowance& allowance);
// left `op` right, for + - * / // % ** ~
Value arithmetic(std::string_view op, const Value& left, const Value& right, Allowance& allowance);

}  // namespace metactrl::lm::jinja

#endif  // METACTRL_SRC_LM_JINJA_BUILTINS_H_
