// Arbitrary bytes as a SAS file: reading never crashes, and what is accepted means the same to the compiled task and to
// the reference interpreter along a walk chosen by the bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/exchange/sas.h"
#include "sas/sas.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void compare(const metactrl::Task& task, const metactrl::sas::SasReference& reference, const std::uint8_t* data,
             std::size_t size) {
  metactrl::State state = task.initial_state();
  auto values = reference.initial();
  for (std::size_t i = 0; i < size && i < 16 && reference.num_actions() > 0; ++i) {
    require(task.is_goal(state) == reference.goal_holds(values));
    const std::size_t action = data[size - 1 - i] % reference.num_actions();
    metactrl::PlanStep step;
    std::string_view rest = reference.action_name(action);
    while (!rest.empty()) {
      const std::size_t blank = rest.find(' ');
      std::string word(rest.substr(0, blank));
      if (step.action.empty()) {
        step.action = std::move(word);
      } else {
        step.arguments.push_back(std::move(word));
      }
      rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
    }
    const auto id = task.find(step);
    const auto next = reference.apply(values, action);
    require((id && task.legal(state, *id)) == next.has_value());
    if (!next) continue;
    state = *task.apply(state, *id);
    values = *next;
  }
}

// Small limits refuse what is larger, and nothing else.
void check_limits(std::string_view text, const metactrl::sas::SasTask& task) {
  metactrl::LoadOptions options;
  options.max_ground_actions = 2;
  options.max_ground_facts = 4;
  std::size_t facts = 0;
  for (const metactrl::sas::Variable& variable : task.variables) facts += variable.values.size();
  const bool fits = task.operators.size() <= 2 && facts <= 4;
  try {
    metactrl::load_sas_text(text, options);
    require(fits);
  } catch (const metactrl::InputError&) {
    require(!fits);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  metactrl::Diagnostics diagnostics;
  auto sas = std::make_shared<const metactrl::sas::SasTask>(metactrl::sas::parse(text, "fuzz.sas", diagnostics));
  try {
    const metactrl::Task task = metactrl::load_sas_text(text);
    require(!diagnostics.has_errors());
    check_limits(text, *sas);
    compare(task, metactrl::sas::SasReference(std::move(sas)), data, size);
  } catch (const metactrl::InputError& error) {
    require(error.diagnostics().has_errors());
  }
  return 0;
}
