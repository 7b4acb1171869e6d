// Do two tasks have the same plans? Their states are visited side by side, as far as a limit.
//
// In each pair of states the same actions must be legal, with the same costs (times `cost_factor` in the second task),
// and both or none must be a goal. With `delayed` the second task may notice one step later that a trajectory
// constraint is broken: an action that only it allows must lead to a state that is no goal and allows nothing.
#ifndef METACTRL_TESTS_SUPPORT_SAME_PLANS_H_
#define METACTRL_TESTS_SUPPORT_SAME_PLANS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/task.h"

namespace metactrl::testing {

class SamePlans {
 public:
  SamePlans(const Task& first, const Task& second, bool delayed, std::size_t limit, double cost_factor = 1)
      : first_(first), second_(second), delayed_(delayed), limit_(limit), cost_factor_(cost_factor) {}

  // Stops at the first difference, which is a failure of the test.
  void run() {
    if (first_.initially_violated()) return expect_dead(second_.initial_state(), "the initial state");
    visit(first_.initial_state(), second_.initial_state(), "");
    while (!queue_.empty() && !::testing::Test::HasFailure()) {
      const auto [a, b, path] = std::move(queue_.front());
      queue_.pop_front();
      compare(a, b, path);
    }
  }

  std::size_t num_states() const { return seen_.size(); }
  std::size_t num_goals() const { return goals_; }

 private:
  struct Pair {
    State first;
    State second;
    std::string path;
  };
  using Key = std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>>;

  void visit(const State& a, const State& b, const std::string& path) {
    if (seen_.size() >= limit_) return;
    Key key{{a.words().begin(), a.words().end()}, {b.words().begin(), b.words().end()}};
    if (seen_.insert(std::move(key)).second) queue_.push_back({a, b, path});
  }

  static std::map<std::string, ActionId> legal(const Task& task, const State& state) {
    std::map<std::string, ActionId> out;
    for (const ActionId action : task.applicable_actions(state)) out.emplace(task.text(action), action);
    return out;
  }

  void expect_dead(const State& state, const std::string& path) {
    EXPECT_FALSE(second_.is_goal(state)) << path;
    EXPECT_TRUE(legal(second_, state).empty()) << path;
  }

  void compare(const State& a, const State& b, const std::string& path) {
    EXPECT_EQ(first_.is_goal(a), second_.is_goal(b)) << "after" << path;
    goals_ += first_.is_goal(a) ? 1 : 0;
    const std::map<std::string, ActionId> ours = legal(first_, a);
    const std::map<std::string, ActionId> theirs = legal(second_, b);
    for (const auto& [text, action] : ours) {
      const auto other = theirs.find(text);
      if (other == theirs.end()) {
        ADD_FAILURE() << text << " is not legal after" << path;
        continue;
      }
      EXPECT_DOUBLE_EQ(first_.cost(action) * cost_factor_, second_.cost(other->second)) << text;
      visit(*first_.apply(a, action), *second_.apply(b, other->second), path + " " + text);
    }
    for (const auto& [text, action] : theirs) {
      if (ours.contains(text)) continue;
      EXPECT_TRUE(delayed_) << text << " should not be legal after" << path;
      expect_dead(*second_.apply(b, action), path + " " + text);
    }
  }

  const Task& first_;
  const Task& second_;
  bool delayed_;
  std::size_t limit_;
  double cost_factor_;
  std::deque<Pair> queue_;
  std::set<Key> seen_;
  std::size_t goals_ = 0;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_SAME_PLANS_H_
