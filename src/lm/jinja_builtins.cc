// Filters and tests: tables of functions by name. They work on marked texts throughout.
#include "lm/jinja_builtins.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "lm/jinja_text.h"
#include "support/str_cat.h"

namespace metactrl::lm::jinja {

namespace {

using internal::str_cat;
using Kind = Value::Kind;

std::int64_t length_of(const Value& value) {
  switch (value.kind) {
    case Kind::kText:
      return static_cast<std::int64_t>(characters(value.text->bytes()));
    case Kind::kList:
      return static_cast<std::int64_t>(value.list->size());
    case Kind::kDict:
      return static_cast<std::int64_t>(value.dict->items.size());
    case Kind::kUndefined:
      return 0;
    default:
      throw Error(str_cat(kind_name(value), " has no length"));
  }
}

Value to_int(const Value& value, const Value& otherwise) {
  const Value fallback = otherwise.is(Kind::kUndefined) ? Value::number(std::int64_t{0}) : otherwise;
  if (value.is(Kind::kFloat)) {
    return std::abs(value.real) < 9e18 ? Value::number(static_cast<std::int64_t>(value.real)) : fallback;
  }
  if (value.is_number()) return Value::number(value.integer);
  if (!value.is(Kind::kText)) return fallback;
  const std::string text = stripped(*value.text, kPythonBlanks, true, true).bytes();
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? Value::number(number) : fallback;
}

Value to_float(const Value& value, const Value& otherwise) {
  if (value.is_number()) return Value::number(value.as_double());
  double number = 0;
  if (value.is(Kind::kText)) {
    const std::string text = stripped(*value.text, kPythonBlanks, true, true).bytes();
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size() && !text.empty()) return Value::number(number);
  }
  return otherwise.is(Kind::kUndefined) ? Value::number(0.0) : otherwise;
}

// "a.b" of a value.
Value by_path(const Value& value, const Value& path) {
  if (path.is(Kind::kInt)) {
    const std::vector<Value> empty;
    const List& list = value.is(Kind::kList) ? *value.list : empty;
    const auto index = path.integer;
    return index >= 0 && static_cast<std::size_t>(index) < list.size() ? list[static_cast<std::size_t>(index)]
                                                                       : Value();
  }
  const std::string& name = text_in(path, "attribute").bytes();
  Value out = value;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    out = attribute_of(out, std::string_view(name).substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Arguments behind(const Arguments& arguments, std::size_t count) {
  Arguments out;
  for (std::size_t i = count; i < arguments.values.size(); ++i) out.values.push_back(arguments.values[i]);
  return out;
}

Value selected(const Value& value, const Arguments& arguments, bool by_attribute, bool keep, Allowance& allowance) {
  List out;
  const std::size_t skipped = by_attribute ? 1 : 0;
  if (!truth(value)) return Value::array({});
  for (const Value& item : items_of(value, allowance)) {
    const Value judged = by_attribute ? by_path(item, arguments.get(0, "")) : item;
    bool good = truth(judged);
    if (arguments.values.size() > skipped) {
      good = apply_test(text_in(arguments.values[skipped], "select").bytes(), judged, behind(arguments, skipped + 1));
    }
    if (good == keep) out.push_back(item);
  }
  return Value::array(std::move(out));
}

Value mapped(const Value& value, const Arguments& arguments, Allowance& allowance) {
  List out;
  const Value attribute = arguments.get(std::numeric_limits<std::size_t>::max(), "attribute");
  const Value otherwise = arguments.get(std::numeric_limits<std::size_t>::max(), "default");
  if (!truth(value)) return Value::array({});
  for (const Value& item : items_of(value, allowance)) {
    if (!attribute.is(Kind::kUndefined)) {
      Value found = by_path(item, attribute);
      out.push_back(found.is(Kind::kUndefined) ? otherwise : found);
    } else {
      out.push_back(apply_filter(text_in(arguments.get(0, ""), "map").bytes(), item, behind(arguments, 1), allowance));
    }
  }
  return Value::array(std::move(out));
}

Value folded(const Value& value) {
  return value.is(Kind::kText) ? Value::string(value.text->changed(lower_letter)) : value;
}

Value sorted(const Value& value, const Arguments& arguments, Allowance& allowance) {
  List list = items_of(value, allowance);
  allowance.spend(list.size() * 20);
  const Value attribute = arguments.get(2, "attribute");
  const bool exact = truth(arguments.get(1, "case_sensitive"));
  const auto key = [&](const Value& item) {
    const Value of = attribute.is(Kind::kUndefined) ? item : by_path(item, attribute);
    return exact ? of : folded(of);
  };
  std::stable_sort(list.begin(), list.end(), [&](const Value& a, const Value& b) { return less(key(a), key(b)); });
  if (truth(arguments.get(0, "reverse"))) std::reverse(list.begin(), list.end());
  return Value::array(std::move(list));
}

Value sorted_items(const Value& value, const Arguments& arguments) {
  Value pairs = pair_list(value);
  const bool exact = truth(arguments.get(0, "case_sensitive"));
  const Value by = arguments.get(1, "by");
  const std::size_t which = by.is(Kind::kText) && by.text->bytes() == "value" ? 1 : 0;
  const auto key = [&](const Value& pair) { return exact ? (*pair.list)[which] : folded((*pair.list)[which]); };
  std::stable_sort(pairs.list->begin(), pairs.list->end(),
                   [&](const Value& a, const Value& b) { return less(key(a), key(b)); });
  if (truth(arguments.get(2, "reverse"))) std::reverse(pairs.list->begin(), pairs.list->end());
  return pairs;
}

Value unique(const Value& value, Allowance& allowance) {
  List out;
  for (const Value& item : items_of(value, allowance)) {
    allowance.spend(1 + out.size());
    if (std::none_of(out.begin(), out.end(), [&](const Value& other) { return equal(folded(other), folded(item)); })) {
      out.push_back(item);
    }
  }
  return Value::array(std::move(out));
}

Value extreme(const Value& value, bool largest, Allowance& allowance) {
  const List list = items_of(value, allowance);
  if (list.empty()) return {};
  const auto order = [](const Value& a, const Value& b) { return less(a, b); };
  return largest ? *std::max_element(list.begin(), list.end(), order)
                 : *std::min_element(list.begin(), list.end(), order);
}

Value reversed(const Value& value, Allowance& allowance) {
  List list = items_of(value, allowance);
  std::reverse(list.begin(), list.end());
  if (!value.is(Kind::kText)) return Value::array(std::move(list));
  return Value::string(joined(list, Text(), allowance));
}

Value json_of(const Value& value, const Arguments& arguments, Allowance& allowance) {
  const Value indent = arguments.get(0, "indent");
  const Value sort = arguments.get(std::numeric_limits<std::size_t>::max(), "sort_keys");
  Text out =
      to_json(value, indent.is(Kind::kInt) ? static_cast<int>(std::clamp<std::int64_t>(indent.integer, 0, 64)) : -1,
              truth(sort));
  allowance.spend_bytes(out.size() * 4);
  return Value::string(std::move(out));
}

Value rounded(const Value& value, const Arguments& arguments) {
  const Value digits = arguments.get(0, "precision");
  const double scale = std::pow(10.0, digits.is(Kind::kInt) ? static_cast<double>(digits.integer) : 0.0);
  return Value::number(std::nearbyint(to_float(value, {}).real * scale) / scale);
}

using Filter = std::function<Value(const Value&, const Arguments&, Allowance&)>;

Value string_of(const Value& value) { return value.is(Kind::kText) ? value : Value::string(to_text(value)); }

// Filters that change a text byte by byte, or cut it.
template <typename Change>
Filter text_filter(const Change& change) {
  return [change](const Value& value, const Arguments& arguments, Allowance& allowance) {
    const Text text = to_text(value);
    allowance.spend_bytes(text.size());
    return Value::string(change(text, arguments));
  };
}

std::map<std::string, Filter, std::less<>> make_filters() {
  std::map<std::string, Filter, std::less<>> out;
  out["upper"] = text_filter([](const Text& text, const Arguments&) { return text.changed(upper_letter); });
  out["lower"] = text_filter([](const Text& text, const Arguments&) { return text.changed(lower_letter); });
  out["capitalize"] = text_filter([](const Text& text, const Arguments&) { return title_of(text, false); });
  out["title"] = text_filter([](const Text& text, const Arguments&) { return title_of(text, true); });
  out["trim"] =
      text_filter([](const Text& text, const Arguments& a) { return stripped(text, blanks_of(a), true, true); });
  out["escape"] = text_filter([](const Text& text, const Arguments&) { return escaped(text); });
  out["string"] = text_filter([](const Text& text, const Arguments&) { return text; });
  out["e"] = out["escape"];
  out["safe"] = out["string"];
  out["length"] = [](const Value& value, const Arguments&, Allowance&) { return Value::number(length_of(value)); };
  out["count"] = out["length"];
  out["default"] = [](const Value& value, const Arguments& a, Allowance&) {
    const bool missing = value.is(Kind::kUndefined) || (truth(a.get(1, "boolean")) && !truth(value));
    return !missing ? value : a.has(0, "default_value") ? a.get(0, "default_value") : Value::string("");
  };
  out["d"] = out["default"];
  out["join"] = [](const Value& value, const Arguments& a, Allowance& allowance) {
    List parts = items_of(value, allowance);
    const Value attribute = a.get(1, "attribute");
    if (!attribute.is(Kind::kUndefined)) {
      for (Value& part : parts) part = by_path(part, attribute);
    }
    return Value::string(joined(parts, to_text(a.get(0, "d")), allowance));
  };
  out["items"] = [](const Value& value, const Arguments&, Allowance&) { return pair_list(value); };
  out["list"] = [](const Value& value, const Arguments&, Allowance& allowance) {
    return Value::array(items_of(value, allowance));
  };
  out["first"] = [](const Value& value, const Arguments&, Allowance& allowance) {
    const List list = items_of(value, allowance);
    return list.empty() ? Value() : list.front();
  };
  out["last"] = [](const Value& value, const Arguments&, Allowance& allowance) {
    const List list = items_of(value, allowance);
    return list.empty() ? Value() : list.back();
  };
  out["replace"] = [](const Value& value, const Arguments& a, Allowance& allowance) {
    const Value count = a.get(2, "count");
    return Value::string(replaced(to_text(value), to_text(a.get(0, "old")), to_text(a.get(1, "new")),
                                  count.is(Kind::kInt) ? count.integer : -1, allowance));
  };
  out["indent"] = [](const Value& value, const Arguments& a, Allowance& allowance) {
    return Value::string(indented(to_text(value), a, allowance));
  };
  out["tojson"] = json_of;
  out["int"] = [](const Value& value, const Arguments& a, Allowance&) { return to_int(value, a.get(0, "default")); };
  out["float"] = [](const Value& value, const Arguments& a, Allowance&) {
    return to_float(value, a.get(0, "default"));
  };
  out["abs"] = [](const Value& value, const Arguments&, Allowance&) {
    if (value.is(Kind::kFloat)) return Value::number(std::abs(value.real));
    const std::int64_t number = integer_in(value, "abs");
    if (number == std::numeric_limits<std::int64_t>::min()) throw Error("a number is too large");
    return Value::number(std::abs(number));
  };
  out["round"] = [](const Value& value, const Arguments& a, Allowance&) { return rounded(value, a); };
  out["sort"] = sorted;
  out["dictsort"] = [](const Value& value, const Arguments& a, Allowance&) { return sorted_items(value, a); };
  out["unique"] = [](const Value& value, const Arguments&, Allowance& allowance) { return unique(value, allowance); };
  out["reverse"] = [](const Value& value, const Arguments&, Allowance& allowance) {
    return reversed(value, allowance);
  };
  out["min"] = [](const Value& value, const Arguments&, Allowance& allowance) {
    return extreme(value, false, allowance);
  };
  out["max"] = [](const Value& value, const Arguments&, Allowance& allowance) {
    return extreme(value, true, allowance);
  };
  out["sum"] = [](const Value& value, const Arguments& a, Allowance& allowance) {
    const Value attribute = a.get(0, "attribute");
    Value total = Value::number(std::int64_t{0});
    for (const Value& item : items_of(value, allowance)) {
      total = arithmetic("+", total, attribute.is(Kind::kUndefined) ? item : by_path(item, attribute), allowance);
    }
    return total;
  };
  out["map"] = mapped;
  for (const bool keep : {true, false}) {
    for (const bool by_attribute : {true, false}) {
      const std::string name = std::string(keep ? "select" : "reject") + (by_attribute ? "attr" : "");
      out[name] = [keep, by_attribute](const Value& value, const Arguments& a, Allowance& allowance) {
        return selected(value, a, by_attribute, keep, allowance);
      };
    }
  }
  return out;
}

}  // namespace

Value pair_list(const Value& value) {
  List pairs;
  if (value.is(Kind::kUndefined)) return Value::array({});
  if (!value.is(Kind::kDict)) throw Error(str_cat(kind_name(value), " has no items"));
  for (const auto& item : value.dict->items) pairs.push_back(Value::array({item.first, item.second}));
  return Value::array(std::move(pairs));
}

List items_of(const Value& value, Allowance& allowance) {
  List out;
  switch (value.kind) {
    case Kind::kUndefined:
      break;
    case Kind::kList:
      allowance.spend(value.list->size());
      return *value.list;
    case Kind::kDict:
      allowance.spend(value.dict->items.size());
      for (const auto& item : value.dict->items) out.push_back(item.first);
      break;
    case Kind::kText: {
      allowance.spend(value.text->size());
      const std::string& bytes = value.text->bytes();
      for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t next = at + std::max<std::size_t>(1, byte_of(std::string_view(bytes).substr(at, 5), 1));
        out.push_back(Value::string(value.text->part(at, next - at)));
        at = next;
      }
      break;
    }
    default:
      throw Error(str_cat("a loop cannot go over ", kind_name(value)));
  }
  return out;
}

Value attribute_of(const Value& value, std::string_view name) {
  if (value.is(Kind::kUndefined)) throw Error(str_cat("something undefined has no '", name, "'"));
  if (!value.is(Kind::kDict)) return {};
  const Value* found = value.dict->find(name);
  return found == nullptr ? Value() : *found;
}

Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments, Allowance& allowance) {
  static const auto kFilters = make_filters();
  const auto found = kFilters.find(name);
  if (found == kFilters.end()) throw Error(str_cat("there is no filter '", name, "'"));
  allowance.spend(1);
  return found->second(value, arguments, allowance);
}

bool apply_test(std::string_view name, const Value& value, const Arguments& arguments) {
  const Value other = arguments.get(0, "other");
  if (name == "defined") return !value.is(Kind::kUndefined);
  if (name == "undefined") return value.is(Kind::kUndefined);
  if (name == "none") return value.is(Kind::kNone);
  if (name == "string") return value.is(Kind::kText);
  if (name == "mapping") return value.is(Kind::kDict);
  if (name == "iterable" || name == "sequence") {
    return value.is(Kind::kText) || value.is(Kind::kList) || value.is(Kind::kDict) || value.is(Kind::kUndefined);
  }
  if (name == "boolean") return value.is(Kind::kBool);
  if (name == "true") return value.is(Kind::kBool) && value.integer != 0;
  if (name == "false") return value.is(Kind::kBool) && value.integer == 0;
  if (name == "number") return value.is_number();
  if (name == "integer") return value.is(Kind::kInt);
  if (name == "float") return value.is(Kind::kFloat);
  if (name == "callable") return value.is(Kind::kFunction);
  if (name == "odd") return integer_in(value, "odd") % 2 != 0;
  if (name == "even") return integer_in(value, "even") % 2 == 0;
  if (name == "divisibleby") {
    const std::int64_t by = integer_in(other, name);
    return by != 0 && integer_in(value, name) % (by < 0 ? 0 - by : by) == 0;
  }
  if (name == "eq" || name == "equalto" || name == "sameas") return equal(value, other);
  if (name == "ne") return !equal(value, other);
  if (name == "lt" || name == "lessthan") return less(value, other);
  if (name == "gt" || name == "greaterthan") return less(other, value);
  if (name == "le") return !less(other, value);
  if (name == "ge") return !less(value, other);
  if (name == "in") return contains(other, value);
  if (name == "lower" || name == "upper") {
    const bool upper = name == "upper";
    return equal(string_of(value), Value::string(to_text(value).changed(upper ? upper_letter : lower_letter)));
  }
  throw Error(str_cat("there is no test '", name, "'"));
}

}  // namespace metactrl::lm::jinja
