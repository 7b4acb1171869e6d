// The safetensors format, as far as it is needed: named arrays of 32-bit floats.
//
//     length of the header u64, header (JSON), data
//     {"beta": {"dtype": "F32", "shape": [128, 132], "data_offsets": [0, 67584]}, ..., "__metadata__": {...}}
//
// Strict: what is not understood, overlaps, leaves a gap or reaches beyond the file is an InputError that says so.
#ifndef METACTRL_SRC_TRAINING_SAFETENSORS_H_
#define METACTRL_SRC_TRAINING_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::training {

struct Tensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;  // row-major
};

struct SafeTensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;  // without anything that JSON would escape
};

// `file` is for messages.
SafeTensors read_safetensors(std::string_view bytes, const std::string& file);
std::string write_safetensors(const SafeTensors& content);

// The whole numbers that stand at the top of a JSON object, by their keys. Throws InputError for what is no object.
std::map<std::string, std::uint64_t> read_json_numbers(std::string_view json, const std::string& file);

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_SAFETENSORS_H_
