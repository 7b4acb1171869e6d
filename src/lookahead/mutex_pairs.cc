// All actions are gone through until none makes a pair possible any more. An action can be taken where its needs are possible two
// by two. What it makes holds together with what else it makes, and with whatever may hold beside each of its needs and is
// not undone by it.
#include "lookahead/mutex_pairs.h"

#include <utility>

namespace metactrl::lookahead {

MutexPairs::MutexPairs(const LiteralTask& task)
    : task_(&task), possible_(task.num_literals), together_(task.num_literals, LiteralSet(task.num_literals)) {
  for (const LiteralCode literal : task.initial) possible_.insert(literal);
  for (const LiteralCode literal : task.initial) together_[literal] = possible_;
}

std::optional<MutexPairs> MutexPairs::find(const LiteralTask& task, std::uint64_t& work, internal::Meter& meter) {
  const std::uint64_t words = (task.num_literals + 63) / 64;
  const auto spend = [&](std::uint64_t steps) {
    meter.step(steps);
    const bool enough = steps <= work;
    work -= enough ? steps : work;
    return enough;
  };
  if (!spend(task.num_literals * words)) return std::nullopt;
  MutexPairs pairs(task);
  for (bool changed = true; changed;) {
    changed = false;
    for (const LiteralAction& action : task.actions) {
      std::size_t lists = 4 + action.needs.size() + action.made.size();
      for (const LiteralAction::Change& change : action.conditional)
        lists += 4 + change.when.size() + change.made.size();
      if (!spend(lists * words)) return std::nullopt;
      changed = pairs.learn(action) || changed;
    }
  }
  return pairs;
}

bool MutexPairs::learn(const LiteralAction& action) {
  LiteralSet beside = possible_;
  for (const LiteralCode need : action.needs) beside &= together_[need];
  if (!beside.contains_all(action.needs)) return false;
  LiteralSet made(task_->num_literals);
  for (const LiteralCode literal : action.made) made.insert(literal);
  LiteralSet undone(task_->num_literals);
  for (const LiteralCode literal : action.undone) undone.insert(literal);
  // Conditional changes may happen together, whichever of them.
  std::vector<std::pair<const LiteralAction::Change*, LiteralSet>> changes;
  LiteralSet sometimes(task_->num_literals);
  for (const LiteralAction::Change& change : action.conditional) {
    LiteralSet with = beside;
    for (const LiteralCode literal : change.when) with &= together_[literal];
    if (!with.contains_all(change.when) || !with.contains_all(action.needs)) continue;
    for (const LiteralCode literal : change.made) sometimes.insert(literal);
    changes.emplace_back(&change, std::move(with));
  }
  beside -= undone;
  beside |= made;
  beside |= sometimes;
  bool changed = false;
  for (const LiteralCode literal : action.made) changed = allow(literal, beside) || changed;
  for (auto& [change, with] : changes) {
    with -= undone;
    with |= made;
    with |= sometimes;
    for (const LiteralCode literal : change->made) changed = allow(literal, with) || changed;
  }
  return changed;
}

bool MutexPairs::allow(LiteralCode made, const LiteralSet& others) {
  LiteralSet fresh = others;
  fresh.erase(opposite(made));
  fresh.insert(made);
  fresh -= together_[made];
  bool changed = false;
  fresh.for_each([&](LiteralCode other) {
    together_[made].insert(other);
    together_[other].insert(made);
    changed = true;
  });
  possible_.insert(made);
  return changed;
}

}  // namespace metactrl::lookahead
