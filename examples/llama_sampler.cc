// A llama.cpp program that lets metactrl constrain its sampler chain.
//
//     llama_sampler MODEL.gguf DOMAIN.pddl PROBLEM.pddl
//
// Everything about the model is plain llama.cpp; the lines with `metactrl` in them are what makes its answer a valid
// plan.
#include <llama.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "metactrl/language_model.h"
#include "metactrl_llama_sampler.h"

namespace {

using ModelPtr = std::unique_ptr<llama_model, decltype(&llama_model_free)>;
using ContextPtr = std::unique_ptr<llama_context, decltype(&llama_free)>;
using SamplerPtr = std::unique_ptr<llama_sampler, decltype(&llama_sampler_free)>;

std::vector<llama_token> tokenize(const llama_vocab* vocab, const std::string& text) {
  std::vector<llama_token> tokens(text.size() + 2);
  const int count = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), tokens.data(),
                                   static_cast<int>(tokens.size()), true, true);
  tokens.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
  return tokens;
}

int run(const std::string& model_file, const std::string& domain, const std::string& problem) {
  metactrl::load_model_backends();
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  const ModelPtr model(llama_model_load_from_file(model_file.c_str(), llama_model_default_params()), llama_model_free);
  if (model == nullptr) throw std::runtime_error("cannot load " + model_file);
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 2048;
  // Threads without a core of their own make the others wait.
  params.n_threads = params.n_threads_batch = static_cast<int>(std::max(1U, std::thread::hardware_concurrency() / 2));
  const ContextPtr context(llama_init_from_model(model.get(), params), llama_free);
  if (context == nullptr) throw std::runtime_error("cannot make a context");
  const llama_vocab* vocab = llama_model_get_vocab(model.get());

  // The constraint: the task's rules, in the vocabulary of this model, where the answer continues this prompt.
  const std::string prompt = "Put all dishes into the dishwasher.\nPlan:\n";
  const metactrl::Task task = metactrl::load_pddl(domain, problem);
  metactrl::ConstraintOptions options;
  options.context = prompt;
  const auto constraint = metactrl::Constraint::compile(task, metactrl::PlanFormat::builtin("pddl"),
                                                        metactrl::vocabulary_of(model.get()), options);

  const SamplerPtr chain(llama_sampler_chain_init(llama_sampler_chain_default_params()), llama_sampler_free);
  llama_sampler_chain_add(chain.get(), metactrl_llama_sampler(metactrl::Decoder(constraint, {})));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_temp(0.8F));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_dist(42));

  std::vector<llama_token> tokens = tokenize(vocab, prompt);
  for (int step = 0; step < 1000; ++step) {
    if (llama_decode(context.get(), llama_batch_get_one(tokens.data(), static_cast<int>(tokens.size()))) != 0) {
      throw std::runtime_error("the model failed");
    }
    const llama_token token = llama_sampler_sample(chain.get(), context.get(), -1);
    if (llama_vocab_is_eog(vocab, token)) break;
    char piece[128];
    const int length = llama_token_to_piece(vocab, token, piece, sizeof(piece), 0, false);
    std::cout.write(piece, length < 0 ? 0 : length);
    tokens = {token};
  }

  const metactrl::Decoder* decoder = metactrl_llama_sampler_decoder(llama_sampler_chain_get(chain.get(), 0));
  const bool valid = decoder->finished() && task.validate(decoder->actions()).valid;
  std::cout << (valid ? "valid plan, " : "no plan, ") << decoder->actions().size() << " actions\n";
  return valid ? 0 : 10;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: llama_sampler MODEL.gguf DOMAIN.pddl PROBLEM.pddl\n";
    return 30;
  }
  try {
    return run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 31;
  }
}
