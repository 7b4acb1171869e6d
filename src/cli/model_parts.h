// GGUF files that come in parts: "big-00001-of-00003.gguf" and the two beside it. llama.cpp is given the first and
// finds the others by their names.
#ifndef METACTRL_SRC_CLI_MODEL_PARTS_H_
#define METACTRL_SRC_CLI_MODEL_PARTS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace metactrl::cli {

struct PartName {
  std::string prefix;     // "big", with the folders it is in
  std::size_t index = 0;  // from 1
  std::size_t count = 0;
};

// Nothing when the file's name is not of this form.
std::optional<PartName> parse_part_name(const std::string& file);
// "big-00002-of-00003.gguf"; "big.gguf" when it is the only one.
std::string part_file(const std::string& prefix, std::size_t index, std::size_t count);
// All files of the model that the file is, or is the first part of, in their order.
std::vector<std::string> all_parts(const std::string& file);
// What a model is called after its file: "big".
std::string model_name_of(const std::string& file);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_MODEL_PARTS_H_
