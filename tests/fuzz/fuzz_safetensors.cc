// Arbitrary bytes as a safetensors file, and as a JSON object of numbers. What was read is written as a file that reads the
// same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "metactrl/error.h"
#include "training/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace metactrl::training;  // NOLINT(google-build-using-namespace)
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    read_json_numbers(bytes, "fuzz.json");
  } catch (const metactrl::InputError&) {
  }
  try {
    const SafeTensors content = read_safetensors(bytes, "fuzz.safetensors");
    const std::string written = write_safetensors(content);
    const SafeTensors again = read_safetensors(written, "again.safetensors");
    if (again.tensors.size() != content.tensors.size() || write_safetensors(again) != written) std::abort();
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
