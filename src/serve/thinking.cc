#include "serve/thinking.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "decode/names.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

constexpr std::array<std::pair<std::string_view, std::size_t>, 5> kEfforts = {
    {{"none", 0}, {"minimal", 256}, {"low", 1024}, {"medium", 4096}, {"high", 16384}}};

std::size_t within(std::size_t tokens, const RequestLimits& limits) { return std::min(tokens, limits.tokens); }

// Sets the mode, once: two members may not say different things.
class Wish {
 public:
  Wish(Fields& fields, bool can_think, ThinkOptions& options)
      : fields_(fields), can_think_(can_think), options_(options) {}

  void think(const std::string& member, bool wanted) {
    if (said_ && *said_ != wanted) fields_.refuse(member, str_cat("contradicts '", by_, "'"));
    said_ = wanted;
    by_ = member;
    if (!wanted) options_.mode = ThinkOptions::Mode::kOff;
    if (wanted && can_think_) options_.mode = ThinkOptions::Mode::kOn;
  }

 private:
  Fields& fields_;
  bool can_think_;
  ThinkOptions& options_;
  std::optional<bool> said_;
  std::string by_;
};

}  // namespace

void read_think(Fields& fields, const RequestLimits& limits, ThinkOptions& options) {
  options.max_tokens = within(options.max_tokens, limits);
  const Json* think = fields.find("think");
  if (think == nullptr) return;
  if (think->is_string()) {
    options.mode = fields.choice<ThinkOptions::Mode>("think").value_or(ThinkOptions::Mode::kAuto);
    return;
  }
  options.max_tokens = static_cast<std::size_t>(fields.integer("think", 0, limits.tokens).value_or(0));
  options.mode = ThinkOptions::Mode::kOn;
}

void read_reasoning(Fields& fields, const RequestLimits& limits, bool can_think, ThinkOptions& options) {
  Wish wish(fields, can_think, options);
  if (const auto effort = fields.text("reasoning_effort")) {
    const auto found =
        std::find_if(kEfforts.begin(), kEfforts.end(), [&](const auto& one) { return one.first == *effort; });
    if (found == kEfforts.end()) fields.refuse("reasoning_effort", "must be none, minimal, low, medium or high");
    wish.think("reasoning_effort", found->second > 0);
    if (found->second > 0) {
      options.effort = *effort;
      options.max_tokens = within(found->second, limits);
    }
  }
  for (const char* name : {"reasoning_budget_tokens", "thinking_budget_tokens", "thinking_token_budget"}) {
    const auto budget = fields.integer(name, 0, limits.tokens);
    if (!budget) continue;
    wish.think(name, *budget > 0);
    if (*budget > 0) options.max_tokens = static_cast<std::size_t>(*budget);
  }
  const Json* arguments = fields.find("chat_template_kwargs");
  if (arguments == nullptr) return;
  if (!arguments->is_object()) fields.refuse("chat_template_kwargs", "must be an object");
  for (const Json::Member& member : arguments->members()) {
    if (member.name == "messages" || member.name == "add_generation_prompt") {
      fields.refuse("chat_template_kwargs." + member.name, "is what the request itself says");
    }
    const bool switches = member.name == "enable_thinking" || member.name == "thinking";
    if (switches && member.value.is_boolean()) {
      wish.think("chat_template_kwargs." + member.name, member.value.flag());
    } else {
      options.template_arguments.emplace_back(member.name, dump(member.value));
    }
  }
}

Json reasoning_json(const std::optional<Thought>& thought) {
  if (!thought) return nullptr;
  return {{"text", thought->text},
          {"tokens", thought->tokens},
          {"forced_tokens", thought->forced_tokens},
          {"ended_by", to_string(thought->ended_by)}};
}

}  // namespace metactrl::serve
