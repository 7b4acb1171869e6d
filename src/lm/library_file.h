// A shared library as a file, looked at before it is loaded.
//
// The system's loader maps a library as its headers say. Of one that was cut off it touches pages that are not there, and
// the program is killed; and some libraries ask for what they need to be looked for in the working directory, too. So a
// library that somebody put somewhere is looked at first, and what it needs is loaded beforehand, from where the system
// has it.
#ifndef METACTRL_SRC_LM_LIBRARY_FILE_H_
#define METACTRL_SRC_LM_LIBRARY_FILE_H_

#include <compare>
#include <string>
#include <vector>

namespace metactrl::lm {

// A kind of code for NVIDIA GPUs that a library brings along.
struct GpuCode {
  unsigned capability = 0;   // of the GPUs it is for: 86 for 8.6
  unsigned ptx_version = 0;  // 91 for 9.1, of the language that a driver translates; 0 for machine code

  auto operator<=>(const GpuCode&) const = default;
};

struct LibraryFile {
  std::string problem;              // "it is cut off"; empty when it may be loaded
  std::vector<std::string> needed;  // the libraries it needs: "libcuda.so.1"
  std::vector<GpuCode> gpu_code;    // each kind once, in order; empty where there is none, or none that is understood
};

// Reads the headers alone. Never throws for what is in the file.
LibraryFile look_at_library(const std::string& file);

// Those of the libraries that the system does not find. The others are loaded and stay so.
std::vector<std::string> missing_libraries(const std::vector<std::string>& names);

// "x86_64"
std::string machine_name();

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LIBRARY_FILE_H_
