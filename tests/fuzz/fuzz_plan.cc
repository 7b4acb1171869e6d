// Arbitrary bytes as a plan: reading never crashes, and a plan that was read prints to text that reads as the same
// plan.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "metactrl/error.h"
#include "metactrl/task.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto plan = metactrl::parse_plan({reinterpret_cast<const char*>(data), size}, "fuzz.plan");
    std::string text;
    for (const metactrl::PlanStep& step : plan) text += metactrl::to_string(step) + "\n";
    if (metactrl::parse_plan(text, "again.plan") != plan) std::abort();
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
