// Token by token, drawn from what the model says. The thought ends
//
//   - at the closing marker: one token in most vocabularies, and then nothing else counts, since a model may well write
//     about its markers; bytes elsewhere, where a token may hold the end of the thought and the beginning of the marker,
//     or more than the marker. What was read from there on is taken back;
//   - when the model ends its turn, which it is not let to;
//   - when the budget is spent, up to three tokens later in the middle of a character.
//
// Then the closing is forced in the same tokens every time. So what stands before the answer is a constant of the
// template, and the constraint is compiled behind that constant: the thought cannot reach it, but through the logits,
// which only ever rank what is supported.
#include "decode/think.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "decode/choose.h"
#include "support/utf8.h"

namespace metactrl::decode {

namespace {

// Beyond that nothing is likely.
constexpr std::size_t kConsidered = 256;
constexpr std::size_t kToEndCharacter = 3;
// Tokens that may stand for the bytes of one that was cut.
constexpr std::size_t kCutToken = 64;

// Bytes at the end of `text` that begin a character and do not end it.
std::size_t unfinished(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const char c = text[text.size() - back];
    if (internal::is_continuation(c)) continue;
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

class Thinker {
 public:
  Thinker(Session& session, const Vocabulary& vocabulary, const ThinkingFrame& frame, const ThinkOptions& options,
          std::uint64_t seed, const Observer& observer)
      : session_(session),
        vocabulary_(vocabulary),
        frame_(frame),
        options_(options),
        observer_(observer),
        random_(seed ^ 0x7468696e6bULL),
        before_(session.size()) {}

  ThoughtTokens run(std::size_t budget) {
    Thought::End end = Thought::End::kBudget;
    while (tokens_.size() < budget || (unfinished(text_) > 0 && tokens_.size() < budget + kToEndCharacter)) {
      if (observer_.cancelled && observer_.cancelled()) {
        end = Thought::End::kCancelled;
        break;
      }
      const TokenId token = choose();
      if (frame_.marker == token) {
        end = Thought::End::kMarker;
        break;
      }
      if (ends_turn(token)) {
        end = Thought::End::kTurn;
        break;
      }
      take(token);
      if (!frame_.marker && cut_at_marker()) {
        end = Thought::End::kMarker;
        break;
      }
      tell(false);
    }
    return close(end);
  }

 private:
  bool ends_turn(TokenId token) const {
    const std::vector<TokenId>& ends = vocabulary_.end_of_turn();
    return std::find(ends.begin(), ends.end(), token) != ends.end();
  }

  // Tokens without text are control tokens; but for those that end something they have no place in a thought.
  TokenId choose() {
    const std::span<const float> logits = session_.logits();
    candidates_.clear();
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const TokenId token{static_cast<std::int32_t>(i)};
      if (vocabulary_.bytes(token).empty() && frame_.marker != token && !ends_turn(token)) continue;
      candidates_.push_back({sane_logit(logits[i]), token});
    }
    const auto better = [](const Candidate& a, const Candidate& b) {
      return a.score != b.score ? a.score > b.score : a.token < b.token;
    };
    if (candidates_.size() > kConsidered) {
      std::nth_element(candidates_.begin(), candidates_.begin() + kConsidered, candidates_.end(), better);
      candidates_.resize(kConsidered);
    }
    std::sort(candidates_.begin(), candidates_.end(), better);
    scores_.clear();
    for (const Candidate& candidate : candidates_) scores_.push_back(candidate.score);
    return candidates_[choose_sample(scores_, {options_.temperature, options_.top_p}, random_, buffers_)].token;
  }

  void take(TokenId token) {
    tokens_.push_back(token);
    text_ += vocabulary_.bytes(token);
    ends_.push_back(text_.size());
    session_.append(std::span(&token, 1));
  }

  // Takes back the marker, if it is there, and what the last token has behind it.
  bool cut_at_marker() {
    const std::size_t last = ends_.size() > 1 ? ends_[ends_.size() - 2] : 0;
    const std::size_t from = last - std::min(last, frame_.format.close.size() - 1);
    const std::size_t found = text_.find(frame_.format.close, from);
    if (found == std::string::npos) return false;
    std::size_t kept = tokens_.size();
    while (kept > 0 && ends_[kept - 1] > found) --kept;
    const std::size_t whole = kept == 0 ? 0 : ends_[kept - 1];
    const std::string rest = text_.substr(whole, found - whole);
    text_.resize(whole);
    tokens_.resize(kept);
    ends_.resize(kept);
    session_.rollback(before_ + kept);
    const std::vector<TokenId> again = vocabulary_.encode(rest, text_);
    for (const TokenId token : again) take(token);
    return true;
  }

  // What is certain to be part of the thought, in whole characters.
  void tell(bool all) {
    if (!observer_.thought) return;
    std::size_t sure = text_.size();
    if (!all) {
      sure -= unfinished(text_);
      if (!frame_.marker) sure -= std::min(sure, frame_.format.close.size() - 1);
      while (sure > told_ && sure < text_.size() && internal::is_continuation(text_[sure])) --sure;
    }
    if (sure <= told_) return;
    observer_.thought(std::string_view(text_).substr(told_, sure - told_));
    told_ = sure;
  }

  ThoughtTokens close(Thought::End end) {
    tell(true);
    ThoughtTokens out;
    out.thought.ended_by = end;
    out.thought.tokens = tokens_.size();
    out.thought.text = text_;
    const bool has_lead = !frame_.format.lead.empty() && text_.ends_with(frame_.format.lead);
    const std::vector<TokenId>& forced = has_lead ? frame_.closing : frame_.with_lead;
    session_.append(forced);
    out.thought.forced_tokens = forced.size();
    out.tokens = std::move(tokens_);
    out.tokens.insert(out.tokens.end(), forced.begin(), forced.end());
    if (observer_.thought_end) observer_.thought_end(out.tokens);
    return out;
  }

  struct Candidate {
    double score = 0;
    TokenId token{};
  };

  Session& session_;
  const Vocabulary& vocabulary_;
  const ThinkingFrame& frame_;
  const ThinkOptions& options_;
  const Observer& observer_;
  Random random_;
  std::size_t before_;  // tokens of the prompt
  std::vector<TokenId> tokens_;
  std::vector<std::size_t> ends_;  // of each token in text_
  std::string text_;
  std::size_t told_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<double> scores_;
  SampleBuffers buffers_;
};

}  // namespace

ThinkingFrame::ThinkingFrame(const LanguageModel& model, LanguageModel::ThinkingFormat how) : format(std::move(how)) {
  const std::vector<TokenId> alone = model.encode_markup(format.close);
  if (alone.size() == 1) marker = alone.front();
  closing = model.encode_markup(format.close + format.answer);
  with_lead = model.encode_markup(format.lead + format.close + format.answer);
}

std::size_t ThinkingFrame::room(std::size_t budget) const {
  return budget + kToEndCharacter + kCutToken + std::max(closing.size(), with_lead.size());
}

std::optional<ThinkingFrame> decide_thinking(const LanguageModel& model, const ThinkOptions& options, bool raw) {
  const ThinkOptions::Mode mode = options.mode;
  std::optional<LanguageModel::ThinkingFormat> format = model.thinking_format();
  if (mode == ThinkOptions::Mode::kOn && (raw || !format)) {
    throw InputError(
        "thinking",
        raw ? "a raw prompt is sent as it is, so nobody knows where a thought would begin"
            : "this model's chat template has no place for a thought",
        raw ? "leave the prompt to the model's chat template" : "use a model that thinks before it answers");
  }
  if (raw || !format || mode == ThinkOptions::Mode::kOff || (mode == ThinkOptions::Mode::kAuto && !format->by_default))
    return std::nullopt;
  return ThinkingFrame(model, *std::move(format));
}

void tell_template(const LanguageModel& model, const ThinkOptions& options, bool thinks, Prompt& prompt) {
  if (thinks) {
    prompt.thinking = true;
  } else if (options.mode == ThinkOptions::Mode::kOff || model.thinking_format()) {
    prompt.thinking = false;
  }
  if (!options.effort.empty()) prompt.effort = options.effort;
  for (const auto& argument : options.template_arguments) prompt.template_arguments.push_back(argument);
}

std::size_t thought_budget(const ThinkingFrame& frame, const ThinkOptions& options, std::size_t room,
                           std::size_t answer) {
  const std::size_t fixed = frame.room(0) + answer;
  return std::min(options.max_tokens, room > fixed ? room - fixed : 0);
}

ThoughtTokens think(Session& session, const Vocabulary& vocabulary, const ThinkingFrame& frame,
                    const ThinkOptions& options, std::size_t budget, std::uint64_t seed, const Observer& observer) {
  return Thinker(session, vocabulary, frame, options, seed, observer).run(budget);
}

}  // namespace metactrl::decode
