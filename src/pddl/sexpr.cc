// One pass over the text. Finished members of open lists wait on a stack; a ')' moves the members of the innermost list
// to the node table, where they lie side by side, and pushes the list itself. So children are arrays, not chains, each
// node is moved once, and depth costs no call stack.
#include "pddl/sexpr.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/lower_case.h"
#include "support/str_cat.h"
#include "support/utf8.h"

namespace metactrl::pddl {

using internal::str_cat;

bool SExpr::is_list() const { return tree_->nodes_[index_].is_list; }

std::string_view SExpr::text() const {
  const SExprTree::Node& node = tree_->nodes_[index_];
  if (node.is_list) return {};
  return std::string_view(tree_->text_).substr(node.first + skipped_, node.count - skipped_);
}

Position SExpr::where() const {
  const SExprTree::Node& node = tree_->nodes_[index_];
  return {tree_->file_, node.line, node.column + skipped_};
}

std::size_t SExpr::size() const {
  const SExprTree::Node& node = tree_->nodes_[index_];
  return node.is_list ? node.count : 0;
}

SExpr SExpr::operator[](std::size_t index) const {
  return {tree_, tree_->nodes_[index_].first + static_cast<std::uint32_t>(index)};
}

std::string_view SExpr::head() const { return size() > 0 ? (*this)[0].text() : std::string_view(); }

std::string SExpr::to_text(std::size_t limit) const {
  std::string out;
  // Nodes still to print; nothing stands for a ')'.
  std::vector<std::optional<SExpr>> todo = {*this};
  while (!todo.empty()) {
    if (out.size() > limit) return std::string(cut(out, limit)) + " ...";
    const std::optional<SExpr> next = todo.back();
    todo.pop_back();
    if (!next) {
      out += ')';
      continue;
    }
    if (!out.empty() && out.back() != '(') out += ' ';
    if (next->is_name()) {
      out += next->text();
      continue;
    }
    out += '(';
    todo.emplace_back();
    // Members beyond the limit would be cut anyway.
    for (std::size_t i = std::min(next->size(), limit); i-- > 0;) todo.emplace_back((*next)[i]);
  }
  return out;
}

std::optional<SExpr> SExprTree::root() const {
  if (!complete_) return std::nullopt;
  return SExpr(this, static_cast<std::uint32_t>(nodes_.size() - 1));
}

class SExprReader {
 public:
  SExprReader(std::uint32_t file, std::string_view text, Reporter& reporter)
      : input_(text), file_(file), reporter_(reporter) {
    tree_.file_ = file;
  }

  SExprTree read();

 private:
  using Node = SExprTree::Node;

  // A list whose ')' has not come yet.
  struct Open {
    Position where;
    std::size_t first_pending = 0;  // its members start here in pending_
  };

  // Each returns false when reading on makes no sense.
  bool prepare();
  bool step();
  bool open_list();
  bool close_list();
  bool read_name();
  bool skip_bad_byte();
  bool trailing();
  void finish();

  // How many bytes the part of a name takes that begins here; 0 when none does.
  std::size_t name_part() const;
  std::size_t letter() const;
  // U+00A0, which word processors and web pages put where a blank was meant.
  bool at_no_break_space() const { return input_[at_] == '\xc2' && input_.substr(at_).starts_with("\xc2\xa0"); }
  bool section_follows() const;
  void note_missing_blank(std::size_t start);

  void skip_comment();
  void new_line() {
    ++line_;
    line_start_ = at_;
  }
  Position here() const { return {file_, line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)}; }
  void note_section_inside_section(std::string_view name);

  std::string_view input_;
  std::uint32_t file_;
  Reporter& reporter_;
  SExprTree tree_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::vector<Node> pending_;
  std::vector<Open> open_;
  bool bad_ = false;
  bool blank_missing_ = false;  // noted once per file
  std::size_t bad_bytes_ = 0;
  Position root_end_;  // the ')' of the root
  // The first section that starts inside another one: the likely place of a missing ')'.
  std::optional<std::pair<Position, Position>> nested_section_;  // outer, inner
};

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v'; }
bool is_name_char(char c) { return c > ' ' && c < 0x7f && c != '(' && c != ')' && c != ';'; }

// Blocks without letters: punctuation that only looks like ASCII's, invisible marks, symbols, private use.
constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 14> kNoLetters = {{{0x80, 0xa9},
                                                                                 {0xab, 0xb4},
                                                                                 {0xb6, 0xb9},
                                                                                 {0xbb, 0xbf},
                                                                                 {0xd7, 0xd7},
                                                                                 {0xf7, 0xf7},
                                                                                 {0x1680, 0x1680},
                                                                                 {0x180e, 0x180e},
                                                                                 {0x2000, 0x2bff},
                                                                                 {0x2e00, 0x2e7f},
                                                                                 {0x3000, 0x3004},
                                                                                 {0x3008, 0x3020},
                                                                                 {0xe000, 0xf8ff},
                                                                                 {0xfe00, 0xfe6f}}};

bool is_letter(std::uint32_t code) {
  const bool wide = code >= 0xff00 && code <= 0xffef;  // of these, the digits and letters
  if (wide) {
    return (code >= 0xff10 && code <= 0xff19) || (code >= 0xff21 && code <= 0xff3a) ||
           (code >= 0xff41 && code <= 0xff5a) || (code >= 0xff66 && code <= 0xffdc);
  }
  if (code == 0xfeff || code == 0xfffc || code == 0xfffd || code >= 0x1f000) return false;
  return std::none_of(kNoLetters.begin(), kNoLetters.end(),
                      [code](const auto& block) { return code >= block.first && code <= block.second; });
}

// "U+2013"
std::string unicode(std::uint32_t code) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (; code > 0 || out.size() < 4; code >>= 4U) out.insert(out.begin(), kDigits[code & 15U]);
  return "U+" + out;
}

std::string hex(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

constexpr std::array<std::string_view, 14> kSections = {
    ":action", ":predicates", ":types",       ":constants",       ":functions", ":derived", ":objects",
    ":init",   ":goal",       ":constraints", ":durative-action", ":metric",    ":domain",  ":requirements"};

}  // namespace

SExprTree SExprReader::read() {
  if (prepare()) {
    bool go_on = true;
    while (go_on && at_ < input_.size()) go_on = step();
    if (go_on) finish();
  }
  tree_.complete_ = !bad_ && tree_.complete_;
  return std::move(tree_);
}

bool SExprReader::prepare() {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 30U;
  bad_ = true;
  if (input_.size() > kMaxBytes) {
    reporter_.error({file_, 0, 0}, "the file is larger than 1 GiB", "split the problem");
    return false;
  }
  if (input_.starts_with("\xff\xfe") || input_.starts_with("\xfe\xff")) {
    reporter_.error({file_, 1, 1}, "the file is UTF-16 text", "save it as ASCII or UTF-8");
    return false;
  }
  bad_ = false;
  if (input_.starts_with("\xef\xbb\xbf")) at_ = line_start_ = 3;
  tree_.text_ = internal::lower_case(input_);
  return true;
}

bool SExprReader::step() {
  const char c = input_[at_];
  if (is_blank(c)) {
    ++at_;
    return true;
  }
  if (c == '\n' || c == '\r') {
    const bool pair = c == '\r' && at_ + 1 < input_.size() && input_[at_ + 1] == '\n';
    at_ += pair ? 2 : 1;
    new_line();
    return true;
  }
  if (c == ';') {
    skip_comment();
    return true;
  }
  if (at_no_break_space()) {
    at_ += 2;
    return true;
  }
  if (tree_.complete_) return trailing();
  if (c == '(') return open_list();
  if (c == ')') return close_list();
  return name_part() > 0 ? read_name() : skip_bad_byte();
}

std::size_t SExprReader::name_part() const {
  if (is_name_char(input_[at_])) return 1;
  return static_cast<unsigned char>(input_[at_]) < 0x80U ? 0 : letter();
}

// The same of what is not ASCII.
std::size_t SExprReader::letter() const {
  const internal::Utf8Character character = internal::first_character(input_.substr(at_));
  return character.length > 0 && is_letter(character.code) ? character.length : 0;
}

void SExprReader::skip_comment() {
  while (at_ < input_.size() && input_[at_] != '\n' && input_[at_] != '\r') ++at_;
}

bool SExprReader::skip_bad_byte() {
  constexpr std::size_t kGiveUpAfter = 10;
  const char c = input_[at_];
  bad_ = true;
  if (c == '\0') {
    reporter_.error(here(), "the file contains a zero byte", "it does not look like a text file");
    return false;  // the rest is no text either
  } else if (static_cast<unsigned char>(c) < 0x80) {
    reporter_.error(here(), str_cat("control character ", hex(c), " outside a comment"), "delete it");
  } else if (const internal::Utf8Character character = internal::first_character(input_.substr(at_));
             character.length > 0) {
    // Not the character itself: it may be one that nobody sees.
    reporter_.error(here(), str_cat("character ", unicode(character.code), " outside a comment"),
                    "it is no letter: write what ASCII has for it, or delete it");
  } else {
    reporter_.error(here(), str_cat("byte ", hex(c), " outside a comment is not UTF-8"), "save the file as UTF-8");
  }
  ++at_;
  while (at_ < input_.size() && internal::is_continuation(input_[at_]))
    ++at_;  // one message per character, not per byte
  return ++bad_bytes_ < kGiveUpAfter;
}

// What follows the definition. A section there is part of a definition that ends too early: to leave it out would
// change the meaning. Anything else is left out.
bool SExprReader::trailing() {
  const std::string end = str_cat("line ", root_end_.line, ", column ", root_end_.column);
  if (section_follows()) {
    bad_ = true;
    reporter_.error(here(), "a section after the end of (define ...)",
                    str_cat("the definition ends with the ')' at ", end, ", which is one too many: delete it"));
  } else if (input_[at_] == ')') {
    reporter_.warning(here(), "')' without a matching '('",
                      str_cat("the definition already ends at ", end, "; what follows is ignored"));
  } else {
    reporter_.warning(here(), "text after the end of (define ...) is ignored",
                      str_cat("the definition ends with the ')' at ", end,
                              "; delete what follows, or put it into a file of its own"));
  }
  return false;
}

// Does "(:" come next, behind any number of ')'?
bool SExprReader::section_follows() const {
  std::size_t at = at_;
  const auto skip = [&](auto wanted) {
    while (at < input_.size() && wanted(input_[at])) ++at;
  };
  const auto is_space = [](char c) { return is_blank(c) || c == '\n' || c == '\r'; };
  while (true) {
    skip([&](char c) { return is_space(c) || c == ')'; });
    if (at >= input_.size() || input_[at] != ';') break;
    skip([](char c) { return c != '\n' && c != '\r'; });
  }
  if (at >= input_.size() || input_[at] != '(') return false;
  ++at;
  skip(is_space);
  return at < input_.size() && input_[at] == ':';
}

bool SExprReader::open_list() {
  if (open_.size() >= SExprTree::kMaxDepth) {
    bad_ = true;
    reporter_.error(here(), str_cat("parentheses are nested more than ", SExprTree::kMaxDepth, " deep"),
                    "check for missing ')'");
    return false;
  }
  open_.push_back({here(), pending_.size()});
  ++at_;
  return true;
}

bool SExprReader::close_list() {
  if (open_.empty()) {
    bad_ = true;
    reporter_.error(here(), "')' without a matching '('", "a file starts with (define ...)");
    return false;
  }
  const Open list = open_.back();
  open_.pop_back();
  Node node;
  node.is_list = true;
  node.first = static_cast<std::uint32_t>(tree_.nodes_.size());
  node.count = static_cast<std::uint32_t>(pending_.size() - list.first_pending);
  node.line = list.where.line;
  node.column = list.where.column;
  const auto members = pending_.begin() + static_cast<std::ptrdiff_t>(list.first_pending);
  tree_.nodes_.insert(tree_.nodes_.end(), members, pending_.end());
  pending_.erase(members, pending_.end());
  if (open_.empty()) {
    tree_.nodes_.push_back(node);
    tree_.complete_ = true;
    root_end_ = here();
  } else {
    pending_.push_back(node);
  }
  ++at_;
  return true;
}

bool SExprReader::read_name() {
  const Position where = here();
  const std::size_t start = at_;
  at_ += name_part();
  while (at_ < input_.size() && input_[at_] != '?') {
    const std::size_t part = name_part();
    if (part == 0) break;
    at_ += part;
  }
  if (at_ < input_.size() && input_[at_] == '?') note_missing_blank(start);
  const std::string_view name = std::string_view(tree_.text_).substr(start, at_ - start);
  if (open_.empty()) {
    bad_ = true;
    reporter_.error(where, str_cat("expected '(define' but found ", in_quotes(name)),
                    "a PDDL file consists of one (define (domain NAME) ...) or (define (problem NAME) ...)");
    return false;
  }
  if (name.size() > SExprTree::kMaxNameLength) {
    bad_ = true;
    reporter_.error(where,
                    str_cat("the name ", in_quotes(name), " is longer than ", SExprTree::kMaxNameLength, " characters"),
                    "shorten it");
  }
  if (name[0] == ':' && pending_.size() == open_.back().first_pending) note_section_inside_section(name);
  Node node;
  node.first = static_cast<std::uint32_t>(start);
  node.count = static_cast<std::uint32_t>(name.size());
  node.line = where.line;
  node.column = where.column;
  pending_.push_back(node);
  return true;
}

// (at?x): a '?' begins a variable wherever it stands.
void SExprReader::note_missing_blank(std::size_t start) {
  if (blank_missing_) return;
  blank_missing_ = true;
  std::size_t end = at_ + 1;
  while (end < input_.size() && is_name_char(input_[end]) && input_[end] != '?') ++end;
  const std::string_view text(tree_.text_);
  reporter_.warning(here(),
                    str_cat("no blank before '?': this is read as ", in_quotes(text.substr(start, at_ - start)),
                            " and ", in_quotes(text.substr(at_, end - at_))),
                    "a '?' begins a variable; put a blank before it, here and wherever it is missing");
}

void SExprReader::note_section_inside_section(std::string_view name) {
  if (nested_section_ || open_.size() < 3) return;
  if (std::find(kSections.begin(), kSections.end(), name) == kSections.end()) return;
  nested_section_ = {open_[1].where, open_.back().where};
}

void SExprReader::finish() {
  if (tree_.complete_) return;
  if (bad_) return;  // the mistakes already reported explain more
  bad_ = true;
  if (open_.empty()) {
    reporter_.error({file_, 0, 0}, "the file is empty",
                    file_ == 0 ? "a domain file holds (define (domain NAME) ...)"
                               : "a problem file holds (define (problem NAME) ...)");
    return;
  }
  if (nested_section_) {
    const auto& [outer, inner] = *nested_section_;
    reporter_.error(outer, "this '(' is never closed",
                    str_cat("a new section starts at line ", inner.line, ", column ", inner.column,
                            " inside it: add the missing ')' before that"));
    return;
  }
  reporter_.error(open_.back().where, "this '(' is never closed", "add the missing ')'");
}

SExprTree read_sexpr(std::uint32_t file, std::string_view text, Reporter& reporter) {
  return SExprReader(file, text, reporter).read();
}

}  // namespace metactrl::pddl
