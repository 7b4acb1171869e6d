// Compiling a constraint: the spelling, the lookahead and the token automaton, one after the other, each timed.
#include "metactrl/constraint.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "decode/constraint_parts.h"
#include "support/stopwatch.h"

namespace metactrl {

Constraint::Constraint(Task task, PlanSpelling spelling, std::shared_ptr<const Vocabulary> vocabulary)
    : task_(std::move(task)), spelling_(std::move(spelling)), vocabulary_(std::move(vocabulary)) {}

std::shared_ptr<const Constraint> Constraint::compile(const Task& task, const PlanFormat& format,
                                                      std::shared_ptr<const Vocabulary> vocabulary,
                                                      const ConstraintOptions& options, const Stop& stop) {
  if (vocabulary == nullptr) throw std::invalid_argument("Constraint::compile: no vocabulary");
  internal::Stopwatch watch;
  std::shared_ptr<Constraint> out(new Constraint(task, PlanSpelling(format, task), std::move(vocabulary)));
  const auto parts = std::make_shared<Parts>();
  parts->times.format = watch.lap();
  out->lookahead_ = Lookahead::compile(task, options.lookahead, stop);
  parts->times.lookahead = watch.lap();
  // A plan may be as long as the lookahead says, and each of its actions needs a number in numbered formats.
  const unsigned max_actions = std::max(options.max_actions, out->lookahead_->horizon());
  parts->automaton = TokenAutomaton::compile(out->spelling_, *out->vocabulary_,
                                             {options.context, max_actions, options.tokenization}, stop);
  parts->entry_counts = std::make_shared<const EntryCounts>(*parts->automaton, task);
  parts->times.automaton = watch.lap();
  out->parts_ = parts;
  return out;
}

const TokenAutomaton& Constraint::automaton() const { return *parts_->automaton; }

std::size_t Constraint::memory_bytes() const {
  return sizeof(*this) + task_.memory_bytes() + spelling_.memory_bytes() + parts_->automaton->memory_bytes() +
         parts_->entry_counts->memory_bytes() + lookahead_->memory_bytes();
}

}  // namespace metactrl
