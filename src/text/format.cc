// Reading declarations. A declaration is lines of
//
//     key [name]: value      # comment
//
// where a value is a string in double quotes or, for keys with a few fixed values, a bare word. The reader goes line by
// line, reports every mistake with its column and goes on with the next line; what only shows in the whole (a missing
// separator, a placeholder that does not exist) is found by check_format at the end and put back to the line and column
// it came from. For that the reader remembers for each byte of each value where in the file it stood.
#include "metactrl/format.h"

#include <array>
#include <cstdint>
#include <utility>

#include "metactrl/error.h"
#include "support/files.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "text/template.h"

namespace metactrl {

using internal::str_cat;

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

struct Value {
  std::string text;
  bool quoted = false;
  std::uint32_t column = 0;
  std::vector<std::uint32_t> columns;  // of each byte of `text`
};

class Declaration {
 public:
  Declaration(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  PlanFormat read() {
    format_.name = default_name();
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
    while (!text_.empty()) {
      const std::size_t end = text_.find('\n');
      line_ = text_.substr(0, end);
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      if (line_.ends_with('\r')) line_.remove_suffix(1);
      ++line_number_;
      position_ = 0;
      read_line();
    }
    if (!diagnostics_.has_errors()) check_whole();
    if (diagnostics_.has_errors()) throw InputError(std::move(diagnostics_));
    if (format_.empty.empty()) format_.empty = format_.open + format_.close;
    return std::move(format_);
  }

 private:
  struct Place {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::vector<std::uint32_t> columns;
  };

  std::string default_name() const {
    const std::size_t slash = file_.find_last_of('/');
    std::string name = slash == std::string::npos ? file_ : file_.substr(slash + 1);
    constexpr std::string_view kExtension = ".format";
    if (name.ends_with(kExtension)) name.resize(name.size() - kExtension.size());
    return name;
  }

  // --- one line ------------------------------------------------------------------------------------------------------
  bool error(std::size_t position, std::string message, std::string hint) {
    diagnostics_.error({file_, line_number_, static_cast<std::uint32_t>(position + 1)}, std::move(message),
                       std::move(hint));
    return false;
  }
  bool at_end() const { return position_ == line_.size() || line_[position_] == '#'; }
  void skip_blanks() {
    while (position_ < line_.size() && is_blank(line_[position_])) ++position_;
  }

  void read_line() {
    skip_blanks();
    if (at_end()) return;
    const std::size_t begin = position_;
    while (position_ < line_.size() && line_[position_] != ':' && line_[position_] != '"' &&
           !is_blank(line_[position_]))
      ++position_;
    const std::string key(line_.substr(begin, position_ - begin));
    skip_blanks();
    const std::size_t name_begin = position_;
    std::string name;
    Value value;
    if (!read_name(name) || !read_colon(key) || !read_value(value)) return;
    store(key, begin, name, name_begin, value);
  }

  // What stands between the key and the colon: the action or object that the line is about.
  bool read_name(std::string& name) {
    if (position_ < line_.size() && line_[position_] == '"') {
      Value value;
      if (!read_string(value)) return false;
      name = std::move(value.text);
      skip_blanks();
      return true;
    }
    const std::size_t begin = position_;
    while (position_ < line_.size() && line_[position_] != ':') ++position_;
    std::size_t end = position_;
    while (end > begin && is_blank(line_[end - 1])) --end;
    name = line_.substr(begin, end - begin);
    return true;
  }

  bool read_colon(const std::string& key) {
    if (position_ < line_.size() && line_[position_] == ':') {
      ++position_;
      return true;
    }
    return error(position_, str_cat("expected ':' after '", key, "'"),
                 "a line is  key: \"value\"  or  key name: \"value\"");
  }

  bool read_value(Value& value) {
    skip_blanks();
    value.column = static_cast<std::uint32_t>(position_ + 1);
    if (at_end()) return error(position_, "the value is missing", "write it in double quotes");
    if (line_[position_] == '"') {
      if (!read_string(value)) return false;
    } else {
      const std::size_t begin = position_;
      while (!at_end() && !is_blank(line_[position_])) ++position_;
      value.text = line_.substr(begin, position_ - begin);
    }
    skip_blanks();
    if (at_end()) return true;
    return error(position_, "something follows the value", "write values in double quotes and comments behind a '#'");
  }

  // At the opening quote.
  bool read_string(Value& value) {
    const std::size_t begin = position_++;
    value.quoted = true;
    while (position_ < line_.size()) {
      const std::size_t from = position_;
      char c = line_[position_++];
      if (c == '"') return true;
      if (c == '\\' && !read_escape(c)) return false;
      value.text += c;
      value.columns.push_back(static_cast<std::uint32_t>(from + 1));
    }
    return error(begin, "the string does not end", "close it with '\"' on the same line; write a line break as \\n");
  }

  bool read_escape(char& out) {
    constexpr std::array<std::pair<char, char>, 5> kEscapes{
        {{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'"', '"'}, {'\\', '\\'}}};
    if (position_ < line_.size()) {
      for (const auto& [letter, byte] : kEscapes) {
        if (line_[position_] != letter) continue;
        out = byte;
        ++position_;
        return true;
      }
    }
    return error(position_ - 1, "unknown escape", "known: \\n \\t \\r \\\" \\\\");
  }

  // --- what it means -------------------------------------------------------------------------------------------------
  void store(const std::string& key, std::size_t key_at, const std::string& name, std::size_t name_at,
             const Value& value) {
    if (key == "item") {
      store_named(format_.items, key, name.empty() ? "*" : name, key_at, value);
    } else if (key == "action" || key == "object") {
      if (name.empty()) {
        error(name_at, str_cat("which ", key, "?"), str_cat("write  ", key, " NAME: \"text\""));
        return;
      }
      store_named(key == "action" ? format_.action_names : format_.object_names, key, name, key_at, value);
    } else if (!name.empty() && is_known(key)) {
      error(name_at, str_cat("'", key, "' takes no name"), str_cat("write  ", key, ": ..."));
    } else if (key == "separator") {
      if (!is_string(key, value)) return;
      format_.separators.push_back(value.text);
      places_[str_cat(key, ' ', format_.separators.size())] = {line_number_, value.column, value.columns};
    } else if (std::string* const text = text_field(key); text != nullptr) {
      if (is_string(key, value) && is_first(key, key_at, value)) *text = value.text;
    } else if (key == "case") {
      store_word(key, key_at, value, {"as-is", "upper", "lower"}, format_.action_case);
    } else if (key == "escape") {
      store_word(key, key_at, value, {"none", "json"}, format_.escape);
    } else {
      error(key_at, str_cat("there is no key '", key, "'"), hint_for(key, known_keys()));
    }
  }

  std::string* text_field(const std::string& key) {
    const std::array<std::pair<std::string_view, std::string*>, 9> fields{
        {{"name", &format_.name},
         {"open", &format_.open},
         {"close", &format_.close},
         {"empty", &format_.empty},
         {"prefix", &format_.prefix},
         {"argument", &format_.argument},
         {"argument-separator", &format_.argument_separator},
         {"id-separator", &format_.id_separator},
         {"hyphen", &format_.hyphen}}};
    for (const auto& [name, field] : fields) {
      if (name == key) return field;
    }
    return nullptr;
  }

  static std::vector<std::string> known_keys() {
    return {"name",   "open", "close",  "separator",          "empty",        "prefix", "item",    "action",
            "object", "case", "hyphen", "argument-separator", "id-separator", "escape", "argument"};
  }
  static bool is_known(const std::string& key) {
    for (const std::string& known : known_keys()) {
      if (known == key) return true;
    }
    return false;
  }
  static std::string hint_for(const std::string& word, const std::vector<std::string>& known) {
    std::string hint = internal::did_you_mean(word, known);
    if (!hint.empty()) return hint;
    for (const std::string& name : known) hint += (hint.empty() ? "known: " : ", ") + name;
    return hint;
  }

  bool is_string(const std::string& key, const Value& value) {
    if (value.quoted) return true;
    return error(value.column - 1, str_cat("the value of '", key, "' is not in quotes"), "write it in double quotes");
  }

  bool is_first(const std::string& key, std::size_t key_at, const Value& value) {
    const auto [place, added] = places_.emplace(key, Place{line_number_, value.column, value.columns});
    if (added) return true;
    return error(key_at, str_cat("'", key, "' was stated before, on line ", place->second.line), "keep one of them");
  }

  void store_named(std::map<std::string, std::string>& map, const std::string& key, const std::string& name,
                   std::size_t key_at, const Value& value) {
    if (is_string(key, value) && is_first(key + " " + name, key_at, value)) map[name] = value.text;
  }

  template <typename Enum>
  void store_word(const std::string& key, std::size_t key_at, const Value& value, const std::vector<std::string>& words,
                  Enum& out) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (value.text != words[i]) continue;
      if (is_first(key, key_at, value)) out = static_cast<Enum>(i);
      return;
    }
    error(value.column - 1, str_cat("'", value.text, "' is no value of '", key, "'"), hint_for(value.text, words));
  }

  void check_whole() {
    if (!places_.contains("close")) {
      diagnostics_.error({file_, 0, 0}, "the format has no closing",
                         "add a line like  close: \".\"  or, if only the end of the text ends a plan,  close: \"\"");
    }
    for (text::FormatProblem& problem : text::check_format(format_)) {
      Diagnostic::Position where{file_, 0, 0};
      if (const auto place = places_.find(problem.key); place != places_.end()) {
        const std::vector<std::uint32_t>& columns = place->second.columns;
        where.line = place->second.line;
        where.column = problem.offset < columns.size() ? columns[problem.offset] : place->second.column;
      }
      diagnostics_.error(std::move(where), std::move(problem.message), std::move(problem.hint));
    }
  }

  std::string_view text_;
  const std::string& file_;
  Diagnostics diagnostics_;
  PlanFormat format_;
  std::map<std::string, Place> places_;  // by key and name
  std::string_view line_;
  std::uint32_t line_number_ = 0;
  std::size_t position_ = 0;  // in line_
};

}  // namespace

PlanFormat PlanFormat::parse(std::string_view text, const std::string& file_name) {
  return Declaration(text, file_name).read();
}

PlanFormat PlanFormat::load(const std::string& file) { return parse(internal::read_file(file), file); }

}  // namespace metactrl
