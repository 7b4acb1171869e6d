// Arbitrary bytes as what the program of a world answers: a greeting, an observation, or what came of an action; or an error
// that quotes the line in printable letters.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/world_answer.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const metactrl::WorldError& error) {
    for (const char* letter = error.what(); *letter != '\0'; ++letter) {
      require(static_cast<unsigned char>(*letter) >= 0x20 && *letter != 0x7f);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string line(reinterpret_cast<const char*>(data), size);
  for (const std::uint64_t id : {std::uint64_t{1}, std::uint64_t{7}}) {
    attempt([&] {
      for (const metactrl::Sighting& sighting : metactrl::cli::read_observation(line, id).sightings)
        require(!sighting.alternatives.empty() || line.find("one_of") != std::string::npos);
    });
    attempt([&] { metactrl::cli::read_greeting(line, id); });
    attempt([&] { metactrl::cli::read_execution(line, id); });
  }
  return 0;
}
