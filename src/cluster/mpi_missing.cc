// What takes the place of mpi_group.cc in a build without MPI.
#include "cluster/join.h"
#include "metactrl/error.h"

namespace metactrl::cluster {

std::unique_ptr<ProcessGroup> join() {
  const Launch started = launch();
  if (started.by_mpi || started.size > 1) {
    throw InputError(
        started.by_mpi ? "mpirun" : "srun", "this program was built without MPI",
        "start it alone, or configure with -DMETACTRL_MPI=ON where MPI is installed (Debian: libopenmpi-dev)");
  }
  return std::make_unique<SingleProcess>();
}

bool has_mpi() { return false; }

}  // namespace metactrl::cluster
