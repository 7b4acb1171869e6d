// Methods of strings, mappings and lists, as tables by name; and what operators do.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "lm/jinja_builtins.h"
#include "lm/jinja_text.h"
#include "support/str_cat.h"

namespace metactrl::lm::jinja {

namespace {

using internal::str_cat;
using Kind = Value::Kind;

using Method = std::function<Value(const Value&, const Arguments&, Allowance&)>;
using Methods = std::map<std::string, Method, std::less<>>;

Methods make_text_methods() {
  Methods out;
  // Those that filters do, too.
  for (const char* name : {"upper", "lower", "capitalize", "title", "replace"}) {
    out[name] = [name](const Value& value, const Arguments& a, Allowance& allowance) {
      return apply_filter(name, value, a, allowance);
    };
  }
  const auto strip = [](bool left, bool right) {
    return [left, right](const Value& value, const Arguments& a, Allowance&) {
      return Value::string(stripped(*value.text, blanks_of(a), left, right));
    };
  };
  out["strip"] = strip(true, true);
  out["lstrip"] = strip(true, false);
  out["rstrip"] = strip(false, true);
  out["split"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    allowance.spend_bytes(v.text->size() * 16);
    return Value::array(split(*v.text, a, false));
  };
  out["rsplit"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    allowance.spend_bytes(v.text->size() * 16);
    return Value::array(split(*v.text, a, true));
  };
  out["splitlines"] = [](const Value& v, const Arguments&, Allowance&) { return Value::array(lines_of(*v.text)); };
  out["startswith"] = [](const Value& v, const Arguments& a, Allowance&) {
    return Value::boolean(has_affix(*v.text, a.get(0, "prefix"), true));
  };
  out["endswith"] = [](const Value& v, const Arguments& a, Allowance&) {
    return Value::boolean(has_affix(*v.text, a.get(0, "suffix"), false));
  };
  out["removeprefix"] = [](const Value& v, const Arguments& a, Allowance&) {
    const Value affix = a.get(0, "prefix");
    return has_affix(*v.text, affix, true) ? Value::string(v.text->part(affix.text->size())) : v;
  };
  out["removesuffix"] = [](const Value& v, const Arguments& a, Allowance&) {
    const Value affix = a.get(0, "suffix");
    return has_affix(*v.text, affix, false) ? Value::string(v.text->part(0, v.text->size() - affix.text->size())) : v;
  };
  out["join"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    return Value::string(joined(items_of(a.get(0, "iterable"), allowance), *v.text, allowance));
  };
  out["format"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    Text text = formatted(*v.text, a);
    allowance.spend_bytes(text.size());
    return Value::string(std::move(text));
  };
  const auto find = [](bool last) {
    return [last](const Value& v, const Arguments& a, Allowance&) {
      const std::string& what = text_in(a.get(0, "sub"), "find()").bytes();
      const std::size_t found = last ? v.text->bytes().rfind(what) : v.text->bytes().find(what);
      if (found == std::string::npos) return Value::number(std::int64_t{-1});
      return Value::number(static_cast<std::int64_t>(characters(std::string_view(v.text->bytes()).substr(0, found))));
    };
  };
  out["find"] = find(false);
  out["rfind"] = find(true);
  out["count"] = [](const Value& v, const Arguments& a, Allowance&) {
    Arguments by;
    by.values = {a.get(0, "sub")};
    text_in(by.values.front(), "count()");
    return Value::number(static_cast<std::int64_t>(split(*v.text, by, false).size()) - 1);
  };
  const auto all = [](int (*is)(int)) {
    return [is](const Value& v, const Arguments&, Allowance&) {
      const std::string& bytes = v.text->bytes();
      return Value::boolean(!bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [is](char c) {
        return is(static_cast<unsigned char>(c)) != 0;
      }));
    };
  };
  out["isdigit"] = all(std::isdigit);
  out["isalpha"] = all(std::isalpha);
  out["isalnum"] = all(std::isalnum);
  out["isspace"] = all(std::isspace);
  return out;
}

Value taken_from(const Value& value, const Arguments& arguments) {
  const Value key = arguments.get(0, "key");
  if (value.is(Kind::kDict)) {
    auto& items = value.dict->items;
    const auto found =
        std::find_if(items.begin(), items.end(), [&](const auto& item) { return equal(item.first, key); });
    if (found == items.end()) {
      if (arguments.has(1, "default")) return arguments.get(1, "default");
      throw Error("pop() finds no such key");
    }
    Value out = found->second;
    items.erase(found);
    return out;
  }
  List& list = *value.list;
  std::int64_t index = key.is(Kind::kUndefined) ? -1 : integer_in(key, "pop()");
  if (index < 0) index += static_cast<std::int64_t>(list.size());
  if (index < 0 || static_cast<std::size_t>(index) >= list.size()) throw Error("pop() finds nothing there");
  Value out = list[static_cast<std::size_t>(index)];
  list.erase(list.begin() + index);
  return out;
}

Methods make_dict_methods() {
  Methods out;
  out["get"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    allowance.spend(v.dict->items.size());
    const Value* found = v.dict->find(a.get(0, "key"));
    return found != nullptr ? *found : a.has(1, "default") ? a.get(1, "default") : Value::none();
  };
  out["items"] = [](const Value& v, const Arguments&, Allowance&) { return pair_list(v); };
  out["keys"] = [](const Value& v, const Arguments&, Allowance& allowance) {
    return Value::array(items_of(v, allowance));
  };
  out["values"] = [](const Value& v, const Arguments&, Allowance&) {
    List values;
    for (const auto& item : v.dict->items) values.push_back(item.second);
    return Value::array(std::move(values));
  };
  out["pop"] = [](const Value& v, const Arguments& a, Allowance&) { return taken_from(v, a); };
  out["copy"] = [](const Value& v, const Arguments&, Allowance& allowance) {
    allowance.spend(v.dict->items.size());
    return Value::object(*v.dict);
  };
  out["update"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    const Value other = a.get(0, "other");
    if (!other.is(Kind::kDict)) throw Error("update() wants a mapping");
    const Dict more = *other.dict;
    for (const auto& item : more.items) {
      allowance.spend(1 + v.dict->items.size());
      check_can_hold(v, item.second, allowance);
      v.dict->set(item.first, item.second);
    }
    return Value::none();
  };
  return out;
}

Methods make_list_methods() {
  Methods out;
  out["append"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    check_can_hold(v, a.get(0, "object"), allowance);
    v.list->push_back(a.get(0, "object"));
    return Value::none();
  };
  out["extend"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    for (const Value& item : items_of(a.get(0, "iterable"), allowance)) {
      check_can_hold(v, item, allowance);
      v.list->push_back(item);
    }
    return Value::none();
  };
  out["insert"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    allowance.spend(v.list->size());
    const auto size = static_cast<std::int64_t>(v.list->size());
    std::int64_t index = integer_in(a.get(0, "index"), "insert()");
    index = std::clamp<std::int64_t>(index < 0 ? std::max<std::int64_t>(index, -size) + size : index, 0, size);
    check_can_hold(v, a.get(1, "object"), allowance);
    v.list->insert(v.list->begin() + index, a.get(1, "object"));
    return Value::none();
  };
  out["pop"] = [](const Value& v, const Arguments& a, Allowance&) { return taken_from(v, a); };
  out["index"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    allowance.spend(v.list->size());
    const Value what = a.get(0, "value");
    const auto found = std::find_if(v.list->begin(), v.list->end(), [&](const Value& x) { return equal(x, what); });
    if (found == v.list->end()) throw Error("index() does not find it");
    return Value::number(static_cast<std::int64_t>(found - v.list->begin()));
  };
  return out;
}

Value repeated(const Value& value, std::int64_t count, Allowance& allowance) {
  const auto times = static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, 1'000'000'000));
  if (value.is(Kind::kText)) {
    allowance.spend_bytes(value.text->size() * times);
    Text out;
    for (std::size_t i = 0; i < times && !value.text->empty(); ++i) out.append(*value.text);
    return Value::string(std::move(out));
  }
  allowance.spend(value.list->size() * times);
  List out;
  for (std::size_t i = 0; i < times && !value.list->empty(); ++i)
    out.insert(out.end(), value.list->begin(), value.list->end());
  return Value::array(std::move(out));
}

Value whole_arithmetic(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  bool overflow = false;
  if (op == "+") {
    overflow = __builtin_add_overflow(a, b, &out);
  } else if (op == "-") {
    overflow = __builtin_sub_overflow(a, b, &out);
  } else if (op == "*") {
    overflow = __builtin_mul_overflow(a, b, &out);
  } else if (op == "**") {
    out = 1;
    if (b < 0 || b > 64) return Value::number(std::pow(static_cast<double>(a), static_cast<double>(b)));
    for (std::int64_t i = 0; i < b && !overflow; ++i) overflow = __builtin_mul_overflow(out, a, &out);
  } else {
    if (b == 0) throw Error("division by zero");
    if (b == -1) return whole_arithmetic("-", 0, op == "%" ? 0 : a);
    // Python rounds down.
    const std::int64_t rest = a % b;
    const bool adjust = rest != 0 && (rest < 0) != (b < 0);
    out = op == "%" ? rest + (adjust ? b : 0) : a / b - (adjust ? 1 : 0);
  }
  if (overflow) throw Error("a number is too large");
  return Value::number(out);
}

Value real_arithmetic(std::string_view op, double a, double b) {
  if (op == "+") return Value::number(a + b);
  if (op == "-") return Value::number(a - b);
  if (op == "*") return Value::number(a * b);
  if (op == "**") return Value::number(std::pow(a, b));
  if (b == 0) throw Error("division by zero");
  if (op == "/") return Value::number(a / b);
  if (op == "//") return Value::number(std::floor(a / b));
  return Value::number(a - b * std::floor(a / b));
}

}  // namespace

void check_can_hold(const Value& container, const Value& item, Allowance& allowance) {
  constexpr std::size_t kDeepest = 100;
  struct Place {
    const Value* value;
    std::size_t depth;
  };
  std::vector<Place> open = {{&item, 0}};
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    allowance.spend(1);
    const Value& value = *place.value;
    const bool itself = (value.is(Kind::kList) && value.list == container.list) ||
                        (value.is(Kind::kDict) && value.dict == container.dict);
    if (itself || value.is(Kind::kFunction) || place.depth > kDeepest) throw Error("a value would hold itself");
    if (value.is(Kind::kList)) {
      for (const Value& inner : *value.list) open.push_back({&inner, place.depth + 1});
    } else if (value.is(Kind::kDict)) {
      for (const auto& inner : value.dict->items) open.push_back({&inner.second, place.depth + 1});
    }
  }
}

Value arithmetic(std::string_view op, const Value& left, const Value& right, Allowance& allowance) {
  if (op == "~") {
    Text out = to_text(left);
    out.append(to_text(right));
    allowance.spend_bytes(out.size());
    return Value::string(std::move(out));
  }
  if (left.is_number() && right.is_number()) {
    const bool real = left.is(Kind::kFloat) || right.is(Kind::kFloat) || op == "/";
    return real ? real_arithmetic(op, left.as_double(), right.as_double())
                : whole_arithmetic(op, left.integer, right.integer);
  }
  if (op == "+" && left.is(Kind::kText) && right.is(Kind::kText)) return arithmetic("~", left, right, allowance);
  if (op == "+" && left.is(Kind::kList) && right.is(Kind::kList)) {
    allowance.spend(left.list->size() + right.list->size());
    List out = *left.list;
    out.insert(out.end(), right.list->begin(), right.list->end());
    return Value::array(std::move(out));
  }
  if (op == "*" && (left.is(Kind::kText) || left.is(Kind::kList)) && right.is(Kind::kInt)) {
    return repeated(left, right.integer, allowance);
  }
  if (op == "*" && left.is(Kind::kInt) && (right.is(Kind::kText) || right.is(Kind::kList))) {
    return repeated(right, left.integer, allowance);
  }
  if (op == "%" && left.is(Kind::kText)) return Value::string(percent(*left.text, right));
  throw Error(str_cat("'", op, "' cannot be used on ", kind_name(left), " and ", kind_name(right)));
}

std::optional<Value> method_of(const Value& value, std::string_view name, Allowance& allowance) {
  static const Methods kText = make_text_methods();
  static const Methods kDict = make_dict_methods();
  static const Methods kList = make_list_methods();
  if (!value.is(Kind::kText) && !value.is(Kind::kDict) && !value.is(Kind::kList)) return std::nullopt;
  const Methods& methods = value.is(Kind::kText) ? kText : value.is(Kind::kDict) ? kDict : kList;
  const auto found = methods.find(name);
  if (found == methods.end()) return std::nullopt;
  return Value::callable([method = &found->second, value, &allowance](const Arguments& arguments) {
    allowance.spend(1);
    return (*method)(value, arguments, allowance);
  });
}

}  // namespace metactrl::lm::jinja
