// The template is applied to placeholders, and the contents are put in afterwards: so it is known which bytes are the
// template's and which are the user's. Some templates trim what they are given; a vertical tab on either side of a
// placeholder tells (it is gone when the template trims), and the content is then trimmed likewise.
//
// A prompt is encoded in one go, control tokens parsed. Only when some content spells out a control token (or completes
// one that the template's text began) is it encoded part by part, so that the content's stays plain text.
#include "lm/llama_prompt.h"

#include <llama.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace metactrl::lm {

namespace {

// Control characters, so that no template holds them; without a zero byte, since they pass through C strings.
constexpr char kGuard = '\v';

// What one side says, and the placeholder for it.
struct Message {
  const char* role;
  const std::string* content;
  std::string mark;
};

std::vector<Message> messages_of(const Prompt& prompt) {
  std::vector<Message> messages;
  const auto add = [&messages](const char* role, const std::string& content) {
    messages.push_back({role, &content, "\x01" + std::to_string(messages.size()) + "\x02"});
  };
  if (!prompt.system.empty()) add("system", prompt.system);
  for (const Prompt::Turn& turn : prompt.earlier) add(turn.by_model ? "assistant" : "user", turn.text);
  add("user", prompt.user);
  return messages;
}

std::string trimmed(std::string_view text, bool left, bool right) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  if (left) text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  if (right) {
    const std::size_t last = text.find_last_not_of(kBlanks);
    text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  }
  return std::string(text);
}

// The template applied to the placeholders; empty when it is not a known one.
std::string apply_template(const char* chat_template, const std::vector<Message>& contents) {
  std::vector<std::string> guarded;
  for (const Message& message : contents) guarded.push_back(kGuard + message.mark + kGuard);
  std::vector<llama_chat_message> messages;
  for (std::size_t i = 0; i < contents.size(); ++i) messages.push_back({contents[i].role, guarded[i].c_str()});
  std::string buffer(4096, '\0');
  std::int32_t length = llama_chat_apply_template(chat_template, messages.data(), messages.size(), true, buffer.data(),
                                                  static_cast<std::int32_t>(buffer.size()));
  if (length > static_cast<std::int32_t>(buffer.size())) {
    buffer.resize(static_cast<std::size_t>(length));
    length = llama_chat_apply_template(chat_template, messages.data(), messages.size(), true, buffer.data(),
                                       static_cast<std::int32_t>(buffer.size()));
  }
  buffer.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return buffer;
}

// Cuts `rendered` at `mark`; false when the mark is not there exactly once.
bool cut_at(std::string& rendered, std::string_view mark, const std::string& content, std::vector<PromptPart>& parts) {
  const std::size_t at = rendered.find(mark);
  if (at == std::string::npos || rendered.find(mark, at + 1) != std::string::npos) return false;
  std::string before = rendered.substr(0, at);
  std::string after = rendered.substr(at + mark.size());
  const bool kept_left = !before.empty() && before.back() == kGuard;
  const bool kept_right = !after.empty() && after.front() == kGuard;
  if (kept_left) before.pop_back();
  if (kept_right) after.erase(0, 1);
  parts.push_back({std::move(before), false});
  parts.push_back({trimmed(content, !kept_left, !kept_right), true});
  rendered = std::move(after);
  return true;
}

std::vector<PromptPart> plain_parts(const std::vector<Message>& messages) {
  std::vector<PromptPart> parts;
  for (const Message& message : messages) {
    parts.push_back({*message.content, true});
    parts.push_back({"\n\n", false});
  }
  return parts;
}

// False when the template is not a known one, or loses what it is given.
bool templated_parts(const char* chat_template, const std::vector<Message>& messages, std::vector<PromptPart>& parts) {
  std::string rendered = apply_template(chat_template, messages);
  const bool usable = !rendered.empty() && std::all_of(messages.begin(), messages.end(), [&](const Message& message) {
    return cut_at(rendered, message.mark, *message.content, parts);
  });
  if (usable) parts.push_back({std::move(rendered), false});
  return usable;
}

// In which templates differ: with instructions, an answer, and a second question.
Prompt conversation() {
  Prompt prompt;
  prompt.system = "s";
  prompt.earlier = {{false, "u"}, {true, "a"}};
  prompt.user = "u";
  return prompt;
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

std::vector<PromptPart> prompt_parts(const Prompt& prompt, const char* chat_template) {
  if (!prompt.raw.empty()) return {{prompt.raw, false}};
  const std::vector<Message> messages = messages_of(prompt);
  std::vector<PromptPart> parts;
  if (chat_template == nullptr || !templated_parts(chat_template, messages, parts)) return plain_parts(messages);
  return parts;
}

// llama.cpp tells templates apart by what stands in them and does not say what it found. Its own names are templates,
// too, so the one that writes the same conversation in the same way is it.
std::string template_name(const char* chat_template) {
  const Prompt probe = conversation();
  const std::vector<Message> messages = messages_of(probe);
  std::vector<PromptPart> parts;
  if (!templated_parts(chat_template, messages, parts)) return {};
  const std::string wanted = apply_template(chat_template, messages);
  std::vector<const char*> names(static_cast<std::size_t>(std::max(0, llama_chat_builtin_templates(nullptr, 0))));
  llama_chat_builtin_templates(names.data(), names.size());
  for (const char* name : names) {
    if (apply_template(name, messages) == wanted) return name;
  }
  return "unnamed";
}

std::string join(const std::vector<PromptPart>& parts) {
  std::string text;
  for (const PromptPart& part : parts) text += part.text;
  return text;
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
      append(vocabulary.encode(std::string_view(part.text).substr(0, cut), before, meter));
      append(vocabulary.tokenize(std::string_view(part.text).substr(cut), true, meter));
      // What the user says must not look like a control token to the next part either.
      before = part.is_content ? std::string(".") : part.text;
    }
  }
  const auto begin = vocabulary.beginning_of_text();
  if (begin && (tokens.empty() || tokens.front() != *begin)) tokens.insert(tokens.begin(), *begin);
  return tokens;
}

}  // namespace metactrl::lm
