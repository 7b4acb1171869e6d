// A text is read in pieces, since llama.cpp keeps the logits of every token of a piece beside its hidden state: 64 MiB
// with 128K tokens in the vocabulary.
#include "lm/llama_embedder.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;

constexpr std::size_t kPiece = 128;

}  // namespace

std::size_t LlamaEmbedder::size_of(const llama_model* model) {
  return static_cast<std::size_t>(std::max(llama_model_n_embd_out(model), 0));
}

LlamaEmbedder::LlamaEmbedder(ModelPtr model, std::size_t context, unsigned threads)
    : model_(std::move(model)), context_length_(context) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(context);
  params.n_batch = static_cast<std::uint32_t>(std::min(context, kPiece));
  params.n_ubatch = params.n_batch;
  params.n_outputs_max = params.n_batch;
  params.n_seq_max = 1;
  params.n_threads = static_cast<std::int32_t>(threads);
  params.n_threads_batch = static_cast<std::int32_t>(threads);
  params.embeddings = true;
  params.pooling_type = LLAMA_POOLING_TYPE_NONE;
  params.no_perf = true;
  ErrorLog log;
  try {
    context_.reset(llama_init_from_model(model_.get(), params));
  } catch (const std::exception& error) {
    throw ModelError(str_cat("a context for embeddings cannot be made: ", error.what()));
  }
  if (context_ == nullptr) throw ModelError(str_cat("a context for embeddings cannot be made (", log.reason(), ")"));
}

std::vector<float> LlamaEmbedder::embed(std::span<const TokenId> tokens) {
  const std::size_t size = size_of(model_.get());
  if (tokens.size() > context_length_) {
    throw ContextError(str_cat("the text has ", tokens.size(), " tokens and the context holds ", context_length_));
  }
  const std::int32_t vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model_.get()));
  for (const TokenId token : tokens) {
    const auto id = static_cast<std::int32_t>(token);
    if (id < 0 || id >= vocabulary) throw std::invalid_argument(str_cat("token ", id, " is not in the vocabulary"));
  }
  std::vector<float> result;
  result.reserve(tokens.size() * size);
  llama_memory_clear(llama_get_memory(context_.get()), true);
  const std::array<llama_seq_id, 1> own = {0};
  for (std::size_t begin = 0; begin < tokens.size(); begin += kPiece) {
    const std::size_t end = std::min(tokens.size(), begin + kPiece);
    batch_.clear();
    for (std::size_t i = begin; i < end; ++i) batch_.add(tokens[i], i, own, true);
    ErrorLog log;
    std::int32_t status = 0;
    try {
      status = llama_decode(context_.get(), batch_.view());
    } catch (const std::exception& error) {
      throw ModelError(str_cat("the model failed: ", error.what()));
    }
    if (status != 0) throw ModelError(str_cat("the model failed with status ", status, ": ", log.reason()));
    for (std::size_t i = begin; i < end; ++i) {
      const float* const row = llama_get_embeddings_ith(context_.get(), static_cast<std::int32_t>(i - begin));
      if (row == nullptr) throw ModelError("the model gave no embeddings");
      result.insert(result.end(), row, row + size);
    }
  }
  return result;
}

}  // namespace metactrl::lm
