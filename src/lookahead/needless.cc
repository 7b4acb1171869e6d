#include "lookahead/needless.h"

#include <algorithm>
#include <numeric>

namespace metactrl::lookahead {

namespace {

// One pass over the steps at `kept`; false when all of them stay.
bool leave_out_some(const task::Program& program, const task::Word* state, std::span<const ActionId> plan,
                    std::vector<std::size_t>& kept, internal::Meter& meter) {
  const std::size_t before = kept.size();
  std::vector<task::Word> prefix(state, state + program.total_words());
  std::vector<task::Word> current;
  std::vector<task::Word> next(prefix.size());
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < kept.size();) {
    // Without this step, and without what is no longer possible then.
    current = prefix;
    rest.clear();
    for (std::size_t j = i + 1; j < kept.size(); ++j) {
      const ActionId action = plan[kept[j]];
      meter.step(program.total_words());
      if (!program.applicable(current.data(), action) || !program.apply(current.data(), action, next.data())) continue;
      current.swap(next);
      rest.push_back(kept[j]);
    }
    if (program.is_goal(current.data())) {
      kept.resize(i);
      kept.insert(kept.end(), rest.begin(), rest.end());
      continue;
    }
    program.apply(prefix.data(), plan[kept[i]], next.data());
    prefix.swap(next);
    ++i;
  }
  return kept.size() < before;
}

}  // namespace

std::vector<std::size_t> needless_steps(const task::Program& program, const task::Word* state,
                                        std::span<const ActionId> plan, internal::Meter& meter) {
  std::vector<std::size_t> kept(plan.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  while (leave_out_some(program, state, plan, kept, meter)) {
  }
  std::vector<std::size_t> needless;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!std::binary_search(kept.begin(), kept.end(), i)) needless.push_back(i);
  }
  return needless;
}

std::vector<ActionId> without_steps(std::span<const ActionId> plan, std::span<const std::size_t> needless) {
  std::vector<ActionId> out;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!std::binary_search(needless.begin(), needless.end(), i)) out.push_back(plan[i]);
  }
  return out;
}

}  // namespace metactrl::lookahead
