// A plan improves every state along it, from its end to its start: the tail that hangs at a successor may have been
// improved by an earlier, shorter plan, and what is noted at the state before counts on from there. So lengths decrease
// by one along every plan that is followed, and following ends.
#include "lookahead/known_plans.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lookahead/uniform.h"

namespace metactrl::lookahead {

using task::Word;

KnownPlans::KnownPlans(const task::Program& program, bool whole)
    : program_(&program),
      whole_(whole),
      log_alphabet_(std::log(static_cast<double>(alphabet_size(program)))),
      table_(program.relevant_words()),
      walk_(program.total_words()),
      walk_next_(program.total_words()) {}

// Scratch memory is not copied.
KnownPlans::KnownPlans(const KnownPlans& other) : KnownPlans(*other.program_, other.whole_) {
  for (const StoredId id : ids<StoredId>(other.table_.size())) table_.insert(other.table_.words(id));
  knowledge_ = other.knowledge_;
  whole_plans_ = other.whole_plans_;
  changes_ = other.changes_;
  marked_ = other.marked_;
}

StoredId KnownPlans::intern(const Word* state) {
  // First the room: a state of the table has its knowledge, even when memory ends in between.
  if (knowledge_.size() <= table_.size()) knowledge_.resize(table_.size() + 1);
  return table_.insert(state).first;
}

KnownPlans::Knowledge& KnownPlans::change(StoredId id) {
  Knowledge& known = knowledge_[id];
  if (internal::index(id) < marked_) changes_.push_back({id, known});
  return known;
}

KnownPlans::Mark KnownPlans::mark() noexcept {
  marked_ = table_.size();
  return {marked_, changes_.size(), whole_plans_.size()};
}

void KnownPlans::back_to(const Mark& mark) noexcept {
  for (; changes_.size() > mark.changes; changes_.pop_back()) knowledge_[changes_.back().id] = changes_.back().before;
  table_.truncate(mark.states);
  knowledge_.resize(mark.states);
  whole_plans_.resize(mark.whole_plans);
  marked_ = mark.states;
  witness_.clear();
}

StoredId KnownPlans::remember(const Word* state, const std::vector<ActionId>& plan) {
  if (whole_) return remember_whole(state, plan);
  std::vector<StoredId> passed;
  std::copy(state, state + program_->total_words(), walk_.begin());
  passed.push_back(intern(walk_.data()));
  for (const ActionId action : plan) {
    advance(action);
    passed.push_back(intern(walk_.data()));
  }
  double log_probability = -log_alphabet_;  // the end
  for (std::size_t i = passed.size(); i-- > 0;) {
    const auto length = static_cast<unsigned>(passed.size() - 1 - i);
    if (i + 1 < passed.size()) {
      const auto arity = program_->definition().actions.arguments(plan[i]).size();
      log_probability = knowledge_[passed[i + 1]].log_probability - static_cast<double>(1 + arity) * log_alphabet_;
    }
    const unsigned improved = i + 1 < passed.size() ? knowledge_[passed[i + 1]].length + 1 : length;
    if (knowledge_[passed[i]].length <= improved) continue;
    Knowledge& known = change(passed[i]);
    known.length = improved;
    known.first_action = i + 1 < passed.size() ? plan[i] : ActionId{};
    known.log_probability = log_probability;
  }
  return passed.front();
}

StoredId KnownPlans::remember_whole(const Word* state, const std::vector<ActionId>& plan) {
  const StoredId id = intern(state);
  if (knowledge_[id].length <= plan.size()) return id;
  whole_plans_.push_back(plan);
  Knowledge& known = change(id);
  known.whole = whole_plans_.size() - 1;
  known.length = static_cast<unsigned>(plan.size());
  std::size_t symbols = 1;  // the end
  for (const ActionId action : plan) symbols += 1 + program_->definition().actions.arguments(action).size();
  known.log_probability = -log_alphabet_ * static_cast<double>(symbols);
  return id;
}

void KnownPlans::inherit(StoredId id, const Word* before) {
  const std::optional<StoredId> origin = table_.find(before);
  if (!origin || knowledge_[*origin].refuted == 0) return;
  const unsigned refuted = knowledge_[*origin].refuted - 1;
  if (refuted > knowledge_[id].refuted) change(id).refuted = refuted;
}

std::vector<ActionId> KnownPlans::follow(StoredId id) {
  if (const std::size_t whole = knowledge_[id].whole; whole < whole_plans_.size()) return whole_plans_[whole];
  std::vector<ActionId> plan;
  const Word* words = table_.words(id);
  std::fill(walk_.begin(), walk_.end(), Word{0});
  std::copy(words, words + program_->relevant_words(), walk_.begin());
  program_->complete(walk_.data());
  while (knowledge_[id].length > 0) {
    plan.push_back(knowledge_[id].first_action);
    advance(plan.back());
    id = *table_.find(walk_.data());
  }
  return plan;
}

const std::vector<ActionId>* KnownPlans::witness_of(const Word* state) {
  const std::optional<StoredId> id = table_.find(state);
  if (!id || knowledge_[*id].length == kInfinite) return nullptr;
  // All candidates of a question come from one state.
  if (*id != witness_id_ || witness_.size() != knowledge_[*id].length) {
    witness_ = follow(*id);
    witness_id_ = *id;
  }
  return &witness_;
}

void KnownPlans::advance(ActionId action) {
  program_->apply(walk_.data(), action, walk_next_.data());
  program_->project(walk_next_.data());
  walk_.swap(walk_next_);
}

}  // namespace metactrl::lookahead
