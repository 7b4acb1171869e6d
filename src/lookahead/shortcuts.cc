// What the rest of the plan needs (plan_needs.h) is a guess: what it overlooks shows when the plan with the shortcut is
// executed, and nothing else decides.
//
// From each state of the plan, depth-first in place: an action is applied, the last place of the plan is looked for whose
// needs hold, and the action is undone. The shortcut that saves most is taken, and the search goes on behind it.
#include "lookahead/shortcuts.h"

#include <algorithm>
#include <utility>

#include "lookahead/plan_needs.h"
#include "lookahead/spending.h"

namespace metactrl::lookahead {

namespace {

using task::Literal;
using task::Word;

class ShortcutFinder {
 public:
  ShortcutFinder(const ActionSpace& space, const ActionCosts& costs, const ShortcutLimits& limits,
                 internal::Meter& meter)
      : space_(space), program_(space.program()), costs_(costs), limits_(limits), meter_(meter) {}

  // Whether `plan` became a better one. Where an action cannot be applied in place it ends.
  bool run(const Word* state, std::vector<ActionId>& plan) {
    bool found = false;
    now_.assign(state, state + program_.total_words());
    find_needs(plan);
    for (std::size_t place = 0; place < plan.size() && work_ < limits_.work;) {
      best_ = {};
      path_.clear();
      search(plan, place, 0);
      if (!best_.path.empty() && executes(plan)) {
        std::vector<ActionId> better(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(place));
        better.insert(better.end(), best_.path.begin(), best_.path.end());
        better.insert(better.end(), plan.begin() + static_cast<std::ptrdiff_t>(best_.to), plan.end());
        plan = std::move(better);
        find_needs(plan);
        found = true;
        continue;  // from the same state
      }
      if (!program_.apply_in_place(now_.data(), plan[place])) return found;
      ++place;
    }
    return found;
  }

  std::uint64_t work() const { return work_; }

 private:
  struct Shortcut {
    std::vector<ActionId> path;
    std::size_t to = 0;  // the place of the plan at which it goes on
    Cost saved = 0;
    std::size_t fewer = 0;  // actions
  };

  // Words as they were before an action.
  using Before = std::vector<std::pair<std::uint32_t, Word>>;

  void find_needs(std::span<const ActionId> plan) {
    needs_ = needs_along(program_, plan);
    for (const std::vector<std::uint32_t>& needs : needs_) work_ += needs.size();
    spent_before_.assign(plan.size() + 1, 0);
    for (std::size_t i = 0; i < plan.size(); ++i) spent_before_[i + 1] = spent_before_[i] + costs_.of(plan[i]);
  }

  void search(std::span<const ActionId> plan, std::size_t place, Cost cost) {
    std::vector<ActionId> actions;
    space_.applicable(now_.data(), actions);
    work_ += copy_work(program_);
    meter_.step(copy_work(program_));
    for (const ActionId action : actions) {
      if (work_ >= limits_.work) return;
      Before before = words_of(action);
      if (!program_.apply_in_place(now_.data(), action)) continue;
      path_.push_back(action);
      look(plan, place, cost + costs_.of(action));
      if (path_.size() < limits_.actions) search(plan, place, cost + costs_.of(action));
      path_.pop_back();
      for (const auto& [word, value] : before) now_[word] = value;
    }
  }

  Before words_of(ActionId a) const {
    Before before;
    const task::ActionProgram& action = program_.action(a);
    for (const task::WordEdit& edit : program_.edits(action)) before.emplace_back(edit.word, now_[edit.word]);
    for (const task::ConditionalEffect& effect : program_.effects(action)) {
      for (const task::WordEdit& edit : program_.edits(effect)) before.emplace_back(edit.word, now_[edit.word]);
    }
    return before;
  }

  // The last place at which the plan can go on from here, if that saves more than the best so far.
  void look(std::span<const ActionId> plan, std::size_t place, Cost cost) {
    for (std::size_t to = plan.size(); to > place + path_.size(); --to) {
      ++work_;
      const Cost replaced = spent_before_[to] - spent_before_[place];
      const std::size_t fewer = to - place - path_.size();
      if (replaced < cost) return;
      if (std::pair(replaced - cost, fewer) <= std::pair(best_.saved, best_.fewer)) return;
      const bool suffices =
          std::ranges::all_of(needs_[to], [this](std::uint32_t code) { return Literal{code}.holds(now_.data()); });
      if (!suffices) continue;
      best_ = {path_, to, replaced - cost, fewer};
      return;
    }
  }

  // The shortcut and the rest of the plan, from the state at hand.
  bool executes(std::span<const ActionId> plan) {
    const std::vector<Word> before = now_;
    const auto step = [this](ActionId action) {
      work_ += copy_work(program_);
      return program_.applicable(now_.data(), action) && program_.apply_in_place(now_.data(), action);
    };
    const bool good = std::ranges::all_of(best_.path, step) &&
                      std::all_of(plan.begin() + static_cast<std::ptrdiff_t>(best_.to), plan.end(), step) &&
                      program_.is_goal(now_.data());
    now_ = before;
    return good;
  }

  const ActionSpace& space_;
  const task::Program& program_;
  const ActionCosts& costs_;
  const ShortcutLimits& limits_;
  internal::Meter& meter_;
  std::vector<Word> now_;                          // the state of the plan, or of the shortcut that is tried
  std::vector<ActionId> path_;                     // of that shortcut
  std::vector<std::vector<std::uint32_t>> needs_;  // by place: literals, ascending
  std::vector<Cost> spent_before_;                 // by place
  Shortcut best_;
  std::uint64_t work_ = 0;
};

}  // namespace

std::optional<std::vector<ActionId>> take_shortcuts(const ActionSpace& space, const ActionCosts& costs,
                                                    const Word* state, std::vector<ActionId> plan,
                                                    const ShortcutLimits& limits, internal::Meter& meter,
                                                    std::uint64_t& spent) {
  ShortcutFinder finder(space, costs, limits, meter);
  const bool found = finder.run(state, plan);
  spent += finder.work();
  return found ? std::optional(std::move(plan)) : std::nullopt;
}

}  // namespace metactrl::lookahead
