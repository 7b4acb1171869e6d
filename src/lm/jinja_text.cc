#include "lm/jinja_text.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "support/str_cat.h"

namespace metactrl::lm::jinja {

namespace {

using internal::str_cat;
using Kind = Value::Kind;

}  // namespace

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

namespace {

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

}  // namespace

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

}  // namespace metactrl::lm::jinja
