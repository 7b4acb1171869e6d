// Two recursive readers for one grammar. Both know the arity of every predicate, so the flat one needs no brackets for
// atoms, "not" and quantifiers.
#include "benchmarks/behavior/prompt_goal.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/words.h"

namespace metactrl::benchmarks::behavior::prompt {

namespace {

constexpr std::size_t kMaxNesting = 100;

constexpr std::array<std::string_view, 9> kUnary = {"burnt",  "cooked", "dusty",   "frozen",    "open",
                                                    "sliced", "soaked", "stained", "toggled_on"};
constexpr std::array<std::string_view, 6> kBinary = {"inside", "nextto", "onfloor", "ontop", "touching", "under"};

std::string canonical_predicate(std::string_view word) {
  if (word == "toggledon" || word == "toggled.on") return "toggled_on";
  return std::string(word);
}

std::size_t known_arity(std::string_view predicate, std::string_view word) {
  const std::optional<std::size_t> arguments = arity(predicate);
  if (!arguments) throw ReadError(str_cat("there is no predicate '", word, "'"));
  return *arguments;
}

std::size_t number(std::string_view word) {
  if (word.empty() || word.size() > 6 || word.find_first_not_of("0123456789") != std::string_view::npos) {
    throw ReadError(str_cat("'", word, "' is not a number"));
  }
  return static_cast<std::size_t>(std::stoul(std::string(word)));
}

std::optional<Goal::Kind> quantifier(std::string_view word) {
  if (word == "forall") return Goal::Kind::kForall;
  if (word == "exists") return Goal::Kind::kExists;
  if (word == "forn") return Goal::Kind::kForN;
  if (word == "forpairs") return Goal::Kind::kForPairs;
  if (word == "fornpairs") return Goal::Kind::kForNPairs;
  return std::nullopt;
}

bool has_number(Goal::Kind kind) { return kind == Goal::Kind::kForN || kind == Goal::Kind::kForNPairs; }
bool has_pairs(Goal::Kind kind) { return kind == Goal::Kind::kForPairs || kind == Goal::Kind::kForNPairs; }

// What the words in arguments mean: the innermost quantifier's variable of that label, or an object. Where an atom has
// the same label twice and two quantifiers have it, the outer one is meant first: forpairs(jar, jar, nextto(jar, jar)).
class Scope {
 public:
  std::string open(const std::string& label) {
    open_.emplace_back(label, str_cat("?", ++counter_));
    return open_.back().second;
  }
  void close(std::size_t count) { open_.resize(open_.size() - count); }

  // Puts variables in the place of the words that are theirs, and object(word) in that of the others.
  template <typename Object>
  void resolve(std::vector<std::string>& words, const Object& object) const {
    std::vector<std::string> out;
    for (const std::string& word : words) out.push_back(variable(word, 0));
    if (words.size() == 2 && words[0] == words[1] && !out[0].empty()) {
      const std::string outer = variable(words[0], 1);
      if (!outer.empty()) out[0] = outer;
    }
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = out[i].empty() ? object(words[i]) : out[i];
  }

 private:
  // Of the quantifiers with that label, the one `skip` further out than the innermost.
  std::string variable(const std::string& label, std::size_t skip) const {
    for (auto it = open_.rbegin(); it != open_.rend(); ++it) {
      if (it->first == label && skip-- == 0) return it->second;
    }
    return {};
  }

  std::vector<std::pair<std::string, std::string>> open_;
  std::size_t counter_ = 0;
};

class FlatReader {
 public:
  explicit FlatReader(std::span<const std::string> words) : words_(words) {}

  Goal read() {
    Goal goal = condition(0);
    if (next_ < words_.size()) throw ReadError(str_cat("nothing should follow '", words_[next_ - 1], "'"));
    return goal;
  }

 private:
  const std::string& take() {
    if (next_ >= words_.size()) throw ReadError("the goal ends too early");
    return words_[next_++];
  }

  Goal condition(std::size_t depth) {
    if (depth > kMaxNesting) throw ReadError("the goal is nested too deeply");
    const std::string word = take();
    Goal goal;
    if (word == "not") {
      goal.kind = Goal::Kind::kNot;
      goal.children.push_back(condition(depth + 1));
    } else if (word == "and" || word == "or") {
      list(word, goal, depth);
    } else if (const std::optional<Goal::Kind> kind = quantifier(word)) {
      goal.kind = *kind;
      if (has_number(*kind)) goal.count = number(take());
      for (std::size_t i = 0; i < (has_pairs(*kind) ? 2U : 1U); ++i) {
        const std::string label = take();
        if (take() != "-") throw ReadError(str_cat("after '", word, " ", label, "' a '-' and a category are expected"));
        goal.kinds.push_back(take());
        goal.variables.push_back(scope_.open(label));
      }
      goal.children.push_back(condition(depth + 1));
      scope_.close(goal.variables.size());
    } else {
      goal.atom.predicate = canonical_predicate(word);
      const std::size_t arguments = known_arity(goal.atom.predicate, word);
      for (std::size_t i = 0; i < arguments; ++i) goal.atom.arguments.push_back(take());
      scope_.resolve(goal.atom.arguments, [](const std::string& name) { return name; });
    }
    return goal;
  }

  void list(const std::string& word, Goal& goal, std::size_t depth) {
    const bool is_and = word == "and";
    goal.kind = is_and ? Goal::Kind::kAnd : Goal::Kind::kOr;
    std::size_t& open = is_and ? open_ands_ : open_ors_;
    const std::size_t& others = is_and ? open_ors_ : open_ands_;
    ++open;
    while (next_ < words_.size()) {
      if (words_[next_] == word && others > 0 && goal.children.size() > 1) break;
      goal.children.push_back(condition(depth + 1));
    }
    --open;
  }

  std::span<const std::string> words_;
  std::size_t next_ = 0;
  Scope scope_;
  std::size_t open_ands_ = 0;
  std::size_t open_ors_ = 0;
};

class BracketedReader {
 public:
  explicit BracketedReader(std::string_view text) : text_(text) {}

  Goal read() {
    Goal goal = disjunction(0);
    if (!peek().empty()) throw ReadError(str_cat("'", peek(), "' is not expected here"));
    return goal;
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-' || c == '\'';
  }

  // The next word, bracket or comma; empty at the end.
  std::string_view peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    if (end == at_ && at_ < text_.size()) ++end;
    return text_.substr(at_, end - at_);
  }
  std::string_view take() {
    const std::string_view token = peek();
    if (token.empty()) throw ReadError("the goal ends too early");
    at_ += token.size();
    return token;
  }
  void expect(std::string_view token) {
    const std::string_view found = peek();
    if (found != token) throw ReadError(str_cat("'", token, "' is expected, not '", found, "'"));
    take();
  }

  // kOr of kAnd of single conditions; a list of one is that one.
  Goal disjunction(std::size_t depth) {
    if (depth > kMaxNesting) throw ReadError("the goal is nested too deeply");
    return joined("or", Goal::Kind::kOr,
                  [&] { return joined("and", Goal::Kind::kAnd, [&] { return single(depth); }); });
  }

  template <typename Part>
  Goal joined(std::string_view word, Goal::Kind kind, Part part) {
    Goal first = part();
    if (peek() != word) return first;
    Goal goal;
    goal.kind = kind;
    goal.children.push_back(std::move(first));
    while (peek() == word) {
      take();
      goal.children.push_back(part());
    }
    return goal;
  }

  Goal single(std::size_t depth) {
    if (peek() == "(") {
      take();
      Goal goal = disjunction(depth + 1);
      expect(")");
      return goal;
    }
    const std::string word(take());
    if (word == "not") {
      if (depth > kMaxNesting) throw ReadError("the goal is nested too deeply");
      Goal goal;
      goal.kind = Goal::Kind::kNot;
      goal.children.push_back(single(depth + 1));
      return goal;
    }
    if (const std::optional<Goal::Kind> kind = quantifier(word)) return quantified(*kind, depth);
    return atom(word);
  }

  Goal quantified(Goal::Kind kind, std::size_t depth) {
    Goal goal;
    goal.kind = kind;
    expect("(");
    if (has_number(kind)) {
      goal.count = number(take());
      expect(",");
    }
    for (std::size_t i = 0; i < (has_pairs(kind) ? 2U : 1U); ++i) {
      const std::string label(take());
      goal.kinds.push_back(synset_from_underscored(label));
      goal.variables.push_back(scope_.open(label));
      expect(",");
    }
    goal.children.push_back(disjunction(depth + 1));
    expect(")");
    scope_.close(goal.variables.size());
    return goal;
  }

  Goal atom(const std::string& word) {
    Goal goal;
    goal.atom.predicate = canonical_predicate(word);
    const std::size_t arguments = known_arity(goal.atom.predicate, word);
    expect("(");
    for (std::size_t i = 0; i < arguments; ++i) {
      if (i > 0) expect(",");
      goal.atom.arguments.emplace_back(take());
    }
    expect(")");
    scope_.resolve(goal.atom.arguments, object_from_dotted);
    return goal;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Scope scope_;
};

}  // namespace

std::optional<std::size_t> arity(std::string_view predicate) {
  if (std::find(kUnary.begin(), kUnary.end(), predicate) != kUnary.end()) return 1;
  if (std::find(kBinary.begin(), kBinary.end(), predicate) != kBinary.end()) return 2;
  return std::nullopt;
}

Goal read_flat_goal(std::span<const std::string> words) { return FlatReader(words).read(); }

Goal read_bracketed_goal(std::string_view text) { return BracketedReader(text).read(); }

std::string object_from_dotted(std::string_view name) {
  std::string out(name);
  const std::size_t dot = out.rfind('.');
  if (dot != std::string::npos) out[dot] = '_';
  return out;
}

std::string synset_from_underscored(std::string_view name) {
  std::string out(name);
  // ..._n_01
  const std::size_t second = out.rfind('_');
  if (second == std::string::npos || second < 2 || out[second - 2] != '_') return out;
  out[second] = '.';
  out[second - 2] = '.';
  return out;
}

}  // namespace metactrl::benchmarks::behavior::prompt
