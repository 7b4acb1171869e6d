// A shared library that is no backend of llama.cpp. Where a test wants it, it needs another that the system cannot find, or
// has what NVIDIA's compiler adds: one container with machine code for GPUs of compute capability 8.6 and 12.0, and with PTX
// 9.1, which is of CUDA 13.1, for 7.5. The code itself is left out.
#ifdef METACTRL_HAS_GPU_CODE
#include <array>
#include <cstdint>

struct Container {
  std::uint32_t magic = 0xba55ed50;
  std::uint16_t version = 1;
  std::uint16_t header_bytes = 16;
  std::uint64_t bytes = 0;
};
struct Entry {
  std::uint16_t kind = 0;
  std::uint16_t attributes = 0x101;
  std::uint32_t header_bytes = 64;
  std::uint64_t bytes = 8;
  std::uint64_t skipped = 0;
  std::uint16_t minor = 0;
  std::uint16_t major = 0;
  std::uint32_t capability = 0;
  std::array<std::uint64_t, 4> rest{};
  std::uint64_t code = 0;
};
struct Code {
  Container first;
  std::array<Entry, 3> entries;
  Container second;
  std::array<Entry, 1> more;
};
static_assert(sizeof(Code) == 2 * 16 + 4 * 72);
extern "C" {
__attribute__((section(".nv_fatbin"))) extern const Code metactrl_gpu_code;
const Code metactrl_gpu_code = {{.bytes = 3 * 72},
                                {Entry{.kind = 1, .minor = 1, .major = 9, .capability = 75},
                                 Entry{.kind = 2, .minor = 8, .major = 1, .capability = 86},
                                 Entry{.kind = 2, .minor = 8, .major = 1, .capability = 120}},
                                {.bytes = 72},
                                {Entry{.kind = 2, .minor = 8, .major = 1, .capability = 86}}};
}
#endif

extern "C" {
#ifdef METACTRL_NEEDS_ANOTHER
int metactrl_from_elsewhere();
int metactrl_no_backend() { return metactrl_from_elsewhere(); }
#elif defined(METACTRL_IS_THE_OTHER)
int metactrl_from_elsewhere() { return 2; }
#else
int metactrl_no_backend() { return 1; }
#endif
}
