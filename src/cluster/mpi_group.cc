// A group of processes by MPI. Messages are cut into pieces, since MPI counts in int. Errors of MPI end all processes
// with a message of MPI's own (its default): a process that is gone cannot be worked around, and what was saved is on
// disk.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>

#include "cluster/join.h"
#include "metactrl/error.h"

namespace metactrl::cluster {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 28U;  // bytes

class MpiGroup final : public ProcessGroup {
 public:
  MpiGroup() {
    int provided = 0;
    ::MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    int number = 0;
    ::MPI_Comm_rank(MPI_COMM_WORLD, &number);
    rank_ = static_cast<unsigned>(number);
    ::MPI_Comm_size(MPI_COMM_WORLD, &number);
    size_ = static_cast<unsigned>(number);
    MPI_Comm machine{};
    ::MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    ::MPI_Comm_rank(machine, &number);
    rank_on_machine_ = static_cast<unsigned>(number);
    ::MPI_Comm_free(&machine);
  }
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;
  ~MpiGroup() override { ::MPI_Finalize(); }

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }
  unsigned rank_on_machine() const override { return rank_on_machine_; }

  void send(unsigned to, std::span<const std::byte> bytes) override {
    in_pieces(bytes, [&](auto piece, int count) {
      ::MPI_Send(piece.data(), count, MPI_BYTE, static_cast<int>(to), 0, MPI_COMM_WORLD);
    });
  }

  void receive(unsigned from, std::span<std::byte> bytes) override {
    in_pieces(bytes, [&](auto piece, int count) {
      ::MPI_Recv(piece.data(), count, MPI_BYTE, static_cast<int>(from), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }

  void broadcast(std::span<std::byte> bytes) override {
    in_pieces(bytes, [](auto piece, int count) { ::MPI_Bcast(piece.data(), count, MPI_BYTE, 0, MPI_COMM_WORLD); });
  }

  [[noreturn]] void end_all(int exit_code) override {
    ::MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  template <typename Bytes, typename Each>
  static void in_pieces(Bytes bytes, const Each& each) {
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), kPiece);
      each(bytes.first(count), static_cast<int>(count));
      bytes = bytes.subspan(count);
    }
  }

  unsigned rank_ = 0;
  unsigned size_ = 1;
  unsigned rank_on_machine_ = 0;
};

}  // namespace

std::unique_ptr<ProcessGroup> join() {
  const Launch started = launch();
  if (started.by_mpi) return std::make_unique<MpiGroup>();
  if (started.size > 1) {
    throw InputError("srun", "started this program several times, and MPI knows of none of them",
                     "start it once, or with srun --mpi=pmix");
  }
  return std::make_unique<SingleProcess>();
}

bool has_mpi() { return true; }

}  // namespace metactrl::cluster
