// Thinking is found by asking the template itself, once, when it is loaded: it is given a question and an answer with a
// thought, and what it writes around the two is how the model opens a thought, closes it and goes on to the answer. Many
// templates drop the thoughts of answers; for these, and only these, the usual names of the markers are looked for in the
// source. Whether a model thinks unless told otherwise is what the template does when nobody says.
#include "lm/prompt_template.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;
using jinja::Value;

constexpr std::string_view kQuestion = "qzquestionqz";
constexpr std::string_view kThought = "qzthoughtqz";
constexpr std::string_view kAnswer = "qzanswerqz";
constexpr std::string_view kBlankLetters = " \t\r\n";

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm time{};
  gmtime_r(&now, &time);
  std::array<char, 16> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d", &time);
  return {text.data(), size};
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kBlankLetters);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Nothing of it is what a user says.
bool is_the_templates(const jinja::Text& text, std::size_t begin, std::size_t count) {
  for (std::size_t i = begin; i < begin + count; ++i) {
    if (text.by_user(i)) return false;
  }
  return true;
}

// Markers of models whose templates show no thoughts.
struct Markers {
  std::string_view open;
  std::string_view close;
  std::string_view answer;
};
constexpr std::array<Markers, 6> kMarkers = {{
    {"<think>\n", "</think>", "\n\n"},
    {"[THINK]", "[/THINK]", ""},
    {"<|channel>thought\n", "<channel|>", ""},
    {"<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>"},
    {"<|inner_prefix|>", "<|inner_suffix|>", ""},
    {"Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]", "\n"},
}};
// The effort that is asked of models that do not think at what they make otherwise.
constexpr const char* kEffort = "high";

// "\n</think>\n\n" is a lead, the marker, and what comes before the answer.
void cut_closing(std::string_view between, LanguageModel::ThinkingFormat& format) {
  const std::size_t begin = std::min(between.find_first_not_of(kBlankLetters), between.size());
  format.lead = between.substr(0, begin);
  between.remove_prefix(begin);
  const char bracket = between.empty() ? ' ' : between.front();
  const char closing = bracket == '<' ? '>' : ']';
  std::size_t end = bracket == '<' || bracket == '[' ? between.find(closing) : std::string_view::npos;
  end = end == std::string_view::npos ? without_blanks(between).size() : end + 1;
  format.close = between.substr(0, end);
  format.answer = between.substr(end);
}

std::vector<PromptPart> parts_of(const jinja::Text& text) {
  std::vector<PromptPart> parts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool content = text.by_user(i);
    if (parts.empty() || parts.back().is_content != content) parts.push_back({{}, content});
    parts.back().text += text.bytes()[i];
  }
  return parts;
}

}  // namespace

std::string join(const std::vector<PromptPart>& parts) {
  std::string text;
  for (const PromptPart& part : parts) text += part.text;
  return text;
}

PromptTemplate::PromptTemplate(std::string_view source, std::string begin, std::string end)
    : program_(source), begin_(std::move(begin)), end_(std::move(end)), today_(today()) {
  const std::vector<Message> question = {{"user", std::string(kQuestion)}};
  std::string asked;
  try {
    asked = probe(question, true, std::nullopt);
  } catch (const jinja::Error&) {
    // Python's own way is to say that there are none; some expect not to hear of them.
    without_tools_ = true;
    asked = probe(question, true, std::nullopt);
  }
  if (asked.find(kQuestion) == std::string::npos) throw jinja::Error("it does not write what the user says");
  find_thinking(source);
}

jinja::Text PromptTemplate::apply(const Request& request) const {
  jinja::Dict variables;
  const auto set = [&variables](const std::string& name, Value value) {
    variables.set(Value::string(name), std::move(value));
  };
  jinja::List messages;
  for (const Message& message : request.messages) {
    jinja::Dict dict;
    dict.set(Value::string("role"), Value::string(message.role));
    dict.set(Value::string("content"), Value::string(jinja::Text(message.content, true)));
    if (!message.thought.empty()) {
      for (const char* name : {"reasoning_content", "reasoning", "thinking"}) {
        dict.set(Value::string(name), Value::string(jinja::Text(message.thought, true)));
      }
    }
    messages.push_back(Value::object(std::move(dict)));
  }
  set("messages", Value::array(std::move(messages)));
  set("add_generation_prompt", Value::boolean(request.for_answer));
  set("bos_token", Value::string(begin_));
  set("eos_token", Value::string(end_));
  if (!without_tools_) {
    set("tools", Value::none());
    set("documents", Value::none());
  }
  if (request.thinking) {
    set("enable_thinking", Value::boolean(*request.thinking));
    set("thinking", Value::boolean(*request.thinking));
    if (!*request.thinking) set("thinking_budget", Value::number(std::int64_t{0}));
  }
  if (request.thinking == true && !effort_.empty()) set("reasoning_effort", Value::string(effort_));
  if (request.prompt != nullptr) {
    if (!request.prompt->effort.empty())
      set("reasoning_effort", Value::string(jinja::Text(request.prompt->effort, true)));
    for (const auto& argument : request.prompt->template_arguments) {
      try {
        set(argument.first, jinja::value_from_json(argument.second));
      } catch (const jinja::Error& error) {
        throw jinja::Error(str_cat("its argument '", argument.first, "' is no value: ", error.what()));
      }
    }
  }
  return program_.render(variables, today_);
}

jinja::Text PromptTemplate::apply_somehow(Request request) const {
  const bool has_system = request.messages.size() > 1 && request.messages.front().role == "system";
  const auto fold = [&request] {
    request.messages[1].content = request.messages[0].content + "\n\n" + request.messages[1].content;
    request.messages.erase(request.messages.begin());
  };
  if (has_system && told_by_default_ && request.thinking == true) {
    fold();
    return apply(request);
  }
  if (!has_system || request.messages[1].role != "user") return apply(request);
  const std::string system = request.messages.front().content;
  std::string refusal;
  try {
    jinja::Text text = apply(request);
    const std::string_view kept = without_blanks(system);
    const std::size_t begin = std::min(kept.find_first_not_of(kBlankLetters), kept.size());
    // Some drop what they have no place for.
    if (text.bytes().find(kept.substr(begin)) != std::string::npos) return text;
  } catch (const jinja::Error& error) {
    refusal = error.what();
  }
  fold();
  try {
    return apply(request);
  } catch (const jinja::Error&) {
    if (refusal.empty()) throw;
    throw jinja::Error(refusal);
  }
}

std::string PromptTemplate::probe(std::vector<Message> messages, bool for_answer, std::optional<bool> thinking) const {
  return apply({std::move(messages), for_answer, thinking}).bytes();
}

std::vector<PromptPart> PromptTemplate::render(const Prompt& prompt) const {
  Request request;
  if (!prompt.system.empty()) request.messages.push_back({"system", prompt.system});
  for (const Prompt::Turn& turn : prompt.earlier) {
    request.messages.push_back({turn.by_model ? "assistant" : "user", turn.text});
  }
  request.messages.push_back({"user", prompt.user});
  request.thinking = prompt.thinking;
  request.prompt = &prompt;
  const jinja::Text text = apply_somehow(std::move(request));
  std::vector<PromptPart> parts = parts_of(text);
  if (prompt.thinking) {
    std::string more = *prompt.thinking ? to_thought(text) : to_answer(text);
    if (!more.empty()) parts.push_back({std::move(more), false});
  }
  return parts;
}

bool PromptTemplate::ends_with_opening(const jinja::Text& asked) const {
  const std::string_view opening = without_blanks(thinking_->open);
  const std::string_view ends = without_blanks(asked.bytes());
  return ends.ends_with(opening) && is_the_templates(asked, ends.size() - opening.size(), opening.size());
}

std::string PromptTemplate::to_thought(const jinja::Text& asked) const {
  return thinking_ && !ends_with_opening(asked) ? thinking_->open : std::string();
}

std::string PromptTemplate::to_answer(const jinja::Text& asked) const {
  if (!thinking_) return before_answer_;
  if (ends_with_opening(asked)) return thinking_->lead + thinking_->close + thinking_->answer;
  // Closed already?
  const std::size_t close = asked.bytes().rfind(thinking_->close);
  const bool closed = close != std::string::npos && asked.size() - close <= thinking_->close.size() + 8 &&
                      is_the_templates(asked, close, thinking_->close.size());
  if (!closed || without_blanks(before_answer_).empty()) return before_answer_;
  return {};
}

// --- how the model thinks --------------------------------------------------------------------------------------------

void PromptTemplate::find_thinking(std::string_view source) {
  const Message question{"user", std::string(kQuestion)};
  const auto try_probe = [this](std::vector<Message> messages, bool for_answer, std::optional<bool> thinking) {
    try {
      return probe(std::move(messages), for_answer, thinking);
    } catch (const jinja::Error&) {
      return std::string();
    }
  };
  const std::string unset = try_probe({question}, true, std::nullopt);
  std::string on = try_probe({question}, true, true);
  const std::string off = try_probe({question}, true, false);
  const std::string answered = try_probe({question, {"assistant", std::string(kAnswer)}}, false, false);
  const std::size_t answer = answered.rfind(kAnswer);
  if (answer != std::string::npos && answered.starts_with(off) && answer > off.size()) {
    const std::string between = answered.substr(off.size(), answer - off.size());
    // A blank would be the answer's own, and is no header; a new line behind a marker is.
    const bool blank = without_blanks(between).empty();
    if (!blank || (between.front() == '\n' && !off.empty() && (off.back() == '>' || off.back() == ']'))) {
      before_answer_ = between;
    }
  }
  bool found = find_by_example(on, off);
  if (!found && on == off && source.find("reasoning_effort") != std::string_view::npos) {
    effort_ = kEffort;
    const std::string harder = try_probe({question}, true, true);
    found = harder != off && find_by_example(harder, off);
    if (found) on = harder;
    if (!found) effort_.clear();
  }
  if (!found && !find_by_name(source, on, off)) return;
  const std::string_view opening = without_blanks(thinking_->open);
  const bool opens = without_blanks(unset).ends_with(opening);
  const bool offers = on != off;
  const std::size_t told = unset.find(thinking_->close);  // to close what it thinks, whatever system text there is
  told_by_default_ = unset.find(opening) != std::string::npos && !opens &&
                     try_probe({{"system", "s"}, question}, true, std::nullopt).find(opening) == std::string::npos;
  thinking_->by_default =
      unset == on && (offers || opens || told_by_default_ || thinking_->by_default || told < unset.find(kQuestion));
}

bool PromptTemplate::find_by_example(const std::string& asked, const std::string& off) {
  std::string shown;
  try {
    shown = probe({{"user", std::string(kQuestion)}, {"assistant", std::string(kAnswer), std::string(kThought)}}, false,
                  true);
  } catch (const jinja::Error&) {
    return false;
  }
  const std::size_t thought = shown.find(kThought);
  const std::size_t answer = thought == std::string::npos ? thought : shown.find(kAnswer, thought);
  if (answer == std::string::npos) return false;
  LanguageModel::ThinkingFormat format;
  const std::size_t behind = thought + kThought.size();
  cut_closing(std::string_view(shown).substr(behind, answer - behind), format);
  if (format.close.empty()) return false;
  const auto differ = std::mismatch(asked.begin(), asked.end(), shown.begin(), shown.end());
  const auto common = static_cast<std::size_t>(differ.first - asked.begin());
  const std::string begun = common == thought ? asked.substr(common) : std::string();
  if (!without_blanks(begun).empty() && begun.find(format.close) == std::string::npos) {
    // The prompt begins the thought in words that are not there when it is shown.
    format.open = begun;
  } else if (common == asked.size() &&
             !without_blanks(std::string_view(shown).substr(common, thought - common)).empty()) {
    format.open = shown.substr(common, thought - common);
  } else {
    // The prompt ends with it: what is not there when the model is told not to think, or the last marker.
    const std::string_view opened = without_blanks(std::string_view(shown).substr(0, thought));
    const std::size_t asks = opened.rfind(kQuestion);
    const std::string_view mine = opened.substr(std::min(asks, opened.size()));
    const std::string_view other = std::string_view(off).substr(std::min(off.rfind(kQuestion), off.size()));
    const auto same = std::mismatch(mine.begin(), mine.end(), other.begin(), other.end()).first - mine.begin();
    const std::size_t begin = opened.size() - mine.size() + static_cast<std::size_t>(same);
    std::size_t from = opened.substr(0, begin).find_last_of("<[");
    const bool inside = from != std::string_view::npos &&
                        opened.substr(from, begin - from).find_first_of(">]") == std::string_view::npos;
    if (!inside) from = begin < opened.size() ? begin : opened.find_last_of("<[");
    if (from == std::string_view::npos) return false;
    format.open = shown.substr(from, thought - from);
    if (!without_blanks(asked).ends_with(without_blanks(format.open))) return false;
  }
  format.by_default = true;
  thinking_ = std::move(format);
  return true;
}

bool PromptTemplate::find_by_name(std::string_view source, const std::string& asked, const std::string& off) {
  for (const Markers& markers : kMarkers) {
    if (source.find(markers.close) == std::string_view::npos) continue;
    LanguageModel::ThinkingFormat format;
    format.open = markers.open;
    format.close = markers.close;
    format.answer = markers.answer;
    if (format.open.ends_with('\n')) format.lead = "\n";
    // "<think>" without a new line is another prompt.
    const std::string_view opening = without_blanks(markers.open);
    const std::string_view ends = without_blanks(asked);
    if (ends.ends_with(opening)) format.open = std::string(opening) + asked.substr(ends.size());
    const bool on_one_line = without_blanks(format.open).size() == format.open.size();
    if (on_one_line) format.lead.clear();
    // An empty thought shows what comes behind one.
    const std::size_t closed = off.rfind(format.close);
    if (closed != std::string::npos && closed > off.find(kQuestion)) {
      std::string behind = off.substr(closed + format.close.size());
      if (on_one_line || !behind.empty()) format.answer = std::move(behind);
    }
    format.by_default = before_answer_.find(format.close) != std::string::npos;
    thinking_ = std::move(format);
    return true;
  }
  return false;
}

}  // namespace metactrl::lm
