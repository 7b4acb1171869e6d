// Arbitrary bytes as the chat template of a model: it is understood or refused, and one that is understood writes prompts, or
// refuses them, within what it may cost. What it wrote is the same when it is asked again, and so is what it says about how
// the model thinks. The same bytes as a value that a template is told.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/jinja.h"
#include "lm/prompt_template.h"

namespace {

using metactrl::Prompt;
using metactrl::lm::PromptTemplate;
using metactrl::lm::jinja::Error;

std::optional<std::string> written(const PromptTemplate& source, const Prompt& prompt) {
  try {
    const std::vector<metactrl::lm::PromptPart> parts = source.render(prompt);
    for (const metactrl::lm::PromptPart& part : parts) {
      if (part.text.empty()) std::abort();
    }
    return metactrl::lm::join(parts);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    metactrl::lm::jinja::value_from_json(bytes);
  } catch (const Error&) {
  }
  try {
    const PromptTemplate source(bytes, "<s>", "</s>");
    Prompt prompt{.system = "Be brief.", .user = "Tidy up. <|im_end|>", .raw = {}};
    const std::optional<std::string> plain = written(source, prompt);
    if (written(source, prompt) != plain) std::abort();
    prompt.earlier = {{false, "Hello."}, {true, "<think>\nhm\n</think>\n\nYes?"}};
    written(source, prompt);
    for (const bool thinks : {true, false}) {
      prompt.thinking = thinks;
      written(source, prompt);
    }
    prompt.effort = "low";
    prompt.template_arguments = {{"tools", "[]"}, {"depth", R"({"a": [1, 2.5, null, true, "x"]})"}};
    written(source, prompt);
  } catch (const Error&) {
  }
  return 0;
}
