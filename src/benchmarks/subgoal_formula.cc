// Recursive descent. The only place with two readings is a name that begins with "not"; what is tried in vain reads no
// more than one atom, so the whole stays linear.
#include "benchmarks/subgoal_formula.h"

#include <utility>

#include "support/lower_case.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

using internal::is_digit;

class FormulaParser {
 public:
  FormulaParser(std::string_view text, const FormulaGrammar& grammar) : text_(text), grammar_(grammar) {}

  std::optional<Formula> whole() {
    Formula formula;
    if (!statement(formula, 0)) return std::nullopt;
    skip_blanks();
    if (at_ != text_.size()) return std::nullopt;
    return formula;
  }

 private:
  using Kind = Formula::Kind;

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\f\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  bool take_name(std::string& name) {
    skip_blanks();
    if (at_ == text_.size()) return false;
    const char first = internal::lower_case(text_[at_]);
    if (!(first >= 'a' && first <= 'z') && first != '_' && first != '-') return false;
    const std::size_t end = grammar_.skip_word(text_, at_ + 1);
    name = text_.substr(at_, end - at_);
    at_ = end;
    return true;
  }

  bool take_number(std::string* number = nullptr) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (number != nullptr) *number += text_.substr(begin, at_ - begin);
    return at_ > begin;
  }

  bool take_argument(std::string& argument) {
    if (!take_name(argument)) return false;
    if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
      argument += text_[at_++];
      take_number(&argument);
    }
    return true;
  }

  // Takes nothing where there is none.
  bool atom(Formula& out) {
    const std::size_t begin = at_;
    out = {};
    if (take_name(out.name) && take("(")) {
      if (take(")")) return true;
      do {
        if (!take_argument(out.arguments.emplace_back())) break;
        if (take(")")) return true;
      } while (take(","));
    }
    at_ = begin;
    return false;
  }

  bool quantified(Formula& out, Kind kind, int depth) {
    out = {kind, {}, {}, {}};
    if (kind == Kind::kForNumber) {
      skip_blanks();
      if (!take_number() || !take(".")) return false;
    }
    return take_name(out.name) && take(".") && take("(") && statement(out.parts.emplace_back(), depth) && take(")");
  }

  bool unit(Formula& out, int depth) {
    if (depth > grammar_.max_depth) return false;
    if (!grammar_.prefers_negation && atom(out)) return true;
    if (take("(")) return statement(out, depth + grammar_.bracket_depth) && take(")");
    const std::size_t begin = at_;
    if (take("not")) {
      out = {Kind::kNot, {}, {}, {}};
      if (unit(out.parts.emplace_back(), depth + 1)) return true;
      at_ = begin;
    }
    if (grammar_.has_quantifiers) {
      if (take("forall")) return quantified(out, Kind::kForall, depth + 1);
      if (take("exists")) return quantified(out, Kind::kExists, depth + 1);
      if (take("forn")) return quantified(out, Kind::kForNumber, depth + 1);
    }
    return grammar_.prefers_negation && atom(out);
  }

  // Parts with a word between them; a list of one is that one.
  template <typename Part>
  bool list(Formula& out, Kind kind, std::string_view glue, Part part) {
    Formula all{kind, {}, {}, {}};
    do {
      if (!part(all.parts.emplace_back())) return false;
    } while (take(glue));
    if (all.parts.size() > 1) {
      out = std::move(all);
    } else {
      out = Formula(std::move(all.parts.front()));
    }
    return true;
  }

  bool statement(Formula& out, int depth) {
    const auto one = [&](Formula& part) { return unit(part, depth); };
    const auto conjunction = [&](Formula& part) { return list(part, Kind::kAnd, "and", one); };
    const auto disjunction = [&](Formula& part) { return list(part, Kind::kOr, "or", conjunction); };
    return list(out, Kind::kThen, "then", disjunction);
  }

  std::string_view text_;
  const FormulaGrammar& grammar_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_string(const Formula& atom) { return str_cat(atom.name, "(", join(atom.arguments, ", "), ")"); }

std::optional<Formula> parse_formula(std::string_view text, const FormulaGrammar& grammar) {
  return FormulaParser(text, grammar).whole();
}

}  // namespace metactrl::benchmarks
