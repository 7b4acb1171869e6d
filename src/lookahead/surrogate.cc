#include "lookahead/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "metactrl/error.h"
#include "metactrl/lookahead.h"

namespace metactrl::lookahead {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

double log_or_none(double value) { return value > 0 ? std::log(value) : kMinusInfinity; }

}  // namespace

internal::IdVector<ObjectId, std::uint32_t> object_slots(const task::Definition& definition) {
  internal::IdVector<ObjectId, std::uint32_t> slots(definition.objects.size(), kNoSlot);
  for (const ActionId action : definition.actions.all()) {
    for (const ObjectId object : definition.actions.arguments(action)) slots[object] = 0;
  }
  std::uint32_t next = 0;
  for (std::uint32_t& slot : slots) {
    if (slot != kNoSlot) slot = next++;
  }
  return slots;
}

Surrogate::Surrogate(const task::Program& program, const Hmm& hmm) : hidden_(hmm.num_hidden()) {
  const Alphabet& alphabet = hmm.alphabet();
  if (!alphabet.is_meta()) {
    throw InputError("trained lookahead", "the model is one of tokens, not of actions",
                     "train one at the meta level, and use it for the guidance");
  }
  start_.assign(hmm.initial().begin(), hmm.initial().end());
  transition_.assign(hmm.transition().begin(), hmm.transition().end());
  const task::Definition& definition = program.definition();
  std::vector<SymbolId> names;
  for (const task::ActionName& name : definition.action_names) names.push_back(alphabet.action(name.name));
  std::vector<SymbolId> objects;
  std::size_t unused = 0;
  for (const std::uint32_t slot : object_slots(definition)) {
    objects.push_back(alphabet.slot(slot));
    if (slot == kNoSlot) ++unused;
  }
  if (!names.empty() &&
      std::count(names.begin(), names.end(), alphabet.unknown()) == static_cast<std::ptrdiff_t>(names.size())) {
    throw InputError(
        "trained lookahead",
        "the model knows none of the task's actions, such as '" + definition.action_names.front().name + "'",
        "train one on plans of this domain");
  }
  // Of those without a symbol of their own, so many never occur: the others share UNK. (Where none is left, the share
  // is never read.)
  const auto add_letters = [&](const std::vector<SymbolId>& symbols, std::size_t never) {
    const auto unknown =
        static_cast<std::size_t>(std::count(symbols.begin(), symbols.end(), alphabet.unknown())) - never;
    for (const SymbolId symbol : symbols) {
      const double share =
          symbol == alphabet.unknown() ? 1 / static_cast<double>(std::max<std::size_t>(1, unknown)) : 1;
      for (const float value : hmm.emission(symbol)) emission_.push_back(share * static_cast<double>(value));
    }
  };
  add_letters(names, 0);
  add_letters(objects, unused);
  add_letters({alphabet.end}, 0);
  first_letter_.push_back(0);
  for (const ActionId action : definition.actions.all()) {
    letters_.push_back(internal::index(definition.actions.name(action)));
    for (const ObjectId object : definition.actions.arguments(action)) {
      letters_.push_back(static_cast<std::uint32_t>(names.size()) + internal::index(object));
    }
    first_letter_.push_back(static_cast<std::uint32_t>(letters_.size()));
  }
  end_ahead_.resize(hidden_);
  const std::span<const double> end = emission(end_letter());
  for (std::size_t z = 0; z < hidden_; ++z) {
    for (std::size_t to = 0; to < hidden_; ++to) end_ahead_[z] += transition_[z * hidden_ + to] * end[to];
  }
}

void Surrogate::move(std::span<const double> in, std::vector<double>& out) const {
  out.assign(hidden_, 0);
  for (std::size_t z = 0; z < hidden_; ++z) {
    if (in[z] == 0) continue;
    const double* const row = transition_.data() + z * hidden_;
    for (std::size_t to = 0; to < hidden_; ++to) out[to] += in[z] * row[to];
  }
}

double Surrogate::log_end(std::span<const double> belief) const {
  const std::span<const double> end = emission(end_letter());
  double sum = 0;
  for (std::size_t z = 0; z < hidden_; ++z) sum += belief[z] * end[z];
  return log_or_none(sum);
}

double Surrogate::advance(std::vector<double>& belief, ActionId action) const {
  BeliefCursor cursor(*this);
  cursor.begin(belief);
  cursor.read(action);
  cursor.after(belief);
  return cursor.log_probability();
}

double Surrogate::log_plan(std::vector<double> belief, std::span<const ActionId> plan) const {
  double result = 0;
  for (const ActionId action : plan) result += advance(belief, action);
  return result + log_end(belief);
}

void BeliefCursor::begin(std::span<const double> belief) {
  path_.clear();
  if (beliefs_.empty()) beliefs_.emplace_back();
  beliefs_[0].assign(belief.begin(), belief.end());
  log_scale_.assign(1, 0);
}

void BeliefCursor::read(ActionId action) {
  const std::span<const std::uint32_t> letters = surrogate_->letters(action);
  std::size_t known = 0;
  while (known < path_.size() && known + 1 < letters.size() && path_[known] == letters[known]) ++known;
  path_.resize(known);
  log_scale_.resize(known + 1);
  for (; known + 1 < letters.size(); ++known) {
    const std::span<const double> emitted = surrogate_->emission(letters[known]);
    scratch_.resize(emitted.size());
    double sum = 0;
    for (std::size_t z = 0; z < emitted.size(); ++z) sum += scratch_[z] = beliefs_[known][z] * emitted[z];
    if (sum > 0) {
      for (double& value : scratch_) value /= sum;
    }
    if (beliefs_.size() < known + 2) beliefs_.emplace_back();
    surrogate_->move(scratch_, beliefs_[known + 1]);
    path_.push_back(letters[known]);
    log_scale_.push_back(log_scale_[known] + log_or_none(sum));
  }
  const std::span<const double> emitted = surrogate_->emission(letters.back());
  behind_.resize(emitted.size());
  total_ = 0;
  for (std::size_t z = 0; z < emitted.size(); ++z) total_ += behind_[z] = beliefs_[known][z] * emitted[z];
  log_total_scale_ = log_scale_[known];
}

double BeliefCursor::log_probability() const { return log_or_none(total_) + log_total_scale_; }

void BeliefCursor::after(std::vector<double>& belief) const {
  if (log_probability() == kMinusInfinity) {
    belief = surrogate_->start();
    return;
  }
  surrogate_->move(behind_, belief);
  for (double& value : belief) value /= total_;
}

double BeliefCursor::log_end() const {
  if (log_probability() == kMinusInfinity) return surrogate_->log_end(surrogate_->start());
  double sum = 0;
  for (std::size_t z = 0; z < behind_.size(); ++z) sum += behind_[z] * surrogate_->end_ahead_[z];
  return log_or_none(sum / total_);
}

}  // namespace metactrl::lookahead

namespace metactrl {

std::vector<SymbolId> plan_symbols(const Task& task, const Alphabet& alphabet, std::span<const ActionId> plan) {
  const internal::IdVector<ObjectId, std::uint32_t> slots = lookahead::object_slots(task.program().definition());
  std::vector<SymbolId> symbols;
  for (const ActionId action : plan) {
    symbols.push_back(alphabet.action(task.action_name(task.name_of(action))));
    for (const ObjectId object : task.arguments(action)) symbols.push_back(alphabet.slot(slots[object]));
  }
  symbols.push_back(alphabet.end);
  return symbols;
}

}  // namespace metactrl
