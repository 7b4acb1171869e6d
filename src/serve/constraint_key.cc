// Values are written one after the other, each with its end marked, texts with their length: no two lists of values are
// written alike.
#include "serve/constraint_key.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace metactrl::serve {

namespace {

// Longer than this no tokenizer looks back.
constexpr std::size_t kContext = 512;

class KeyWriter {
 public:
  template <typename... Values>
  void write(const Values&... values) {
    (add(values), ...);
  }
  std::string take() { return std::move(key_); }

 private:
  template <std::integral Number>
  void add(Number number) {
    key_ += std::to_string(number) + ' ';
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void add(Enum value) { add(static_cast<std::underlying_type_t<Enum>>(value)); }
  void add(std::string_view text) {
    add(text.size());
    key_ += text;
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(const void* place) { add(reinterpret_cast<std::uintptr_t>(place)); }
  void add(const std::shared_ptr<const LookaheadDevice>& device) { add(static_cast<const void*>(device.get())); }
  void add(const std::optional<unsigned>& number) { write(number.has_value(), number.value_or(0)); }
  void add(const std::optional<Hmm>& hmm) {
    add(hmm ? static_cast<const void*>(hmm->initial().data()) : nullptr);  // which copies share
  }
  void add(const std::vector<std::string>& texts) {
    add(texts.size());
    for (const std::string& text : texts) add(text);
  }
  void add(const std::map<std::string, std::string>& texts) {
    add(texts.size());
    for (const auto& [name, text] : texts) write(name, text);
  }

  void add(const Budget& budget) {
    const auto& [states, bytes, work] = budget;
    write(states, bytes, work);
  }
  void add(const LookaheadOptions& options) {
    const auto& [horizon, fixed_horizon, fitted_horizon, slack, costs, exact, search, improve, large_task, weight_bytes,
                 weights, hmm, device] = options;
    write(horizon, fixed_horizon, fitted_horizon, slack, costs, exact, search, improve, large_task, weight_bytes,
          weights, hmm, device);
  }
  void add(const ConstraintOptions& options) {
    const auto& [lookahead, context, tokenization, max_actions] = options;
    const std::string_view all = context;
    write(lookahead, all.substr(all.size() - std::min(all.size(), kContext)), tokenization, max_actions);
  }
  void add(const PlanFormat& format) {
    const auto& [name, open, close, separators, empty, prefix, items, argument, argument_separator, id_separator,
                 action_case, hyphen, escape, action_names, object_names] = format;
    write(name, open, close, separators, empty, prefix, items, argument, argument_separator, id_separator, action_case,
          hyphen, escape, action_names, object_names);
  }

  std::string key_;
};

}  // namespace

std::string constraint_key(std::string_view task, const Task& pursued, const PlanFormat& format,
                           const Vocabulary& vocabulary, const ConstraintOptions& options) {
  KeyWriter writer;
  writer.write(vocabulary.fingerprint(), format, options, pursued.num_goals());
  for (std::uint32_t goal = 0; goal < pursued.num_goals(); ++goal) writer.write(pursued.goal_text(GoalId{goal}));
  writer.write(task);
  return writer.take();
}

}  // namespace metactrl::serve
