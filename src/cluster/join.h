// Several processes as one training: what `mpirun -n 4 metactrl train ...` needs.
//
//     std::unique_ptr<ProcessGroup> group = cluster::join();   // this process alone, unless it was started as one of
//     many
//
// The only module that knows of MPI. A build without it says so when it is started as one of several processes, since
// each of them would otherwise do all the work and write the same file.
#ifndef METACTRL_SRC_CLUSTER_JOIN_H_
#define METACTRL_SRC_CLUSTER_JOIN_H_

#include <memory>

#include "metactrl/process_group.h"

namespace metactrl::cluster {

// What a launcher (mpirun, mpiexec, srun --mpi) told this process by its environment, before any group is joined.
struct Launch {
  bool by_launcher = false;
  unsigned rank = 0;
};
Launch launch();

// The group of the processes that were started together. May be called once; the group must be destroyed before the
// program ends, which waits for the others. Throws InputError in a build without MPI that was started as one of
// several.
std::unique_ptr<ProcessGroup> join();

// Whether this build has MPI.
bool has_mpi();

}  // namespace metactrl::cluster

#endif  // METACTRL_SRC_CLUSTER_JOIN_H_
