// Ctrl-G's checkpoints: alpha_exp (H x H, probabilities), beta (H x V, logarithms), gamma (H, logarithms), and a
// config.json beside them. Their logarithm of zero is -1e30. Rows are normalised on reading, in double, as they are
// whenever that program uses gamma, and as its trainer leaves the others.
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "hmm/safetensors.h"
#include "metactrl/error.h"
#include "metactrl/hmm.h"
#include "support/files.h"
#include "support/str_cat.h"

namespace metactrl {

using hmm::Tensor;
using internal::str_cat;

namespace {

constexpr float kLogZero = -1e30F;

const Tensor& find(const std::map<std::string, Tensor>& tensors, const std::string& name, std::size_t dimensions,
                   const std::string& file) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || found->second.shape.size() != dimensions) {
    throw InputError(file, str_cat("has no tensor '", name, "' with ", dimensions, dimensions == 1 ? " axis" : " axes"),
                     "it should hold alpha_exp, beta and gamma, as Ctrl-G writes them");
  }
  return found->second;
}

std::string config_beside(const std::string& file) {
  return (std::filesystem::path(file).parent_path() / "config.json").string();
}

// `values[i * stride]` of a row of probabilities, or of logarithms, scaled to sum 1.
void read_row(const float* values, std::size_t count, bool logarithms, std::size_t stride, float* out,
              const std::string& what, const std::string& file) {
  double largest = 0;
  if (logarithms) {
    largest = values[0];
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<double>(values[i]));
  }
  const auto value = [&](std::size_t i) { return logarithms ? std::exp(values[i] - largest) : values[i]; };
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += value(i);
  if (!std::isfinite(sum) || !(sum > 0)) {
    throw InputError(file, str_cat(what, " holds a row that is no distribution"), "check the checkpoint");
  }
  for (std::size_t i = 0; i < count; ++i) out[i * stride] = static_cast<float>(value(i) / sum);
}

}  // namespace

Hmm Hmm::import_safetensors(const std::string& file, const std::optional<Alphabet>& alphabet) {
  const std::map<std::string, Tensor> tensors = hmm::read_safetensors(internal::read_file(file), file);
  const Tensor& alpha = find(tensors, "alpha_exp", 2, file);
  const Tensor& beta = find(tensors, "beta", 2, file);
  const Tensor& gamma = find(tensors, "gamma", 1, file);
  const std::size_t hidden = gamma.shape[0];
  const std::size_t symbols = beta.shape[1];
  if (hidden == 0 || symbols == 0 || alpha.shape != std::vector<std::size_t>{hidden, hidden} ||
      beta.shape[0] != hidden) {
    throw InputError(file, "has tensors whose sizes do not fit together", "check the checkpoint");
  }
  Alphabet symbols_of;
  if (alphabet) {
    symbols_of = *alphabet;
    if (symbols_of.size != symbols) {
      throw InputError(file, str_cat("has ", symbols, " symbols, the alphabet ", symbols_of.size),
                       "give the alphabet it was trained with");
    }
  } else {
    const std::string config = config_beside(file);
    const std::uint64_t end = hmm::read_json_number(internal::read_file(config), "eos_token_id", config);
    if (end >= symbols) throw InputError(config, "eos_token_id is not one of the symbols", "check the checkpoint");
    symbols_of = Alphabet::tokens(symbols, static_cast<std::uint32_t>(end));
  }
  std::vector<float> initial(hidden);
  std::vector<float> transition(hidden * hidden);
  std::vector<float> emission(symbols * hidden);
  read_row(gamma.values.data(), hidden, true, 1, initial.data(), "gamma", file);
  for (std::size_t z = 0; z < hidden; ++z) {
    read_row(alpha.values.data() + z * hidden, hidden, false, 1, transition.data() + z * hidden, "alpha_exp", file);
    read_row(beta.values.data() + z * symbols, symbols, true, hidden, emission.data() + z, "beta", file);
  }
  return {std::move(symbols_of), hidden,
          std::move(initial),    std::move(transition),
          std::move(emission),   str_cat("imported from ", std::filesystem::path(file).filename().string())};
}

void Hmm::export_safetensors(const std::string& file) const {
  const std::size_t hidden = num_hidden();
  const std::size_t symbols = num_symbols();
  const auto logarithm = [](float value) { return value > 0 ? std::log(value) : kLogZero; };
  std::map<std::string, Tensor> tensors;
  Tensor& alpha = tensors["alpha_exp"];
  alpha.shape = {hidden, hidden};
  alpha.values.assign(transition().begin(), transition().end());
  Tensor& beta = tensors["beta"];
  beta.shape = {hidden, symbols};
  beta.values.resize(hidden * symbols);
  for (std::size_t v = 0; v < symbols; ++v) {
    for (std::size_t z = 0; z < hidden; ++z) beta.values[z * symbols + v] = logarithm(emission()[v * hidden + z]);
  }
  Tensor& gamma = tensors["gamma"];
  gamma.shape = {hidden};
  for (const float value : initial()) gamma.values.push_back(logarithm(value));
  internal::write_file(file, hmm::write_safetensors(tensors));
  internal::write_file(config_beside(file),
                       str_cat("{\n  \"eos_token_id\": ", static_cast<std::uint32_t>(alphabet().end),
                               ",\n  \"hidden_states\": ", hidden, ",\n  \"vocab_size\": ", symbols, "\n}\n"));
}

}  // namespace metactrl
