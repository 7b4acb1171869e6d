// Launchers leave the rank in the environment. MPI itself could be asked, but a process that was not started by a
// launcher would pay for starting it, some hundred milliseconds and a helper process.
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "cluster/join.h"

namespace metactrl::cluster {

Launch launch() {
  // Open MPI; PMIx, which srun and newer launchers use; MPICH and its relatives.
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view text(value);
    unsigned rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc() && end == text.data() + text.size()) return {true, rank};
  }
  return {};
}

}  // namespace metactrl::cluster
