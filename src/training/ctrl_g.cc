// Ctrl-G's checkpoints: alpha_exp (H x H, probabilities), beta (H x V, logarithms), gamma (H, logarithms), and a
// config.json beside them. Their logarithm of zero is -1e30. What its trainer leaves normalised up to rounding must be
// so, and is normalised in double; gamma, which that program normalises whenever it uses it, may have any sum.
//
// A checkpoint knows nothing of what its symbols mean. What is exported carries that in the metadata of the
// safetensors file, which Ctrl-G does not read, so that a model comes back as it was.
#include "metactrl/training/ctrl_g.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "metactrl/error.h"
#include "support/files.h"
#include "support/str_cat.h"
#include "training/safetensors.h"

namespace metactrl {

using internal::str_cat;
using training::SafeTensors;
using training::Tensor;

namespace {

constexpr float kLogZero = -1e30F;
constexpr double kExchangeTolerance = 0.01;  // of a sum that should be 1

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

// Row `row` of a tensor, of probabilities or of logarithms, scaled to sum 1, to out[0], out[stride], ...
struct RowReader {
  const std::string& file;
  const char* tensor;
  bool logarithms;
  bool any_sum;

  void read(const Tensor& from, std::size_t row, float* out, std::size_t stride) const {
    const std::size_t count = from.shape.back();
    const float* values = from.values.data() + row * count;
    const double largest = logarithms ? *std::max_element(values, values + count) : 0;
    const auto value = [&](std::size_t i) { return logarithms ? std::exp(values[i] - largest) : values[i]; };
    double sum = 0;
    bool valid = !logarithms || largest > kLogZero / 2;
    for (std::size_t i = 0; i < count; ++i) {
      sum += value(i);
      valid = valid && value(i) >= 0;
    }
    const double whole = logarithms ? sum * std::exp(largest) : sum;
    valid = valid && std::isfinite(sum) && sum > 0 && (any_sum || std::abs(whole - 1) <= kExchangeTolerance);
    if (!valid) {
      throw InputError(file,
                       str_cat("row ", row, " of ", tensor, " is no distribution",
                               logarithms ? ": its exponentials sum to " : ": it sums to ", whole),
                       logarithms ? "it should hold logarithms, as Ctrl-G writes them; check the checkpoint"
                                  : "it should hold probabilities, as Ctrl-G writes them; check the checkpoint");
    }
    for (std::size_t i = 0; i < count; ++i) out[i * stride] = static_cast<float>(value(i) / sum);
  }
};

// --- what the symbols mean -------------------------------------------------------------------------------------------

constexpr const char* kActions = "metactrl_actions";        // names, one blank between two
constexpr const char* kSlots = "metactrl_slots";            // a number
constexpr const char* kEnd = "metactrl_end";                // token level: a number
constexpr const char* kVocabulary = "metactrl_vocabulary";  // token level: the fingerprint
constexpr std::string_view kDigits = "0123456789abcdef";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

// Characters that JSON or a list of words could take for something else are written as %xx.
std::string encode_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(c)) {
      result += c;
    } else {
      result += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return result;
}

std::string decode_name(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t high = text[i] == '%' && i + 2 < text.size() ? kDigits.find(text[i + 1]) : std::string_view::npos;
    const std::size_t low = high != std::string_view::npos ? kDigits.find(text[i + 2]) : std::string_view::npos;
    if (low == std::string_view::npos) {
      result += text[i];
    } else {
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

std::map<std::string, std::string> describe(const Alphabet& alphabet) {
  if (!alphabet.is_meta()) {
    return {{kEnd, std::to_string(static_cast<std::uint32_t>(alphabet.end))},
            {kVocabulary, std::to_string(alphabet.vocabulary)}};
  }
  std::string actions;
  for (std::size_t i = 0; i < alphabet.num_actions; ++i) {
    actions += (i == 0 ? "" : " ") + encode_name(alphabet.names[i]);
  }
  return {{kActions, actions}, {kSlots, std::to_string(alphabet.num_slots)}};
}

// Nothing where the file was not written by export_safetensors.
std::optional<Alphabet> described(const std::map<std::string, std::string>& metadata, std::size_t symbols,
                                  const std::string& file) {
  const auto number = [&](const char* key) {
    const auto found = metadata.find(key);
    std::uint64_t value = 0;
    if (found == metadata.end()) return std::optional<std::uint64_t>();
    const char* end = found->second.data() + found->second.size();
    const auto [stop, error] = std::from_chars(found->second.data(), end, value);
    if (error != std::errc() || stop != end) {
      throw InputError(file, str_cat("its metadata '", key, "' is no number"), "copy the file again");
    }
    return std::optional<std::uint64_t>(value);
  };
  std::optional<Alphabet> alphabet;
  if (const auto actions = metadata.find(kActions); actions != metadata.end()) {
    std::vector<std::string> names;
    std::string_view left = actions->second;
    while (!left.empty()) {
      const std::size_t end = std::min(left.find(' '), left.size());
      names.push_back(decode_name(left.substr(0, end)));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    const std::uint64_t slots = number(kSlots).value_or(0);
    if (slots <= symbols) alphabet = Alphabet::meta(names, slots);
  } else if (const auto end = number(kEnd); end && *end < symbols) {
    alphabet = Alphabet::tokens(symbols, static_cast<std::uint32_t>(*end), number(kVocabulary).value_or(0));
  } else {
    return std::nullopt;
  }
  if (!alphabet || alphabet->size != symbols) {
    throw InputError(file, "its metadata names other symbols than its tensors have", "copy the file again");
  }
  return alphabet;
}

// From the config.json beside the file.
Alphabet configured(const std::string& file, std::size_t hidden, std::size_t symbols) {
  const std::string config = config_beside(file);
  const std::map<std::string, std::uint64_t> numbers = training::read_json_numbers(internal::read_file(config), config);
  const auto check = [&](const char* key, std::size_t value) {
    const auto found = numbers.find(key);
    if (found == numbers.end() || found->second == value) return;
    throw InputError(config, str_cat(key, " is ", found->second, ", but the tensors beside it have ", value),
                     "put each checkpoint into a folder of its own, with its own config.json");
  };
  check("hidden_states", hidden);
  check("vocab_size", symbols);
  const auto end = numbers.find("eos_token_id");
  if (end == numbers.end()) {
    throw InputError(config, "has no number 'eos_token_id'", "it should be the config.json of a Ctrl-G checkpoint");
  }
  if (end->second >= symbols) {
    throw InputError(config, "eos_token_id is not one of the symbols", "check the checkpoint");
  }
  return Alphabet::tokens(symbols, static_cast<std::uint32_t>(end->second));
}

}  // namespace

Hmm import_ctrl_g(const std::string& file, const std::optional<Alphabet>& alphabet) {
  const SafeTensors content = training::read_safetensors(internal::read_file(file), file);
  const Tensor& alpha = find(content.tensors, "alpha_exp", 2, file);
  const Tensor& beta = find(content.tensors, "beta", 2, file);
  const Tensor& gamma = find(content.tensors, "gamma", 1, file);
  const std::size_t hidden = gamma.shape[0];
  const std::size_t symbols = beta.shape[1];
  if (hidden == 0 || symbols == 0 || alpha.shape != std::vector<std::size_t>{hidden, hidden} ||
      beta.shape[0] != hidden) {
    throw InputError(file, "has tensors whose sizes do not fit together", "check the checkpoint");
  }
  std::optional<Alphabet> meaning = alphabet;
  if (meaning && meaning->size != symbols) {
    throw InputError(file, str_cat("has ", symbols, " symbols, the alphabet ", meaning->size),
                     "give the alphabet it was trained with");
  }
  if (!meaning) meaning = described(content.metadata, symbols, file);
  if (!meaning) meaning = configured(file, hidden, symbols);
  std::vector<float> initial(hidden);
  std::vector<float> transition(hidden * hidden);
  std::vector<float> emission(symbols * hidden);
  RowReader{file, "gamma", true, true}.read(gamma, 0, initial.data(), 1);
  for (std::size_t z = 0; z < hidden; ++z) {
    RowReader{file, "alpha_exp", false, false}.read(alpha, z, transition.data() + z * hidden, 1);
    RowReader{file, "beta", true, false}.read(beta, z, emission.data() + z, hidden);
  }
  return {*std::move(meaning), hidden,
          std::move(initial),  std::move(transition),
          std::move(emission), str_cat("imported from ", std::filesystem::path(file).filename().string())};
}

void export_ctrl_g(const Hmm& hmm, const std::string& file) {
  const std::string config = config_beside(file);
  if (std::filesystem::path(file).filename() == "config.json") {
    throw InputError(file, "is the name of the file that goes beside the tensors", "call it model.safetensors");
  }
  const std::size_t hidden = hmm.num_hidden();
  const std::size_t symbols = hmm.num_symbols();
  const auto logarithm = [](float value) { return value > 0 ? std::log(value) : kLogZero; };
  const std::string settings = str_cat("{\n  \"eos_token_id\": ", static_cast<std::uint32_t>(hmm.alphabet().end),
                                       ",\n  \"hidden_states\": ", hidden, ",\n  \"vocab_size\": ", symbols, "\n}\n");
  if (std::filesystem::exists(config) && internal::read_file(config) != settings) {
    throw InputError(config, "is there already, with other numbers than this model's",
                     "put each checkpoint into a folder of its own");
  }
  SafeTensors content;
  content.metadata = describe(hmm.alphabet());
  Tensor& alpha = content.tensors["alpha_exp"];
  alpha.shape = {hidden, hidden};
  alpha.values.assign(hmm.transition().begin(), hmm.transition().end());
  Tensor& beta = content.tensors["beta"];
  beta.shape = {hidden, symbols};
  beta.values.resize(hidden * symbols);
  for (std::size_t v = 0; v < symbols; ++v) {
    for (std::size_t z = 0; z < hidden; ++z) beta.values[z * symbols + v] = logarithm(hmm.emission()[v * hidden + z]);
  }
  Tensor& gamma = content.tensors["gamma"];
  gamma.shape = {hidden};
  for (const float value : hmm.initial()) gamma.values.push_back(logarithm(value));
  internal::write_file(file, training::write_safetensors(content));
  internal::write_file(config, settings);
}

}  // namespace metactrl
