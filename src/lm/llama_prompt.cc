// A prompt is encoded in one go, control tokens parsed. Only when some content spells out a control token (or completes
// one that the template's text began) is it encoded part by part, so that the content's stays plain text. Some tokens
// are recognised by the tokenizer wherever they are written out ("<think>" in most models that think): there the content
// is cut behind the first byte.
#include "lm/llama_prompt.h"

#include <llama.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace metactrl::lm {

namespace {

// As llama.cpp's own renderer writes a conversation in a template that it has a name for.
std::string rendered_by_name(const char* name) {
  constexpr std::array<llama_chat_message, 2> kMessages = {{{"user", "u"}, {"assistant", "a"}}};
  std::string buffer(4096, '\0');
  const std::int32_t length = llama_chat_apply_template(name, kMessages.data(), kMessages.size(), false, buffer.data(),
                                                        static_cast<std::int32_t>(buffer.size()));
  buffer.resize(length < 0 ? 0 : std::min(buffer.size(), static_cast<std::size_t>(length)));
  return buffer;
}

// What a user says, with nothing in it that the tokenizer takes for more than text.
std::vector<TokenId> encode_content(const std::string& text, const std::string& before,
                                    const LlamaVocabulary& vocabulary, internal::Meter& meter) {
  std::vector<TokenId> tokens;
  std::size_t from = 0;
  std::string context = before;
  while (from < text.size()) {
    const auto found = vocabulary.find_recognised(text, from);
    const std::size_t end = found ? found->first + 1 : text.size();
    const std::vector<TokenId> piece =
        vocabulary.encode(std::string_view(text).substr(from, end - from), context, meter);
    tokens.insert(tokens.end(), piece.begin(), piece.end());
    from = end;
    context.clear();
  }
  return tokens;
}

bool content_spells_control(const std::vector<PromptPart>& parts, const std::string& text,
                            const LlamaVocabulary& vocabulary) {
  for (auto found = vocabulary.find_control(text, 0); found; found = vocabulary.find_control(text, found->first + 1)) {
    std::size_t begin = 0;
    for (const PromptPart& part : parts) {
      const std::size_t end = begin + part.text.size();
      if (part.is_content && found->first < end && begin < found->first + found->second) return true;
      begin = end;
    }
  }
  return false;
}

}  // namespace

std::vector<PromptPart> plain_parts(const Prompt& prompt) {
  std::vector<PromptPart> parts;
  const auto say = [&parts](const std::string& text) {
    parts.push_back({text, true});
    parts.push_back({"\n\n", false});
  };
  if (!prompt.system.empty()) say(prompt.system);
  for (const Prompt::Turn& turn : prompt.earlier) say(turn.text);
  say(prompt.user);
  return parts;
}

std::string template_name(const std::string& chat_template) {
  const PromptTemplate program(chat_template, "", "");
  std::vector<const char*> names(static_cast<std::size_t>(std::max(0, llama_chat_builtin_templates(nullptr, 0))));
  llama_chat_builtin_templates(names.data(), names.size());
  const std::string written = program.conversation("u", "a");
  for (const char* name : names) {
    if (rendered_by_name(name) == written) return name;
  }
  return "its own";
}

std::vector<TokenId> encode_parts(const std::vector<PromptPart>& parts, const LlamaVocabulary& vocabulary,
                                  internal::Meter& meter) {
  const std::string text = join(parts);
  std::vector<TokenId> tokens;
  if (!content_spells_control(parts, text, vocabulary)) {
    tokens = vocabulary.tokenize(text, true, meter);
  } else {
    const auto append = [&tokens](const std::vector<TokenId>& more) {
      tokens.insert(tokens.end(), more.begin(), more.end());
    };
    std::string before;
    for (const PromptPart& part : parts) {
      // Up to its first control token a part continues the text before it; from there on it stands alone.
      std::size_t cut = part.text.size();
      if (!part.is_content) {
        if (const auto found = vocabulary.find_control(part.text, 0)) cut = found->first;
      }
      append(part.is_content ? encode_content(part.text, before, vocabulary, meter)
                             : vocabulary.encode(std::string_view(part.text).substr(0, cut), before, meter));
      append(vocabulary.tokenize(std::string_view(part.text).substr(cut), true, meter));
      // What the user says must not look like a control token to the next part either.
      before = part.is_content ? std::string(".") : part.text;
    }
  }
  const auto begin = vocabulary.beginning_of_text();
  if (begin && (tokens.empty() || tokens.front() != *begin)) tokens.insert(tokens.begin(), *begin);
  return tokens;
}

std::vector<TokenId> encode_markup(std::string_view text, const LlamaVocabulary& vocabulary) {
  // Up to its first control token it continues a text.
  const auto control = vocabulary.find_control(text, 0);
  const std::size_t cut = control ? control->first : text.size();
  std::vector<TokenId> tokens = vocabulary.encode(text.substr(0, cut), "");
  const std::vector<TokenId> rest = vocabulary.tokenize(text.substr(cut), true);
  tokens.insert(tokens.end(), rest.begin(), rest.end());
  return tokens;
}

}  // namespace metactrl::lm
