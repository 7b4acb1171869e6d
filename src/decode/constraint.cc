// Compiling a constraint: the spelling, the lookahead and the token automaton, one after the other, each timed.
#include "metactrl/constraint.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "decode/entry_mass.h"
#include "support/stopwatch.h"

namespace metactrl {

namespace {

// Seconds since it was made or last asked.
}  // namespace

Constraint::Constraint(Task task, PlanSpelling spelling, std::shared_ptr<const Vocabulary> vocabulary)
    : task_(std::move(task)), spelling_(std::move(spelling)), vocabulary_(std::move(vocabulary)) {}

std::shared_ptr<const Constraint> Constraint::compile(const Task& task, const PlanFormat& format,
                                                      std::shared_ptr<const Vocabulary> vocabulary,
                                                      const ConstraintOptions& options, const Stop& stop) {
  if (vocabulary == nullptr) throw std::invalid_argument("Constraint::compile: no vocabulary");
  internal::Stopwatch watch;
  std::shared_ptr<Constraint> out(new Constraint(task, PlanSpelling(format, task), std::move(vocabulary)));
  out->times_.format = watch.lap();
  out->lookahead_ = Lookahead::compile(task, options.lookahead, stop);
  out->times_.lookahead = watch.lap();
  // A plan may be as long as the lookahead says, and each of its actions needs a number in numbered formats.
  AutomatonOptions automaton = options.automaton;
  automaton.max_actions = std::max(automaton.max_actions, out->lookahead_->horizon());
  out->automaton_ = TokenAutomaton::compile(out->spelling_, *out->vocabulary_, automaton);
  out->entry_counts_ = std::make_shared<const EntryCounts>(*out->automaton_, task);
  out->times_.automaton = watch.lap();
  return out;
}

std::size_t Constraint::memory_bytes() const {
  return sizeof(*this) + task_.memory_bytes() + spelling_.memory_bytes() + automaton_->memory_bytes() +
         entry_counts_->memory_bytes() + lookahead_->memory_bytes();
}

}  // namespace metactrl
