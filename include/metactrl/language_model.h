// LanguageModel: tokens in, logits out.
//
//     std::unique_ptr<LanguageModel> model = load_model("llama-3-8b.gguf", {});
//     std::vector<TokenId> prompt = model->encode_prompt({.user = "Put the dishes into the dishwasher."});
//     std::unique_ptr<Session> session = model->start(prompt, 512);   // with room for an answer of 512 tokens
//     std::span<const float> logits = session->logits();
//
// A model is shared and immutable; a session is one conversation and belongs to one thread at a time. Sessions of one
// model may share its memory, so calls on them are serialised inside.
#ifndef METACTRL_LANGUAGE_MODEL_H_
#define METACTRL_LANGUAGE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/vocabulary.h"

struct llama_model;  // of llama.cpp

namespace metactrl {

// The model or its runtime failed while working (out of memory, context full): not bad input, not a bug of ours.
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A prompt, or a prompt with the answer it may need, is longer than the model's context: another prompt may do.
class ContextError : public ModelError {
 public:
  using ModelError::ModelError;
};

class Session {
 public:
  virtual ~Session() = default;

  // Appends tokens. The model runs when something is asked of it (logits, score, fork): all tokens appended since then
  // are one batch, so a run of forced tokens costs one call, and a run at the end that nobody asks about costs none.
  // Throws ContextError when the context is full, std::invalid_argument for a token that is not in the vocabulary.
  virtual void append(std::span<const TokenId> tokens) = 0;
  // The logits after the last token; vocabulary().size() values, valid until the next call on this session. Throws
  // ModelError when the memory that the sessions of a model share is full, or when the session is empty.
  virtual std::span<const float> logits() = 0;
  // Number of tokens so far, prompt included.
  virtual std::size_t size() const = 0;
  // Drops tokens from the end until `size` are left; does nothing when there are not more. At most one token is
  // evaluated again (all since the prompt where a model's memory cannot be cut: recurrent models).
  virtual void rollback(std::size_t size) = 0;
  // An independent copy; the past is shared where the model's cache allows it, evaluated again where not.
  virtual std::unique_ptr<Session> fork() = 0;
  // log p(path | the session so far) for several continuations, evaluated as one batched tree: common prefixes once.
  // The session stays as it was. out[i][j] is the log-probability of paths[i][j]. A tree too large for one batch takes
  // several.
  virtual std::vector<std::vector<float>> score(std::span<const std::vector<TokenId>> paths) = 0;
  // How many times the model was run (a batch counts once).
  virtual std::size_t num_calls() const = 0;

  // A call that reads a few tokens more takes hardly longer on a GPU: so many more are worth reading to be spared another call.
  // 0: every token costs. Sessions that share calls have a part of it each.
  virtual std::size_t spare_tokens() const { return 0; }
  // A hint before logits(): one of these continuations of what was appended, none of them empty and the likeliest first, may
  // be what is appended next. As many as spare_tokens() allows are read in the same call, of sessions that share calls the
  // first alone; if one of them comes true, and nobody else has run the model meanwhile (which does not matter where
  // calls are shared), its logits cost no call. Says nothing, and changes nothing but who waits for whom.
  virtual void expect(std::span<const std::vector<TokenId>> /*continuations*/) {}
};

struct Prompt {
  // Something that was said before.
  struct Turn {
    bool by_model = false;  // else by the user
    std::string text;
  };
  std::string system;
  std::string user;
  // Not empty: sent as it is instead of the chat template. Special tokens written out in it are special tokens; in
  // `system` and `user` they are plain text.
  std::string raw;
  // A conversation so far, between `system` and `user`.
  std::vector<Turn> earlier{};
  // True: the prompt ends where the model's thought begins; false: where the answer of a model that does not think, or
  // has finished, begins. Unless given, the prompt is as the template has it by itself.
  std::optional<bool> thinking{};
  // How much the model should think, in a word ("low"), for templates that know such words.
  std::string effort{};
  // What else the template is told: names, and values written as JSON.
  std::vector<std::pair<std::string, std::string>> template_arguments{};
};

class LanguageModel {
 public:
  // How a model that thinks first writes: `open`, the thought, `lead`, `close`, `answer`, and then what it has to say.
  struct ThinkingFormat {
    std::string open;         // "<think>\n"
    std::string lead;         // "\n"
    std::string close;        // "</think>"
    std::string answer;       // "\n\n"
    bool by_default = false;  // it thinks unless it is told not to
  };

  virtual ~LanguageModel() = default;
  virtual const Vocabulary& vocabulary() const = 0;
  virtual std::string description() const = 0;
  virtual std::size_t context_length() const = 0;
  // What it runs on: "CPU", or "NVIDIA H200 (33 of 33 layers)", the layer that makes logits counted. Empty for models
  // without weights.
  virtual std::string device() const { return {}; }
  // The prompt's text as the model expects it (its own chat template), up to where the answer begins. A model without a
  // template gets "<system>\n\n<user>\n\n" (without the first part when `system` is empty, with earlier turns in
  // between). Throws InputError when the template cannot be used, or refuses this prompt; a raw prompt needs none.
  virtual std::string render_prompt(const Prompt& prompt) const = 0;
  // How it thinks; none: it does not, or nobody knows how.
  virtual std::optional<ThinkingFormat> thinking_format() const { return std::nullopt; }
  // The tokens of a piece of the chat template's own text, in which special tokens are special tokens.
  virtual std::vector<TokenId> encode_markup(const std::string& text) const { return vocabulary().encode(text, ""); }
  // The tokens of that text; the beginning-of-text token comes first where the model wants one. A long text takes
  // seconds: Stopped when `stop` says so.
  virtual std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& stop) const = 0;
  std::vector<TokenId> encode_prompt(const Prompt& prompt) const { return encode_prompt(prompt, {}); }
  // Throws ContextError when the prompt does not fit into the context with `reserve` tokens to spare, ModelError when
  // there are as many sessions as may be. Sessions may outlive the model.
  virtual std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve = 0) = 0;
  // Says that many prompts from here on will begin with these tokens, so that a model may read them once and begin each
  // such session behind them. Replaces what was said before; an empty one takes it back. What a session says changes by
  // no more than rounding, and for one prefix does not depend on which sessions came before. Without effect on models
  // that have nothing to gain.
  virtual void expect_prefix(std::span<const TokenId> /*prefix*/) {}
  // How many numbers embed() gives for each token; 0 when this model gives none.
  virtual std::size_t embedding_size() const { return 0; }
  // For each of these tokens what the model knows behind it: the last layer's hidden state, from which it would predict
  // the next. One vector after the other. Has nothing to do with sessions; may be called from many threads. Throws
  // ModelError where there are none and when memory is short, ContextError when the tokens do not fit into the context,
  // std::invalid_argument for a token that is not in the vocabulary.
  virtual std::vector<float> embed(std::span<const TokenId> /*tokens*/) {
    throw ModelError("this model gives no embeddings");
  }
};

struct ModelOptions {
  unsigned threads = 0;  // 0: as many as there are cores, one for a small model
  unsigned context = 0;  // 0: what the model was trained for, at most 8192
  // Layers that GPUs hold. Unless given, as many as fit into the memory that is free there, and none where there is no
  // GPU; 0: none. A number that does not fit is an error. GPUs are reached through llama.cpp's backends, which are files
  // beside its library or in the folder that METACTRL_BACKENDS names in the environment (unless set, where `metactrl
  // backends add` puts them in the user's cache).
  std::optional<unsigned> gpu_layers = std::nullopt;
  // Sessions (forks included) that may be alive at once. They share the context's memory, and what they have in common
  // is held once. 0: 64, or 16 for recurrent models, where each one costs memory of its own.
  unsigned max_sequences = 0;
  // How many full contexts that memory holds.
  unsigned shared_contexts = 1;
  // So many memories, each as above. A session has one to itself as long as there are no more of them than memories
  // (its forks are with it), and what it is told does then not depend on any other, not even by rounding.
  unsigned separate_contexts = 1;
  // For sessions on many threads: the model runs on a thread of its own, and what several sessions ask at the same time
  // is one batch. What a session is told does not depend on it, but for rounding.
  bool batched = false;
  // What Session::spare_tokens says of a call with one session. Unless given: some where the whole model is on GPUs, none
  // otherwise.
  std::optional<unsigned> spare_tokens = std::nullopt;
  // Asked while the file is read; true ends the loading with Stopped.
  Stop stop{};
};

// A GGUF file, through llama.cpp. Throws InputError for a file that is missing, truncated or of an unsupported kind,
// ModelError when there is not enough memory. Without llama.cpp (see model_runtime) both throw an InputError that says
// how to get it. The first call takes over llama.cpp's log, which is global: nothing is printed.
std::unique_ptr<LanguageModel> load_model(const std::string& file, const ModelOptions& options = {});
// Only the vocabulary of a GGUF file (also of vocabulary-only files).
std::unique_ptr<Vocabulary> load_vocabulary(const std::string& file);
// The vocabulary of a model that the program loaded itself with llama.cpp; the model must outlive it. Throws as
// load_vocabulary does.
std::unique_ptr<Vocabulary> vocabulary_of(const llama_model* model);
// What runs the models, "llama.cpp 0.5.0" for example; empty when this library was built without.
std::string model_runtime();

// Where llama.cpp's backends are files, loads them; load_model does so by itself. For programs that also call llama.cpp on their own, before they do.
void load_model_backends();

// --- models for tests: no weights, any vocabulary ---

// Logits are a hash of the seed and the tokens so far: reproducible, and different for every prefix.
std::unique_ptr<LanguageModel> random_model(std::shared_ptr<const Vocabulary> vocabulary, std::uint64_t seed);
// Does its best to break a plan: garbage, repetition, an early end or none, NaN and infinity, changing from token to
// token.
std::unique_ptr<LanguageModel> hostile_model(std::shared_ptr<const Vocabulary> vocabulary, std::uint64_t seed);

}  // namespace metactrl

#endif  // METACTRL_LANGUAGE_MODEL_H_
