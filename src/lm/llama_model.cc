// A GGUF file as a LanguageModel.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lm/llama_embedder.h"
#include "lm/llama_engine.h"
#include "lm/llama_placement.h"
#include "lm/llama_prompt.h"
#include "lm/llama_runtime.h"
#include "lm/llama_session.h"
#include "lm/llama_vocabulary.h"
#include "lm/prompt_template.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "support/meter.h"
#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;

class LlamaModel : public LanguageModel {
 public:
  LlamaModel(const ModelPtr& model, const ModelOptions& options, const Placement& placement, const std::string& file)
      : model_(model), file_(file), vocabulary_(model, file), device_(device_text(placement, model.get())) {
    read_template();
    for (unsigned i = 0; i < std::max(1U, options.separate_contexts); ++i) {
      engines_.push_back(std::make_shared<LlamaEngine>(model, options, file));
    }
  }

  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::size_t context_length() const override { return engines_.front()->context_length(); }
  std::string device() const override { return device_; }

  std::string description() const override {
    std::array<char, 128> text{};
    llama_model_desc(model_.get(), text.data(), text.size());
    constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
    const std::uint64_t mebibytes = (llama_model_size(model_.get()) + kMebibyte - 1) / kMebibyte;
    return str_cat(text.data(), ", ", mebibytes, " MiB, context ", context_length(), ", ", vocabulary_.size(),
                   " tokens");
  }

  std::string render_prompt(const Prompt& prompt) const override { return join(parts_of(prompt)); }

  using LanguageModel::encode_prompt;
  std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& stop) const override {
    internal::Meter meter(stop);
    return encode_parts(parts_of(prompt), vocabulary_, meter);
  }

  std::optional<ThinkingFormat> thinking_format() const override {
    return template_ ? template_->thinking() : std::nullopt;
  }

  std::vector<TokenId> encode_markup(const std::string& text) const override {
    return lm::encode_markup(text, vocabulary_);
  }

  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    if (prompt.empty()) throw ModelError("a session needs a prompt of at least one token");
    if (prompt.size() + reserve > context_length()) {
      throw ContextError(str_cat("the prompt has ", prompt.size(), " tokens and the answer may take ", reserve,
                                 ", but the context holds ", context_length(),
                                 "; shorten the prompt or use a larger context"));
    }
    return std::make_unique<LlamaSession>(idlest_engine(), prompt);
  }

  void expect_prefix(std::span<const TokenId> prefix) override {
    for (const std::shared_ptr<LlamaEngine>& engine : engines_) {
      const std::scoped_lock lock(engine->mutex());
      engine->expect_prefix(prefix);
    }
  }

  std::size_t embedding_size() const override { return LlamaEmbedder::size_of(model_.get()); }

  std::vector<float> embed(std::span<const TokenId> tokens) override {
    const std::scoped_lock lock(embedder_mutex_);
    if (embedder_ == nullptr) {
      embedder_ = std::make_unique<LlamaEmbedder>(model_, context_length(), engines_.front()->threads());
    }
    return embedder_->embed(tokens);
  }

 private:
  // The first of those with the fewest sessions.
  std::shared_ptr<LlamaEngine> idlest_engine() {
    const std::scoped_lock lock(engines_mutex_);
    return *std::min_element(engines_.begin(), engines_.end(),
                             [](const auto& a, const auto& b) { return a.use_count() < b.use_count(); });
  }

  void read_template() {
    const char* source = llama_model_chat_template(model_.get(), nullptr);
    if (source == nullptr) return;
    const llama_vocab* vocab = llama_model_get_vocab(model_.get());
    const auto text_of = [vocab](llama_token token) {
      const char* text = token == LLAMA_TOKEN_NULL ? nullptr : llama_vocab_get_text(vocab, token);
      return std::string(text == nullptr ? "" : text);
    };
    try {
      template_.emplace(source, text_of(llama_vocab_bos(vocab)), text_of(llama_vocab_eos(vocab)));
    } catch (const jinja::Error& error) {
      template_error_ = error.what();
    }
  }

  [[noreturn]] void refuse_template(const std::string& why) const {
    throw InputError(file_, "its chat template cannot be used: " + why,
                     "send a raw prompt, written as this model expects it, or use another file of the model");
  }

  std::vector<PromptPart> parts_of(const Prompt& prompt) const {
    if (!prompt.raw.empty()) return {{prompt.raw, false}};
    if (!template_error_.empty()) refuse_template(template_error_);
    if (!template_) return plain_parts(prompt);
    try {
      return template_->render(prompt);
    } catch (const jinja::Error& error) {
      refuse_template(error.what());
    }
  }

  ModelPtr model_;
  std::string file_;
  std::optional<PromptTemplate> template_;
  std::string template_error_;  // why there is none although the file has one
  LlamaVocabulary vocabulary_;
  std::mutex engines_mutex_;
  std::vector<std::shared_ptr<LlamaEngine>> engines_;  // as many owners as sessions, and one
  std::string device_;
  std::mutex embedder_mutex_;
  std::unique_ptr<LlamaEmbedder> embedder_;  // made when it is first asked
};

void check_kind(const llama_model* model, const std::string& file) {
  if (llama_model_has_encoder(model) || !llama_model_has_decoder(model)) {
    throw InputError(file, "this model has an encoder; plans need a model that only decodes", "use a chat model");
  }
  if (llama_model_is_diffusion(model)) {
    throw InputError(file, "this model writes by diffusion, not token by token", "use a chat model");
  }
}

}  // namespace

}  // namespace metactrl::lm

namespace metactrl {

std::unique_ptr<LanguageModel> load_model(const std::string& file, const ModelOptions& options) {
  lm::check_gguf_header(file);
  lm::Placement placement = lm::choose_placement(file, options);
  while (true) {
    try {
      const lm::ModelPtr model = lm::load_gguf(file, lm::Load::kAll, placement, options.stop);
      lm::check_kind(model.get(), file);
      ModelOptions placed = options;
      placed.gpu_layers = placement.layers;
      placed.stop = {};  // it is over
      return std::make_unique<lm::LlamaModel>(model, placed, placement, file);
    } catch (const ModelError&) {
      // It did not fit. Whoever named a number wants to know.
      if (options.gpu_layers || placement.layers == 0) throw;
      placement = lm::smaller(placement);
    }
  }
}

}  // namespace metactrl
