// Several processes as one training: what `mpirun -n 4 metactrl train ...` needs.
//
//     std::unique_ptr<ProcessGroup> group = cluster::join();   // this one alone, unless it was started as one of many
//
// The only module that knows of MPI and of those that start processes. A build without MPI says so when it is started
// as one of several processes, since each of them would otherwise do all the work and write the same file.
#ifndef METACTRL_SRC_CLUSTER_JOIN_H_
#define METACTRL_SRC_CLUSTER_JOIN_H_

#include <memory>
#include <string>

#include "metactrl/training/process_group.h"

namespace metactrl::cluster {

// What a launcher told this process by its environment, before any group is joined.
struct Launch {
  bool by_launcher = false;  // mpirun, mpiexec, srun: one of several processes, or of one
  bool by_mpi = false;       // MPI knows the others; not with srun --mpi=none
  unsigned rank = 0;
  unsigned size = 0;  // 0: the launcher does not say
  unsigned rank_on_machine = 0;
  std::string job{};  // the same for all of them, and for no other launch; empty: the launcher does not say
};
Launch launch();

// Which of a machine's GPUs the process of this number on it uses: they take turns, so that with more processes than
// GPUs several share one. It also fits launchers that show each process a GPU of its own. 0 where there is none.
constexpr int gpu_of(unsigned rank_on_machine, int gpus) {
  return gpus > 0 ? static_cast<int>(rank_on_machine % static_cast<unsigned>(gpus)) : 0;
}

// The group of the processes that were started together. May be called once; the group must be destroyed before the
// program ends, which waits for the others. Throws InputError where this process is one of several that MPI cannot
// bring together: in a build without it, or when srun started them without it.
std::unique_ptr<ProcessGroup> join();

// Whether this build has MPI.
bool has_mpi();

}  // namespace metactrl::cluster

#endif  // METACTRL_SRC_CLUSTER_JOIN_H_
