// Parentheses are counted; comments are skipped. Everything else about the text is the parser's business, which reads what is
// put together here.
#include "goals/problem_text.h"

#include <algorithm>
#include <array>

#include "support/lower_case.h"
#include "support/words.h"

namespace metactrl::goals {

namespace {

constexpr std::array<std::string_view, 6> kOperators = {"always",         "sometime",        "at-most-once",
                                                        "sometime-after", "sometime-before", "actions-in-order"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

// Past blanks and comments.
std::size_t skip(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text[at] == ';') {
      at = std::min(text.find_first_of("\r\n", at), text.size());
    } else if (is_blank(text[at])) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

// The piece that begins at `at`; nothing when a parenthesis has no partner.
std::optional<Piece> piece_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] == ')') return std::nullopt;
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == ';') {
      if (depth == 0) return Piece{at, i};
      i = std::min(text.find_first_of("\r\n", i), text.size()) - 1;
    } else if (text[i] == '(') {
      if (depth == 0 && i > at) return Piece{at, i};
      ++depth;
    } else if (text[i] == ')') {
      if (depth == 0) return Piece{at, i};
      if (--depth == 0) return Piece{at, i + 1};
    } else if (depth == 0 && is_blank(text[i])) {
      return Piece{at, i};
    }
  }
  if (depth > 0) return std::nullopt;
  return Piece{at, text.size()};
}

// Nobody nests deeper; what does is for the parser to judge.
constexpr std::size_t kDeepest = 50;

bool is_constraint(std::string_view text, Piece piece, const std::function<bool(std::string_view)>& is_predicate,
                   std::size_t depth = 0) {
  const std::string name = head(text, piece);
  if (name.empty() || is_predicate(name) || depth > kDeepest) return false;
  if (name == "forall") {
    const std::vector<Piece> all = members(text, piece);
    return all.size() == 3 && is_constraint(text, all[2], is_predicate, depth + 1);
  }
  return std::find(kOperators.begin(), kOperators.end(), name) != kOperators.end();
}

// The conjuncts of a goal that are preferences.
void find_preferences(std::string_view text, Piece goal, std::vector<std::string>& out, std::size_t depth = 0) {
  if (depth > kDeepest) return;
  if (head(text, goal) == "and") {
    for (const Piece part : members(text, goal)) {
      if (text[part.begin] == '(') find_preferences(text, part, out, depth + 1);
    }
    return;
  }
  Piece body = goal;
  for (std::size_t i = 0; head(text, body) == "forall" && i <= kDeepest; ++i) {
    const std::vector<Piece> inside = members(text, body);
    if (inside.size() != 3 || text[inside[2].begin] != '(') return;
    body = inside[2];
  }
  if (head(text, body) == "preference") out.emplace_back(goal.in(text));
}

// What is left out is blank, line ends apart.
void erase(std::string& text, Piece piece) {
  for (std::size_t i = piece.begin; i < piece.end; ++i) {
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  }
}

bool asks_nothing(std::string_view text, Piece condition, std::size_t depth = 0) {
  if (text[condition.begin] != '(' || depth > kDeepest) return false;
  const std::vector<Piece> parts = members(text, condition);
  if (parts.empty()) return true;
  return head(text, condition) == "and" &&
         std::all_of(parts.begin() + 1, parts.end(), [&](Piece part) { return asks_nothing(text, part, depth + 1); });
}

std::size_t count_lines(std::string_view text) {
  std::size_t lines = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_end = text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
    lines += line_end ? 1 : 0;
  }
  return lines;
}

}  // namespace

std::optional<Piece> first_list(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  const std::size_t begin = skip(text, text.starts_with(kMark) ? kMark.size() : 0);
  if (begin >= text.size() || text[begin] != '(') return std::nullopt;
  return piece_at(text, begin);
}

std::optional<Piece> only_list(std::string_view text) {
  const std::optional<Piece> list = first_list(text);
  if (!list || skip(text, list->end) != text.size()) return std::nullopt;
  return list;
}

std::vector<Piece> members(std::string_view text, Piece list) {
  std::vector<Piece> out;
  std::size_t at = skip(text, list.begin + 1);
  while (at + 1 < list.end) {
    const std::optional<Piece> piece = piece_at(text.substr(0, list.end - 1), at);
    if (!piece) break;
    out.push_back(*piece);
    at = skip(text, piece->end);
  }
  return out;
}

std::string head(std::string_view text, Piece piece) {
  if (text[piece.begin] != '(') return {};
  const std::vector<Piece> all = members(text, piece);
  if (all.empty() || text[all[0].begin] == '(') return {};
  return internal::lower_case(all[0].in(text));
}

std::optional<GoalParts> split_goal(std::string_view goal, const std::function<bool(std::string_view)>& is_predicate) {
  const std::optional<Piece> whole = only_list(goal);
  if (!whole) return std::nullopt;
  std::vector<Piece> parts = {*whole};
  if (head(goal, *whole) == "and") {
    parts = members(goal, *whole);
    parts.erase(parts.begin());
  }
  GoalParts out;
  std::vector<std::string> conditions;
  for (const Piece part : parts) {
    (is_constraint(goal, part, is_predicate) ? out.constraints : conditions).emplace_back(part.in(goal));
  }
  // A comment in what is joined ends with its line.
  out.condition = conditions.size() == 1 ? conditions[0] : "(and " + join(conditions, "\n") + ")";
  return out;
}

Composed with_goal(std::string_view problem, const GoalParts& goal) {
  const std::optional<Piece> root = first_list(problem);
  if (!root) return {std::string(problem), count_lines(problem) + 1};
  std::string text(problem);
  std::vector<std::string> constraints;
  std::vector<std::string> preferences;
  for (const Piece section : members(problem, *root)) {
    const std::string name = head(problem, section);
    if (name == ":goal") {
      for (const Piece part : members(problem, section)) {
        if (problem[part.begin] == '(') find_preferences(problem, part, preferences);
      }
      erase(text, section);
    }
    if (name == ":constraints" && !goal.constraints.empty()) {
      const std::vector<Piece> parts = members(problem, section);
      for (std::size_t i = 1; i < parts.size(); ++i) constraints.emplace_back(parts[i].in(problem));
      erase(text, section);
    }
  }
  constraints.insert(constraints.end(), goal.constraints.begin(), goal.constraints.end());
  text.resize(root->end - 1);
  Composed out;
  out.first_line = count_lines(text) + 1;
  text += preferences.empty() ? "\n(:goal " + goal.condition + "\n)"
                              : "\n(:goal (and " + goal.condition + "\n" + join(preferences, "\n") + "\n))";
  if (!goal.constraints.empty()) text += "\n(:constraints (and " + join(constraints, "\n") + "\n))";
  out.text = text + ")\n";
  return out;
}

namespace {

void add_to(Diagnostics& out, const Diagnostic& one, Diagnostic::Position where) {
  one.severity == Diagnostic::Severity::kError ? out.error(std::move(where), one.message, one.hint)
                                               : out.warning(std::move(where), one.message, one.hint);
}

bool is_behind(const Diagnostic& one, std::string_view problem_name, std::size_t first_line) {
  return one.where.file == problem_name && one.where.line >= first_line;
}

}  // namespace

Diagnostics about_goal(const Diagnostics& all, std::string_view problem_name, std::size_t first_line) {
  Diagnostics out;
  for (const Diagnostic& one : all.items()) {
    add_to(out, one, is_behind(one, problem_name, first_line) ? Diagnostic::Position{"goal", 0, 0} : one.where);
  }
  return out;
}

Diagnostics without_goal(const Diagnostics& all, std::string_view problem_name, std::size_t first_line) {
  Diagnostics out;
  for (const Diagnostic& one : all.items()) {
    if (!is_behind(one, problem_name, first_line)) add_to(out, one, one.where);
  }
  return out;
}

namespace {

// A section of a problem: whether there is one, and whether it asks for something. Anything but one empty condition is for the
// parser to judge.
struct Asked {
  bool there = false;
  bool something = false;
};
Asked asked_in(std::string_view problem, Piece root, std::string_view name) {
  for (const Piece section : members(problem, root)) {
    if (head(problem, section) != name) continue;
    const std::vector<Piece> parts = members(problem, section);
    return {true, parts.size() != 2 || !asks_nothing(problem, parts[1])};
  }
  return {};
}

}  // namespace

bool states_goal(std::string_view problem) {
  const std::optional<Piece> root = first_list(problem);
  if (!root) return true;  // the parser will say what is wrong with it
  return asked_in(problem, *root, ":goal").something;
}

bool asks_for_something(std::string_view problem) {
  if (states_goal(problem)) return true;
  const Piece root = *first_list(problem);
  return asked_in(problem, root, ":goal").there && asked_in(problem, root, ":constraints").something;
}

bool looks_back(const GoalParts& goal) {
  return std::any_of(goal.constraints.begin(), goal.constraints.end(), [](const std::string& text) {
    std::optional<Piece> body = only_list(text);
    for (std::size_t i = 0; body && head(text, *body) == "forall" && i <= kDeepest; ++i) {
      const std::vector<Piece> parts = members(text, *body);
      if (parts.size() != 3) break;
      body = parts[2];
    }
    return body && head(text, *body) != "always";
  });
}

}  // namespace metactrl::goals
