// Walks a TokenAutomaton: the language it accepts, and its own way to write a plan.
#ifndef METACTRL_TESTS_SUPPORT_TOKEN_WALK_H_
#define METACTRL_TESTS_SUPPORT_TOKEN_WALK_H_

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "text/token_automaton.h"

namespace metactrl::testing {

struct WalkedPlan {
  std::vector<ActionId> actions;
  std::vector<std::uint32_t> separators;
  bool operator==(const WalkedPlan&) const = default;
};

// The tokens of a plan, without the end of turn.
inline std::vector<TokenId> tokens_of_plan(const TokenAutomaton& automaton, const WalkedPlan& plan) {
  std::vector<TokenId> out;
  const auto append = [&](std::span<const TokenId> tokens) { out.insert(out.end(), tokens.begin(), tokens.end()); };
  if (plan.actions.empty()) {
    append(automaton.empty_plan());
    return out;
  }
  append(automaton.opening());
  std::uint32_t group = automaton.first_group();
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    append(automaton.prefix(i + 1));
    const bool last = i + 1 == plan.actions.size();
    append(automaton.text_tokens(
        automaton.rank(plan.actions[i], last ? TokenAutomaton::kClose : plan.separators[i], group)));
    if (!last) group = automaton.group_after(plan.separators[i]);
  }
  return out;
}

// The plan that these tokens and an end of turn are accepted as, reading them from left to right by narrow() alone.
inline std::optional<WalkedPlan> walk(const TokenAutomaton& automaton, std::span<const TokenId> tokens) {
  WalkedPlan plan;
  if (std::ranges::equal(tokens, automaton.empty_plan())) return plan;
  std::size_t at = 0;
  const auto skip = [&](std::span<const TokenId> part) {
    if (tokens.size() - at < part.size() || !std::ranges::equal(tokens.subspan(at, part.size()), part)) return false;
    at += part.size();
    return true;
  };
  if (!skip(automaton.opening())) return std::nullopt;
  std::uint32_t group = automaton.first_group();
  while (true) {
    if (plan.actions.size() >= automaton.max_actions() || !skip(automaton.prefix(plan.actions.size() + 1)))
      return std::nullopt;
    auto [begin, end] = automaton.group(group);
    for (std::size_t depth = 0; begin == end || automaton.tokens(begin).size() > depth; ++depth, ++at) {
      // Behind the last token comes the end of the turn.
      if (begin == end || at > tokens.size()) return std::nullopt;
      const TokenId token = at < tokens.size() ? tokens[at] : TokenAutomaton::kEnd;
      std::tie(begin, end) = automaton.narrow(begin, end, depth, token);
    }
    const TokenAutomaton::Entry& entry = automaton.entry(begin);
    plan.actions.push_back(entry.action);
    if (entry.next == TokenAutomaton::kClose) {
      if (at >= tokens.size()) return plan;
      return std::nullopt;
    }
    plan.separators.push_back(entry.next);
    group = automaton.group_after(entry.next);
  }
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_TOKEN_WALK_H_
