// Recursive descent. The only place with two readings is a name that begins with "not": the evaluator's parser prefers
// the negation and falls back to the name, and so does this one; the fallback reads no more than one atom, so the whole
// stays linear.
#include "benchmarks/behavior/subgoal_formula.h"

#include <cstddef>
#include <utility>

#include "support/lower_case.h"

namespace metactrl::benchmarks::behavior {

namespace {

using internal::is_digit;

// Measured in levels of the evaluator's tree: a bracket makes five, a negation one.
constexpr int kMaxFormulaDepth = 300;
constexpr int kBracketDepth = 5;

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Letters outside ASCII are told from punctuation by the block of their first byte, which is all that matters here: no
// object has such a name.
bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80) return byte != 0xC2 && byte != 0xE2 && byte != 0xE3 && byte != 0xEF;
  return is_ascii_letter(c) || is_digit(c) || c == '_';
}

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  std::optional<Formula> whole() {
    Formula formula;
    if (!statement(formula, 0)) return std::nullopt;
    skip_space();
    if (at_ != text_.size()) return std::nullopt;
    return formula;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\f\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool accept(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool statement(Formula& out, int depth) { return joined(out, depth, 0); }

  // The connectives from the weakest to the strongest.
  bool joined(Formula& out, int depth, int level) {
    struct Connective {
      std::string_view word;
      Formula::Kind kind;
    };
    constexpr Connective kConnectives[] = {
        {"then", Formula::Kind::kThen}, {"or", Formula::Kind::kOr}, {"and", Formula::Kind::kAnd}};
    if (level == 3) return simple(out, depth);
    if (!joined(out, depth, level + 1)) return false;
    if (!accept(kConnectives[level].word)) return true;
    Formula first = std::move(out);
    out = Formula{kConnectives[level].kind, {}, {}, {}};
    out.children.push_back(std::move(first));
    do {
      Formula next;
      if (!joined(next, depth, level + 1)) return false;
      out.children.push_back(std::move(next));
    } while (accept(kConnectives[level].word));
    return true;
  }

  bool simple(Formula& out, int depth) {
    if (depth > kMaxFormulaDepth) return false;
    if (accept("(")) return statement(out, depth + kBracketDepth) && accept(")");
    const std::size_t begin = at_;
    if (accept("not")) {
      Formula inner;
      if (simple(inner, depth + 1)) {
        out = Formula{Formula::Kind::kNot, {}, {}, {}};
        out.children.push_back(std::move(inner));
        return true;
      }
      at_ = begin;
    }
    return atom(out);
  }

  bool word(std::string& out) {
    skip_space();
    const std::size_t begin = at_;
    if (at_ == text_.size()) return false;
    const char c = text_[at_];
    if (!is_ascii_letter(c) && c != '_' && c != '-') return false;
    ++at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    out = text_.substr(begin, at_ - begin);
    return true;
  }

  bool object(std::string& out) {
    if (!word(out)) return false;
    if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
      const std::size_t begin = at_++;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      out += text_.substr(begin, at_ - begin);
    }
    return true;
  }

  bool atom(Formula& out) {
    out = Formula();
    if (!word(out.name) || !accept("(")) return false;
    if (accept(")")) return true;
    do {
      out.args.emplace_back();
      if (!object(out.args.back())) return false;
    } while (accept(","));
    return accept(")");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Formula> parse_formula(std::string_view text) { return FormulaParser(text).whole(); }

std::string to_text(const Formula& formula) {
  if (formula.kind == Formula::Kind::kNot) return "Not(" + to_text(formula.children[0]) + ")";
  std::string out = formula.name + "(";
  for (std::size_t i = 0; i < formula.args.size(); ++i) out += (i == 0 ? "" : ", ") + formula.args[i];
  return out + ")";
}

}  // namespace metactrl::benchmarks::behavior
