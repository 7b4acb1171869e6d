// Tables of functions by name. They work on marked texts throughout, so that what a user said stays known as such.
#include "lm/jinja_builtins.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "support/str_cat.h"

namespace metactrl::lm::jinja {

namespace {

using internal::str_cat;
using Kind = Value::Kind;

constexpr std::string_view kPythonBlanks = " \t\n\v\f\r";

const Text& text_in(const Value& value, std::string_view what) {
  if (!value.is(Kind::kText)) throw Error(str_cat(what, " wants a string and got ", kind_name(value)));
  return *value.text;
}

std::int64_t integer_in(const Value& value, std::string_view what) {
  if (!value.is(Kind::kInt) && !value.is(Kind::kBool)) {
    throw Error(str_cat(what, " wants a whole number and got ", kind_name(value)));
  }
  return value.integer;
}

char upper_letter(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

Text title_of(const Text& text, bool every_word) {
  bool begins = true;
  return text.changed([&](char c) {
    const char out = begins ? upper_letter(c) : lower_letter(c);
    begins = every_word && std::isalnum(static_cast<unsigned char>(c)) == 0 && static_cast<unsigned char>(c) < 0x80;
    return out;
  });
}

Text stripped(const Text& text, std::string_view blanks, bool left, bool right) {
  const std::string& bytes = text.bytes();
  std::size_t begin = left ? std::min(bytes.find_first_not_of(blanks), bytes.size()) : 0;
  std::size_t end = bytes.size();
  if (right) {
    const std::size_t last = bytes.find_last_not_of(blanks);
    end = last == std::string::npos ? 0 : last + 1;
  }
  begin = std::min(begin, end);
  return text.part(begin, end - begin);
}

std::string blanks_of(const Arguments& arguments) {
  const Value chars = arguments.get(0, "chars");
  return chars.is(Kind::kText) ? chars.text->bytes() : std::string(kPythonBlanks);
}

Text joined(const List& parts, const Text& separator, Allowance& allowance) {
  Text out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.append(separator);
    const Text part = to_text(parts[i]);
    allowance.spend_bytes(part.size() + separator.size());
    out.append(part);
  }
  return out;
}

Text replaced(const Text& text, const Text& from, const Text& to, std::int64_t count, Allowance& allowance) {
  Text out;
  std::size_t at = 0;
  while (count != 0 && at <= text.size()) {
    const std::size_t found = text.bytes().find(from.bytes(), at);
    if (found == std::string::npos || (from.empty() && found == text.size())) break;
    allowance.spend_bytes(found - at + to.size());
    out.append(text.part(at, found - at));
    out.append(to);
    if (from.empty()) out.append(text.part(found, 1));
    at = found + std::max<std::size_t>(from.size(), 1);
    --count;
  }
  if (at < text.size()) out.append(text.part(at));
  allowance.spend_bytes(text.size());
  return out;
}

List split_at_blanks(const Text& text, std::int64_t limit) {
  List parts;
  const std::string& bytes = text.bytes();
  std::size_t at = std::min(bytes.find_first_not_of(kPythonBlanks), bytes.size());
  while (at < bytes.size()) {
    const bool last = limit >= 0 && static_cast<std::int64_t>(parts.size()) >= limit;
    const std::size_t end = last ? bytes.size() : std::min(bytes.find_first_of(kPythonBlanks, at), bytes.size());
    parts.push_back(
        Value::string(last ? stripped(text.part(at), kPythonBlanks, false, true) : text.part(at, end - at)));
    at = std::min(bytes.find_first_not_of(kPythonBlanks, end), bytes.size());
  }
  return parts;
}

List split(const Text& text, const Arguments& arguments, bool from_right) {
  const Value separator = arguments.get(0, "sep");
  const Value most = arguments.get(1, "maxsplit");
  const std::int64_t limit = most.is(Kind::kInt) ? most.integer : -1;
  if (!separator.is(Kind::kText)) return split_at_blanks(text, limit);
  const std::string& by = separator.text->bytes();
  if (by.empty()) throw Error("split() wants a separator that is not empty");
  std::vector<std::size_t> places;
  if (from_right) {
    std::size_t end = text.size();
    while (end >= by.size() && (limit < 0 || static_cast<std::int64_t>(places.size()) < limit)) {
      const std::size_t found = text.bytes().rfind(by, end - by.size());
      if (found == std::string::npos) break;
      places.insert(places.begin(), found);
      end = found;
    }
  } else {
    for (std::size_t found = text.bytes().find(by);
         found != std::string::npos && (limit < 0 || static_cast<std::int64_t>(places.size()) < limit);
         found = text.bytes().find(by, found + by.size())) {
      places.push_back(found);
    }
  }
  List parts;
  std::size_t at = 0;
  for (const std::size_t place : places) {
    parts.push_back(Value::string(text.part(at, place - at)));
    at = place + by.size();
  }
  parts.push_back(Value::string(text.part(at)));
  return parts;
}

List lines_of(const Text& text) {
  List lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.bytes().find('\n', at), text.size());
    lines.push_back(Value::string(text.part(at, end - at)));
    at = end + 1;
  }
  return lines;
}

bool has_affix(const Text& text, const Value& affix, bool at_start) {
  const auto matches = [&](const Value& one) {
    const std::string& bytes = text_in(one, at_start ? "startswith()" : "endswith()").bytes();
    return at_start ? text.bytes().starts_with(bytes) : text.bytes().ends_with(bytes);
  };
  if (affix.is(Kind::kList)) return std::any_of(affix.list->begin(), affix.list->end(), matches);
  return matches(affix);
}

// "{} {0} {name}"; no formats behind a colon.
Text formatted(const Text& text, const Arguments& arguments) {
  Text out;
  const std::string& bytes = text.bytes();
  std::size_t next = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if ((c == '{' || c == '}') && i + 1 < bytes.size() && bytes[i + 1] == c) {
      out.append(text.part(i++, 1));
      continue;
    }
    if (c != '{') {
      out.append(text.part(i, 1));
      continue;
    }
    const std::size_t end = bytes.find('}', i);
    if (end == std::string::npos) throw Error("format() has a bracket without an end");
    const std::string field = bytes.substr(i + 1, end - i - 1);
    if (field.find_first_of(":!.[") != std::string::npos)
      throw Error("format() with '" + field + "' is not understood");
    const bool numbered =
        !field.empty() && field.find_first_not_of("0123456789") == std::string::npos && field.size() < 6;
    const std::size_t place = field.empty() ? next++ : numbered ? std::stoul(field) : arguments.values.size();
    const std::string_view name = field.empty() || numbered ? std::string_view() : std::string_view(field);
    if (!arguments.has(place, name)) throw Error("format() was given nothing for '" + field + "'");
    out.append(to_text(arguments.get(place, name)));
    i = end;
  }
  return out;
}

// "%s", "%d" and "%%".
Text percent(const Text& text, const Value& value) {
  const List values = value.is(Kind::kList) ? *value.list : List{value};
  Text out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.bytes()[i] != '%') {
      out.append(text.part(i, 1));
      continue;
    }
    const char kind = ++i < text.size() ? text.bytes()[i] : '\0';
    if (kind == '%') {
      out.append(Text("%"));
    } else if ((kind == 's' || kind == 'd') && next < values.size()) {
      out.append(to_text(values[next++]));
    } else {
      throw Error("this use of % is not understood");
    }
  }
  return out;
}

Text indented(const Text& text, const Arguments& arguments, Allowance& allowance) {
  const Value width = arguments.get(0, "width");
  Text blanks(std::string(4, ' '));
  if (width.is(Kind::kText)) blanks = *width.text;
  if (width.is(Kind::kInt)) {
    const std::int64_t count = std::clamp<std::int64_t>(width.integer, 0, 1000);
    blanks = Text(std::string(static_cast<std::size_t>(count), ' '));
  }
  const bool first = truth(arguments.get(1, "first"));
  const bool blank = truth(arguments.get(2, "blank"));
  Text out;
  std::size_t at = 0;
  for (bool begins = true; at <= text.size(); begins = false) {
    const std::size_t end = std::min(text.bytes().find('\n', at), text.size());
    allowance.spend_bytes(end - at + blanks.size());
    if (begins ? first : (blank || end > at)) out.append(blanks);
    out.append(text.part(at, std::min(end + 1, text.size()) - at));
    if (end == text.size()) break;
    at = end + 1;
  }
  return out;
}

Text escaped(const Text& text) {
  Text out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text.bytes()[i];
    const char* name = c == '&'    ? "&amp;"
                       : c == '<'  ? "&lt;"
                       : c == '>'  ? "&gt;"
                       : c == '"'  ? "&#34;"
                       : c == '\'' ? "&#39;"
                                   : nullptr;
    out.append(name == nullptr ? text.part(i, 1) : Text(name));
  }
  return out;
}

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

Value pair_list(const Value& value) {
  List pairs;
  if (value.is(Kind::kUndefined)) return Value::array({});
  if (!value.is(Kind::kDict)) throw Error(str_cat(kind_name(value), " has no items"));
  for (const auto& item : value.dict->items) pairs.push_back(Value::array({item.first, item.second}));
  return Value::array(std::move(pairs));
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
      v.dict->set(item.first, item.second);
    }
    return Value::none();
  };
  return out;
}

Methods make_list_methods() {
  Methods out;
  out["append"] = [](const Value& v, const Arguments& a, Allowance&) {
    v.list->push_back(a.get(0, "object"));
    return Value::none();
  };
  out["extend"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    for (const Value& item : items_of(a.get(0, "iterable"), allowance)) v.list->push_back(item);
    return Value::none();
  };
  out["insert"] = [](const Value& v, const Arguments& a, Allowance& allowance) {
    allowance.spend(v.list->size());
    const auto size = static_cast<std::int64_t>(v.list->size());
    std::int64_t index = integer_in(a.get(0, "index"), "insert()");
    index = std::clamp<std::int64_t>(index < 0 ? std::max<std::int64_t>(index, -size) + size : index, 0, size);
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
  if (name == "divisibleby")
    return truth(Value::boolean(whole_arithmetic("%", integer_in(value, name), integer_in(other, name)).integer == 0));
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
