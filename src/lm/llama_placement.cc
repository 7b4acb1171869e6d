// How much memory a model takes is estimated from its header: llama.cpp tells only by taking it. The estimate errs on the
// side of too much, and where it does not, the load fails and is tried with fewer layers (load_model).
#include "lm/llama_placement.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lm/backends.h"
#include "lm/llama_engine.h"
#include "lm/llama_runtime.h"
#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;

// Two backends may know the same GPU.
bool is_same_gpu(ggml_backend_dev_t a, ggml_backend_dev_t b) {
  ggml_backend_dev_props first{};
  ggml_backend_dev_props second{};
  ggml_backend_dev_get_props(a, &first);
  ggml_backend_dev_get_props(b, &second);
  return first.device_id != nullptr && second.device_id != nullptr &&
         std::strcmp(first.device_id, second.device_id) == 0;
}

std::vector<ggml_backend_dev_t> devices_of(enum ggml_backend_dev_type type) {
  std::vector<ggml_backend_dev_t> devices;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    if (ggml_backend_dev_type(device) != type) continue;
    const bool known = std::any_of(devices.begin(), devices.end(),
                                   [device](ggml_backend_dev_t other) { return is_same_gpu(device, other); });
    if (!known) devices.push_back(device);
  }
  return devices;
}

unsigned num_layers(const llama_model* model) { return static_cast<unsigned>(llama_model_n_layer(model)) + 1; }

MemoryNeed estimate(const llama_model* model, const ModelOptions& options) {
  const unsigned cells = plan_context(model, options).cells * std::max(1U, options.separate_contexts);
  MemoryNeed need;
  need.layers = num_layers(model);
  const double all = static_cast<double>(llama_model_size(model)) + context_bytes(model, cells);
  need.per_layer = all / need.layers;
  // Rows of logits, the mask over the context, and a dozen rows as wide as the model, for each token of a batch.
  constexpr double kTokens = 512;
  constexpr double kRows = 16;
  const double logits = static_cast<double>(LlamaEngine::kMaxOutputs) *
                        llama_vocab_n_tokens(llama_model_get_vocab(model)) * sizeof(float);
  const double mask = kTokens * cells * sizeof(float);
  const double rows = kTokens * kRows * llama_model_n_embd(model) * sizeof(float);
  constexpr double kSpare = 1024.0 * 1024.0 * 1024.0;  // the driver's own, other programs, what the estimate forgot
  need.per_device = logits + mask + rows + kSpare;
  return need;
}

}  // namespace

std::vector<ggml_backend_dev_t> gpu_devices() {
  std::vector<ggml_backend_dev_t> devices = devices_of(GGML_BACKEND_DEVICE_TYPE_GPU);
  if (devices.empty()) devices = devices_of(GGML_BACKEND_DEVICE_TYPE_IGPU);
  return devices;
}

unsigned layers_that_fit(const MemoryNeed& need, const std::vector<double>& free) {
  double layers = 0;
  // A layer is on one device.
  for (const double bytes : free) layers += std::floor(std::max(0.0, bytes - need.per_device) / need.per_layer);
  return static_cast<unsigned>(std::min<double>(layers, need.layers));
}

Placement choose_placement(const std::string& file, const ModelOptions& options) {
  if (options.gpu_layers == 0U) return {};
  load_added_backends();
  Placement placement{gpu_devices(), 0};
  if (placement.devices.empty()) {
    if (!options.gpu_layers) return {};
    const std::string refused = refused_backends();
    throw InputError(file,
                     str_cat(*options.gpu_layers, " layers were asked to be on a GPU, and llama.cpp knows of none",
                             refused.empty() ? "" : "; ", refused),
                     "'metactrl backends' says what is missing; or do not ask for layers");
  }
  if (options.gpu_layers) {
    placement.layers = *options.gpu_layers;
    return placement;
  }
  std::vector<double> free;
  for (ggml_backend_dev_t device : placement.devices) {
    std::size_t bytes = 0;
    std::size_t total = 0;
    ggml_backend_dev_memory(device, &bytes, &total);
    free.push_back(static_cast<double>(bytes));
  }
  placement.layers = layers_that_fit(estimate(load_gguf(file, Load::kHeader, {}).get(), options), free);
  return placement.layers == 0 ? Placement{} : placement;
}

Placement smaller(const Placement& placement) {
  const unsigned layers = placement.layers - std::max(1U, placement.layers / 4);
  // A few layers gain little, and each try loads the model.
  constexpr unsigned kFew = 4;
  return layers <= kFew ? Placement{} : Placement{placement.devices, layers};
}

std::string device_text(const Placement& placement, const llama_model* model) {
  if (placement.devices.empty()) return "CPU";
  std::string text;
  for (std::size_t i = 0; i < placement.devices.size();) {
    const std::string name = ggml_backend_dev_description(placement.devices[i]);
    std::size_t count = 0;
    for (; i < placement.devices.size() && name == ggml_backend_dev_description(placement.devices[i]); ++i) ++count;
    text += str_cat(text.empty() ? "" : " and ", count > 1 ? str_cat(count, " x ") : "", name);
  }
  const unsigned all = num_layers(model);
  return str_cat(text, " (", std::min(placement.layers, all), " of ", all, " layers)");
}

}  // namespace metactrl::lm
