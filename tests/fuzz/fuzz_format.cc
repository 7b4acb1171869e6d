// Fuzzes plan formats: the declaration reader, the proof and the parser. The input is a declaration, a line "====", and
// a text to read as a plan; without that line the text is empty.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/format.h"
#include "task/compile.h"
#include "task/definition.h"
#include "text/plan_reader.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

metactrl::Task small_task() {
  metactrl::task::Definition definition;
  definition.objects = {"a", "b_1", "a, b", "\"\\\n\t\r\x01_2"};
  definition.action_names = {{"wait", 0}, {"pick-up", 1}, {"stack", 2}};
  using metactrl::ActionNameId;
  using metactrl::ObjectId;
  constexpr ObjectId a{0};
  constexpr ObjectId b{1};
  constexpr ObjectId ab{2};
  constexpr ObjectId odd{3};
  const std::vector<metactrl::task::ActionSymbol> symbols{
      {ActionNameId{0}, {}},    {ActionNameId{1}, {a}},    {ActionNameId{1}, {b}},    {ActionNameId{1}, {ab}},
      {ActionNameId{1}, {odd}}, {ActionNameId{2}, {a, b}}, {ActionNameId{2}, {b, a}}, {ActionNameId{2}, {ab, ab}}};
  for (const metactrl::task::ActionSymbol& symbol : symbols) {
    metactrl::task::ActionDefinition action;
    action.symbol = symbol;
    definition.actions.push_back(action);
  }
  return metactrl::Task(metactrl::task::compile(std::move(definition)), nullptr);
}

void check_text(const metactrl::PlanSpelling& spelling, const std::string& text) {
  const metactrl::PlanSpelling::Parsed parsed = spelling.parse(text);
  check(parsed.bytes_read <= text.size());
  check(parsed.error.empty() == (parsed.bytes_read == text.size()));
  metactrl::text::PlanReader reader(spelling);
  for (const char c : text) reader.read(std::string_view(&c, 1));
  check(reader.result().actions == parsed.actions);
  check(reader.result().complete == parsed.complete);
  if (!parsed.complete) return;
  const std::string again = spelling.render(parsed.actions, parsed.separators);
  check(text.starts_with(again));
}

// Numbers of actions and separators that there are not.
void check_refusals(const metactrl::PlanSpelling& spelling) {
  using metactrl::ActionId;
  const std::vector<ActionId> two(2, ActionId{0});
  const std::vector<ActionId> none{static_cast<ActionId>(spelling.num_actions())};
  const std::vector<std::uint32_t> separator{1000};
  for (const bool action : {true, false}) {
    try {
      spelling.render(action ? none : two, action ? std::vector<std::uint32_t>() : separator);
    } catch (const metactrl::InputError&) {
      continue;
    }
    check(false);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const metactrl::Task task = small_task();
  const std::string input(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kSeparator = "====\n";
  const std::size_t split = input.find(kSeparator);
  const std::string declaration = input.substr(0, split);
  const std::string text = split == std::string::npos ? std::string() : input.substr(split + kSeparator.size());
  try {
    metactrl::PlanSpelling made(metactrl::PlanFormat::parse(declaration, "fuzz.format"), task);
    const metactrl::PlanSpelling spelling(std::move(made));
    check(spelling.memory_bytes() > sizeof(spelling));
    check_refusals(spelling);
    std::vector<metactrl::ActionId> plan;
    check_text(spelling, text);
    for (std::size_t i = 0; i <= spelling.num_actions(); ++i) {
      const std::string rendered = spelling.render(plan);
      const metactrl::PlanSpelling::Parsed parsed = spelling.parse(rendered);
      check(parsed.complete && parsed.actions == plan);
      check_text(spelling, rendered + text);
      plan.push_back(static_cast<metactrl::ActionId>(i % spelling.num_actions()));
    }
  } catch (const metactrl::InputError& error) {
    check(error.diagnostics().has_errors());
    check(error.what()[0] != '\0');
  }
  return 0;
}
