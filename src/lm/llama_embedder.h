// Hidden states of a model of llama.cpp, from a context of their own: the one of the sessions keeps no such numbers.
#ifndef METACTRL_SRC_LM_LLAMA_EMBEDDER_H_
#define METACTRL_SRC_LM_LLAMA_EMBEDDER_H_

#include <llama.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "lm/llama_engine.h"
#include "lm/llama_runtime.h"
#include "metactrl/language_model.h"

namespace metactrl::lm {

// Not for two threads at once.
class LlamaEmbedder {
 public:
  // Throws ModelError when memory does not suffice.
  LlamaEmbedder(ModelPtr model, std::size_t context, unsigned threads);

  static std::size_t size_of(const llama_model* model);
  // See LanguageModel::embed.
  std::vector<float> embed(std::span<const TokenId> tokens);

 private:
  struct FreeContext {
    void operator()(llama_context* context) const { llama_free(context); }
  };

  ModelPtr model_;
  std::unique_ptr<llama_context, FreeContext> context_;
  std::size_t context_length_;
  LlamaBatch batch_;
};

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_EMBEDDER_H_
