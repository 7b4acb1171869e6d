// Executes plans of Watch-And-Help strictly: only what every public executor of its actions accepts.
//
//     Executor executor(*task.scene);
//     std::optional<Failure> failure = executor.execute({"WALK", {"fridge", 104}});
//     if (!failure) judge(task.goal, *task.scene, executor.view());
//
// Rules: those of VirtualHome's graph executor, and in addition a thing is put only into containers and onto surfaces,
// CLOSE and SWITCHON need a free hand, what can be opened is closed when it is switched on, and near is only what the
// robot walked to, what is in it or on it, what it is in or on, what is held and what was just put down.
//
// Shares nothing with the domain in domains/watch-and-help: a mistake in one of them shows up as a disagreement.
// The scene must outlive the executor. Not for use by several threads at once.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_EXECUTOR_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/virtualhome/executor.h"
#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/watch_and_help/goal.h"

namespace metactrl::benchmarks::watch_and_help {

// How many things an action of this benchmark takes; nothing when it is none of WALK, GRAB, OPEN, CLOSE, SWITCHON,
// PUTIN, PUTBACK.
std::optional<std::size_t> arity(std::string_view action);

struct Failure {
  std::string rule;    // the rule that is broken, e.g. "not close", "inside closed"
  std::string reason;  // for a person
};

class Executor {
 public:
  explicit Executor(const Scene& scene);

  // Nothing when the action succeeded. After a failure the state is as before. The action is known, has the right
  // number of arguments, and they are in the scene.
  std::optional<Failure> execute(const virtualhome::Action& action);

  bool has_state(int id, State state) const;
  // ON and INSIDE.
  bool related(int x, Relation relation, int y) const;
  bool holds(int x) const;
  bool is_near(int x) const { return near_.contains(x); }
  // Of the state the executor is in when it is asked.
  GoalView view() const;

 private:
  using Check = std::optional<Failure>;

  std::vector<int>& targets(int x, Relation relation);
  const std::vector<int>& targets(int x, Relation relation) const;
  bool has(int x, Property property) const { return scene_.node(x).has(property); }
  void change_state(int x, State from, State to);
  Check broken(bool is, std::string_view rule, int x, std::string_view problem) const;
  Check need_near(int x, std::string_view rule) const;
  Check need_hand() const;
  std::optional<int> room(int x) const;

  Check walk(int x);
  Check grab(int x);
  Check open(int x);
  Check close(int x);
  Check switch_on(int x);
  Check put(int x, int y, Relation relation);

  const Scene& scene_;
  std::vector<std::uint32_t> states_;     // by index in the scene, a bit per state
  std::vector<std::vector<int>> on_;      // by index: what it is on
  std::vector<std::vector<int>> inside_;  // by index: what it is in, rooms included
  std::vector<int> held_;
  std::set<int> near_;
};

}  // namespace metactrl::benchmarks::watch_and_help

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_EXECUTOR_H_
