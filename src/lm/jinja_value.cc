// Values of chat templates as Python compares and writes them.
#include "lm/jinja_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "support/str_cat.h"
#include "support/utf8.h"

namespace metactrl::lm::jinja {

namespace {

using internal::str_cat;

// Lists may hold themselves.
constexpr int kDeepestValue = 100;

void check_depth(int depth) {
  if (depth > kDeepestValue) throw Error("a value is nested too deeply");
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Quotes as repr() does.
Text quoted_text(const Text& text) {
  const std::string& bytes = text.bytes();
  const bool has_single = bytes.find('\'') != std::string::npos;
  const std::string quote = has_single && bytes.find('"') == std::string::npos ? "\"" : "'";
  Text out(quote);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\\' || c == quote.front()) {
      out.append(Text(std::string("\\") + c));
    } else if (c == '\n' || c == '\t' || c == '\r') {
      out.append(Text(c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r"));
    } else {
      out.append(text.part(i, 1));
    }
  }
  out.append(Text(quote));
  return out;
}

Text repr(const Value& value, int depth);

Text repr_items(const Value& value, int depth) {
  check_depth(depth);
  const bool is_list = value.is(Value::Kind::kList);
  Text out(is_list ? "[" : "{");
  bool first = true;
  const auto separate = [&] {
    if (!first) out.append(Text(", "));
    first = false;
  };
  if (is_list) {
    for (const Value& item : *value.list) {
      separate();
      out.append(repr(item, depth + 1));
    }
  } else {
    for (const auto& item : value.dict->items) {
      separate();
      out.append(repr(item.first, depth + 1));
      out.append(Text(": "));
      out.append(repr(item.second, depth + 1));
    }
  }
  out.append(Text(is_list ? "]" : "}"));
  return out;
}

Text repr(const Value& value, int depth) {
  switch (value.kind) {
    case Value::Kind::kText:
      return quoted_text(*value.text);
    case Value::Kind::kList:
    case Value::Kind::kDict:
      return repr_items(value, depth);
    default:
      return to_text(value);
  }
}

Text json_string(const Text& text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  Text out("\"");
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text.bytes()[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append(Text(std::string("\\") + c));
    } else if (c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f') {
      constexpr std::string_view kLetters = "btn?fr";
      out.append(Text(std::string("\\") + kLetters[static_cast<std::size_t>(c - '\b')]));
    } else if (byte < 0x20) {
      out.append(Text(std::string("\\u00") + kHex[byte >> 4U] + kHex[byte & 15U]));
    } else {
      out.append(text.part(i, 1));
    }
  }
  out.append(Text("\""));
  return out;
}

class JsonWriter {
 public:
  JsonWriter(int indent, bool sort) : indent_(indent), sort_(sort) {}

  Text write(const Value& value, int depth) const {
    check_depth(depth);
    switch (value.kind) {
      case Value::Kind::kUndefined:
        throw Error("an undefined value cannot be written as JSON");
      case Value::Kind::kFunction:
        throw Error("a function cannot be written as JSON");
      case Value::Kind::kNone:
        return Text("null");
      case Value::Kind::kBool:
        return Text(value.integer != 0 ? "true" : "false");
      case Value::Kind::kInt:
        return Text(std::to_string(value.integer));
      case Value::Kind::kFloat:
        return Text(float_text(value.real));
      case Value::Kind::kText:
        return json_string(*value.text);
      case Value::Kind::kList:
      case Value::Kind::kDict:
        break;
    }
    return value.is(Value::Kind::kList) ? list(value, depth) : dict(value, depth);
  }

 private:
  Text list(const Value& value, int depth) const {
    if (value.list->empty()) return Text("[]");
    Text out("[");
    for (std::size_t i = 0; i < value.list->size(); ++i) {
      separate(out, i, depth);
      out.append(write((*value.list)[i], depth + 1));
    }
    end_line(out, depth);
    out.append(Text("]"));
    return out;
  }

  Text dict(const Value& value, int depth) const {
    if (value.dict->items.empty()) return Text("{}");
    std::vector<std::pair<Value, Value>> items = value.dict->items;
    if (sort_) {
      std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return less(a.first, b.first); });
    }
    Text out("{");
    for (std::size_t i = 0; i < items.size(); ++i) {
      separate(out, i, depth);
      out.append(json_string(to_text(items[i].first)));
      out.append(Text(": "));
      out.append(write(items[i].second, depth + 1));
    }
    end_line(out, depth);
    out.append(Text("}"));
    return out;
  }

  void separate(Text& out, std::size_t index, int depth) const {
    if (index > 0) out.append(Text(indent_ < 0 ? ", " : ","));
    end_line(out, depth + 1);
  }

  void end_line(Text& out, int depth) const {
    if (indent_ >= 0) out.append(Text("\n" + std::string(static_cast<std::size_t>(indent_ * depth), ' ')));
  }

  int indent_;
  bool sort_;
};

}  // namespace

const Value* Dict::find(const Value& key) const {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) { return equal(item.first, key); });
  return found == items.end() ? nullptr : &found->second;
}

const Value* Dict::find(std::string_view key) const {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) {
    return item.first.is(Value::Kind::kText) && item.first.text->bytes() == key;
  });
  return found == items.end() ? nullptr : &found->second;
}

void Dict::set(const Value& key, Value value) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) { return equal(item.first, key); });
  if (found != items.end()) {
    found->second = std::move(value);
  } else {
    items.emplace_back(key, std::move(value));
  }
}

Value Value::none() {
  Value out;
  out.kind = Kind::kNone;
  return out;
}
Value Value::boolean(bool value) {
  Value out;
  out.kind = Kind::kBool;
  out.integer = value ? 1 : 0;
  return out;
}
Value Value::number(std::int64_t value) {
  Value out;
  out.kind = Kind::kInt;
  out.integer = value;
  return out;
}
Value Value::number(double value) {
  Value out;
  out.kind = Kind::kFloat;
  out.real = value;
  return out;
}
Value Value::string(Text text) {
  Value out;
  out.kind = Kind::kText;
  out.text = std::make_shared<const Text>(std::move(text));
  return out;
}
Value Value::array(List values) {
  Value out;
  out.kind = Kind::kList;
  out.list = std::make_shared<List>(std::move(values));
  return out;
}
Value Value::object(Dict values) {
  Value out;
  out.kind = Kind::kDict;
  out.dict = std::make_shared<Dict>(std::move(values));
  return out;
}
Value Value::callable(Function function) {
  Value out;
  out.kind = Kind::kFunction;
  out.function = std::make_shared<const Function>(std::move(function));
  return out;
}

bool Arguments::has(std::size_t place, std::string_view name) const {
  return place < values.size() ||
         std::any_of(named.begin(), named.end(), [&](const auto& item) { return item.first == name; });
}

Value Arguments::get(std::size_t place, std::string_view name) const {
  if (place < values.size()) return values[place];
  const auto found = std::find_if(named.begin(), named.end(), [&](const auto& item) { return item.first == name; });
  return found == named.end() ? Value() : found->second;
}

const char* kind_name(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kUndefined:
      return "undefined";
    case Value::Kind::kNone:
      return "none";
    case Value::Kind::kBool:
      return "a boolean";
    case Value::Kind::kInt:
    case Value::Kind::kFloat:
      return "a number";
    case Value::Kind::kText:
      return "a string";
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kDict:
      return "a mapping";
    case Value::Kind::kFunction:
      break;
  }
  return "a function";
}

bool truth(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kUndefined:
    case Value::Kind::kNone:
      return false;
    case Value::Kind::kBool:
    case Value::Kind::kInt:
      return value.integer != 0;
    case Value::Kind::kFloat:
      return value.real != 0;
    case Value::Kind::kText:
      return !value.text->empty();
    case Value::Kind::kList:
      return !value.list->empty();
    case Value::Kind::kDict:
      return !value.dict->items.empty();
    case Value::Kind::kFunction:
      break;
  }
  return true;
}

namespace {

bool equal_at(const Value& a, const Value& b, int depth) {
  check_depth(depth);
  if (a.is_number() && b.is_number()) {
    const bool real = a.is(Value::Kind::kFloat) || b.is(Value::Kind::kFloat);
    return real ? a.as_double() == b.as_double() : a.integer == b.integer;
  }
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Value::Kind::kText:
      return a.text->bytes() == b.text->bytes();
    case Value::Kind::kList:
      return a.list == b.list ||
             std::equal(a.list->begin(), a.list->end(), b.list->begin(), b.list->end(),
                        [depth](const Value& x, const Value& y) { return equal_at(x, y, depth + 1); });
    case Value::Kind::kDict:
      return a.dict == b.dict || (a.dict->items.size() == b.dict->items.size() &&
                                  std::all_of(a.dict->items.begin(), a.dict->items.end(), [&](const auto& item) {
                                    const Value* other = b.dict->find(item.first);
                                    return other != nullptr && equal_at(item.second, *other, depth + 1);
                                  }));
    case Value::Kind::kFunction:
      return a.function == b.function;
    default:
      return true;
  }
}

}  // namespace

bool equal(const Value& a, const Value& b) { return equal_at(a, b, 0); }

bool less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.as_double() < b.as_double();
  if (a.is(Value::Kind::kText) && b.is(Value::Kind::kText)) return a.text->bytes() < b.text->bytes();
  throw Error(str_cat(kind_name(a), " and ", kind_name(b), " cannot be compared"));
}

bool contains(const Value& container, const Value& item) {
  switch (container.kind) {
    case Value::Kind::kUndefined:
      return false;
    case Value::Kind::kText:
      if (!item.is(Value::Kind::kText)) throw Error("only a string can be in a string");
      return container.text->bytes().find(item.text->bytes()) != std::string::npos;
    case Value::Kind::kList:
      return std::any_of(container.list->begin(), container.list->end(),
                         [&](const Value& other) { return equal(other, item); });
    case Value::Kind::kDict:
      return container.dict->find(item) != nullptr;
    default:
      throw Error(str_cat("nothing can be in ", kind_name(container)));
  }
}

Text to_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kUndefined:
      return {};
    case Value::Kind::kNone:
      return Text("None");
    case Value::Kind::kBool:
      return Text(value.integer != 0 ? "True" : "False");
    case Value::Kind::kInt:
      return Text(std::to_string(value.integer));
    case Value::Kind::kFloat:
      return Text(float_text(value.real));
    case Value::Kind::kText:
      return *value.text;
    case Value::Kind::kList:
    case Value::Kind::kDict:
      return repr_items(value, 0);
    case Value::Kind::kFunction:
      break;
  }
  throw Error("a function cannot be printed");
}

Text to_json(const Value& value, int indent, bool sort) { return JsonWriter(indent, sort).write(value, 0); }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !internal::is_continuation(c); }));
}

std::size_t byte_of(std::string_view text, std::size_t index) {
  std::size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    if (internal::is_continuation(text[byte])) continue;
    if (index-- == 0) return byte;
  }
  return byte;
}

}  // namespace metactrl::lm::jinja
