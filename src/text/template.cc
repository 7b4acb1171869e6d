// Splitting templates, and the checks of a format that need no task: every placeholder exists, every part that must be
// there is, and a reader that stands behind an item can tell the separators and the closing apart.
#include "text/template.h"

#include <map>
#include <utility>

#include "support/lower_case.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "text/quote.h"

namespace metactrl::text {

using internal::str_cat;

namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

using internal::is_digit;

// The length of the word in "{word}" at `begin`; 0 when there is none.
std::size_t placeholder_length(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && is_word_character(text[end])) ++end;
  return end < text.size() && text[end] == '}' ? end - begin - 1 : 0;
}

class Checker {
 public:
  explicit Checker(const PlanFormat& format) : format_(format) {}

  std::vector<FormatProblem> run() {
    check_joints();
    check_items();
    check_placeholders("prefix", format_.prefix, {"index"});
    check_argument();
    check_names("action", format_.action_names);
    check_names("object", format_.object_names);
    return std::move(problems_);
  }

 private:
  void add(std::string key, std::size_t offset, std::string message, std::string hint) {
    problems_.push_back({std::move(key), offset, std::move(message), std::move(hint)});
  }

  // What stands behind an item: separators and closing. None may be the beginning of another. Only the closing may be
  // empty: then the end of the text is what closes the plan.
  void check_joints() {
    if (format_.separators.empty()) add("", 0, "the format has no separator", "add a line like  separator: \", \"");
    std::vector<std::pair<std::string, std::string_view>> joints;
    for (const std::string& separator : format_.separators)
      joints.emplace_back(str_cat("separator ", joints.size() + 1), separator);
    joints.emplace_back("close", format_.close);
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const auto& [key, text] = joints[i];
      if (text.empty()) {
        if (key == "close") continue;
        add(key, 0, "a separator is empty",
            "a reader must see where an action ends; state a text that no item goes on with");
        continue;
      }
      for (std::size_t j = 0; j < i; ++j) compare_joints(joints[j], joints[i]);
    }
  }

  void compare_joints(const std::pair<std::string, std::string_view>& first,
                      const std::pair<std::string, std::string_view>& second) {
    if (first.second.empty()) return;
    const bool shorter = second.second.size() < first.second.size();
    const std::string_view begin = shorter ? second.second : first.second;
    if (!(shorter ? first.second : second.second).starts_with(begin)) return;
    const bool closing = second.first == "close";
    add(second.first, 0,
        str_cat("the ", closing ? "closing " : "separator ", quote(second.second), " and the separator ",
                quote(first.second),
                first.second == second.second ? " are the same" : ": one is the beginning of the other"),
        closing ? "a reader could not tell whether the plan goes on; choose texts that differ before either ends"
                : "a reader could not tell them apart; choose texts that differ before either ends");
  }

  void check_items() {
    if (format_.items.empty())
      add("", 0, "the format has no item", "add a line like  item: \"({action} {arguments})\"");
    std::map<std::string, std::string> seen;
    for (const auto& [key, text] : format_.items) {
      const std::string line = "item " + key;
      std::optional<std::size_t> arity;
      if (key.starts_with('/')) {
        arity = parse_number(std::string_view(key).substr(1));
        if (!arity || str_cat('/', *arity) != key)
          add(line, 0, str_cat("'", key, "' is not a number of arguments"), "write /0, /1, /2 ...");
      }
      check_case(line, key, seen);
      check_item(line, text, arity);
    }
  }

  void check_item(const std::string& line, std::string_view text, std::optional<std::size_t> arity) {
    for (const TemplatePart& part : split_template(text)) {
      if (!part.placeholder) continue;
      if (is_digit(part.text[0])) {
        const std::optional<std::size_t> number = parse_number(part.text);
        if (!number || *number == 0) {
          add(line, part.offset, str_cat("{", part.text, "} is no argument"), "arguments are {1}, {2} and so on");
        } else if (arity && *number > *arity) {
          add(line, part.offset,
              str_cat("{", part.text, "} does not exist: the line is for actions with ", *arity,
                      *arity == 1 ? " argument" : " arguments"),
              "use a smaller number, or correct the one behind the '/'");
        }
        continue;
      }
      check_placeholder(line, part, {"action", "arguments", "duration", "cost"},
                        "{action}, {arguments}, {1}, {2} ..., {duration}, {cost}");
    }
  }

  void check_argument() {
    bool has_any = false;
    for (const TemplatePart& part : split_template(format_.argument)) {
      if (!part.placeholder) continue;
      has_any = true;
      check_placeholder("argument", part, {"object", "name", "id"}, "{object}, {name} and {id}");
      if ((part.text == "name" || part.text == "id") && format_.id_separator.empty()) {
        add("argument", part.offset, str_cat("{", part.text, "} needs to know where an object's name ends"),
            "add a line like  id-separator: \"_\"");
      }
    }
    if (!has_any) {
      add("argument", 0, "all arguments would be written alike",
          "use {object}, or {name} and {id}, in the argument's template");
    }
  }

  void check_placeholders(const std::string& line, std::string_view text, const std::vector<std::string>& known) {
    for (const TemplatePart& part : split_template(text)) {
      if (part.placeholder) check_placeholder(line, part, known, "{" + known[0] + "}");
    }
  }

  void check_placeholder(const std::string& line, const TemplatePart& part, const std::vector<std::string>& known,
                         const std::string& list) {
    for (const std::string& name : known) {
      if (part.text == name) return;
    }
    const std::string guess = internal::did_you_mean(part.text, known);
    add(line, part.offset, str_cat("there is no {", part.text, "} here"),
        str_cat(guess.empty() ? "" : guess + " ", "known: ", list, "; for a brace itself write {{"));
  }

  void check_names(const std::string& word, const std::map<std::string, std::string>& names) {
    std::map<std::string, std::string> seen;
    for (const auto& [name, text] : names) check_case(str_cat(word, ' ', name), name, seen);
  }

  void check_case(const std::string& line, const std::string& name, std::map<std::string, std::string>& seen) {
    const auto [place, added] = seen.emplace(internal::lower_case(name), name);
    if (added) return;
    add(line, 0, str_cat("'", name, "' and '", place->second, "' are the same name"),
        "names are compared without regard to case; keep one of the lines");
  }

  const PlanFormat& format_;
  std::vector<FormatProblem> problems_;
};

}  // namespace

std::vector<TemplatePart> split_template(std::string_view text) {
  std::vector<TemplatePart> parts;
  const auto literal = [&parts](std::size_t offset) -> std::string& {
    if (parts.empty() || parts.back().placeholder) parts.push_back({false, {}, offset});
    return parts.back().text;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '{') {
      if (i + 1 < text.size() && text[i + 1] == '{') {
        literal(i) += '{';
        i += 2;
        continue;
      }
      if (const std::size_t length = placeholder_length(text, i); length > 0) {
        parts.push_back({true, std::string(text.substr(i + 1, length)), i});
        i += length + 2;
        continue;
      }
    }
    literal(i) += text[i];
    ++i;
  }
  return parts;
}

std::optional<std::size_t> parse_number(std::string_view digits) {
  constexpr std::size_t kMaxDigits = 6;
  if (digits.empty() || digits.size() > kMaxDigits) return std::nullopt;
  std::size_t number = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    number = 10 * number + static_cast<std::size_t>(c - '0');
  }
  return number;
}

std::vector<FormatProblem> check_format(const PlanFormat& format) { return Checker(format).run(); }

}  // namespace metactrl::text
