// Which of a model's layers a GPU holds.
//
// The last layers go first, the one that makes logits being the last; the table of tokens stays with the CPU. Several GPUs
// share them by how much memory is free on each.
#ifndef METACTRL_SRC_LM_LLAMA_PLACEMENT_H_
#define METACTRL_SRC_LM_LLAMA_PLACEMENT_H_

#include <llama.h>

#include <string>
#include <vector>

#include "metactrl/language_model.h"

namespace metactrl::lm {

struct Placement {
  std::vector<ggml_backend_dev_t> devices;  // empty: the CPU alone
  unsigned layers = 0;                      // that they hold
};

// The GPUs that are there, each once; integrated ones only where there is no other.
std::vector<ggml_backend_dev_t> gpu_devices();

// What the options ask for. Looks at the file where that is as much as fits. Throws InputError when layers are asked for
// and there is no GPU, and for files as load_gguf does.
Placement choose_placement(const std::string& file, const ModelOptions& options);
// After `placement` turned out to be too much: fewer layers, in the end none.
Placement smaller(const Placement& placement);

// "CPU"; "NVIDIA H200 (33 of 33 layers)"
std::string device_text(const Placement& placement, const llama_model* model);

// What a model takes of a GPU's memory, in bytes.
struct MemoryNeed {
  unsigned layers = 0;    // all of them, the one that makes logits included
  double per_layer = 0;   // weights, and its share of the context
  double per_device = 0;  // for what is computed, and to spare
};
// How many layers fit, given what is free on each GPU.
unsigned layers_that_fit(const MemoryNeed& need, const std::vector<double>& free);

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_PLACEMENT_H_
