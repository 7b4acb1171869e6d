// Launchers leave the rank in the environment. MPI itself could be asked, but a process that was not started by a
// launcher would pay for starting it, some hundred milliseconds and a helper process.
//
// Of Slurm's numbers those of the step are read: a job's script, which no srun started, has SLURM_NTASKS and a
// SLURM_PROCID of 0 as well, and is alone all the same.
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/join.h"

namespace metactrl::cluster {

namespace {

std::optional<unsigned> number_in(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string text_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string() : value;
}

// PMIx (Open MPI, srun --mpi=pmix) has a name for each launch; Slurm a number for each step of a job.
std::string job_name() {
  if (std::string name = text_in("PMIX_NAMESPACE"); !name.empty()) return name;
  const std::string job = text_in("SLURM_JOB_ID");
  const std::string step = text_in("SLURM_STEP_ID");
  return job.empty() || step.empty() ? std::string() : job + "." + step;
}

struct Launcher {
  const char* rank;
  const char* size;
  const char* rank_on_machine;
  bool mpi;
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", true},  // Open MPI
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", true},                          // srun --mpi=pmix
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", true},                                     // MPICH and its relatives
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", false},                      // srun
};

}  // namespace

Launch launch() {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<unsigned> rank = number_in(launcher.rank);
    const std::optional<unsigned> size = number_in(launcher.size);
    if (!rank || (!launcher.mpi && !size)) continue;
    const unsigned on_machine = number_in(launcher.rank_on_machine).value_or(0);
    return {true, launcher.mpi, *rank, size && *size > *rank ? *size : 0, on_machine, job_name()};
  }
  return {};
}

}  // namespace metactrl::cluster
