// How fast the llama.cpp at hand computes a model, without any of ours: to compare the ready-made one with one from source.
//
//     llama_speed MODEL [RUNS]
//
// One thread. A prompt of 128 tokens in one batch, then 16 tokens one by one; the tokens themselves do not matter. Prints the
// medians in tokens per second of processor time, so that a busy machine disturbs little.
#include <dlfcn.h>
#include <llama.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

constexpr int kPrompt = 128;
constexpr int kSteps = 16;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "llama_speed: %s\n", what);
  std::exit(1);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Computes these tokens behind those that are there; seconds.
double compute(llama_context* context, std::vector<llama_token> tokens) {
  const double begin = cpu_seconds();
  if (llama_decode(context, llama_batch_get_one(tokens.data(), static_cast<int>(tokens.size()))) != 0) {
    give_up("the model cannot be computed");
  }
  return cpu_seconds() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) give_up("usage: llama_speed MODEL [RUNS]");
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  if (ggml_backend_dev_count() == 0) {
    Dl_info library{};
    ::dladdr(reinterpret_cast<const void*>(&llama_version), &library);
    const std::string file = library.dli_fname;
    ggml_backend_load_all_from_path(file.substr(0, file.rfind('/')).c_str());
  }
  llama_model_params model_params = llama_model_default_params();
  model_params.n_gpu_layers = 0;
  llama_model* model = llama_model_load_from_file(argv[1], model_params);
  if (model == nullptr) give_up("the model cannot be loaded");
  llama_context_params params = llama_context_default_params();
  params.n_ctx = kPrompt + kSteps;
  params.n_batch = params.n_ubatch = kPrompt;
  params.n_threads = params.n_threads_batch = 1;
  llama_context* context = llama_init_from_model(model, params);
  if (context == nullptr) give_up("there is no room for a context");

  const int size = llama_vocab_n_tokens(llama_model_get_vocab(model));
  std::vector<llama_token> prompt;
  for (int i = 0; i < kPrompt; ++i) prompt.push_back(10 + i * 37 % (size - 10));
  std::vector<double> prompt_speed;
  std::vector<double> step_speed;
  const int runs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  compute(context, {prompt[0]});  // reads the weights
  for (int run = 0; run < runs; ++run) {
    llama_memory_clear(llama_get_memory(context), true);
    const double prompt_time = compute(context, prompt);
    double step_time = 0;
    for (int i = 0; i < kSteps; ++i) step_time += compute(context, {prompt[static_cast<std::size_t>(i)]});
    prompt_speed.push_back(kPrompt / prompt_time);
    step_speed.push_back(kSteps / step_time);
  }
  std::printf("prompt %.1f, generation %.1f tokens per second of one core\n", median(prompt_speed), median(step_speed));
  llama_free(context);
  llama_model_free(model);
}
