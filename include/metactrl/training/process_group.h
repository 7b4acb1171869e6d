// ProcessGroup: several processes, on one machine or on many, that train one model together.
//
//     auto engine = metactrl::make_cpu_engine({.group = &group});      // the same program runs in every process
//     metactrl::Trainer trainer(start, sequences, *engine, options);   // each has the whole of the sequences
//     while (trainer.step()) {}                                        // and ends with the same model, bit by bit
//
// The processes are numbered from 0. This is all that training needs of whatever connects them; the program has an
// implementation by MPI, and a host may bring its own. Every process makes the same calls in the same order; a call
// returns when its part is done. What is sent are the machine's own bytes: all machines have one byte order.
//
// A group belongs to one thread at a time.
#ifndef METACTRL_TRAINING_PROCESS_GROUP_H_
#define METACTRL_TRAINING_PROCESS_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace metactrl {

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  // The number of this process, below size().
  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;
  // The number of this process among those of its machine: by it they take its GPUs in turn.
  virtual unsigned rank_on_machine() const = 0;

  // From one process to another. Messages between two arrive in order, and a receiver knows how long the next one is.
  virtual void send(unsigned to, std::span<const std::byte> bytes) = 0;
  virtual void receive(unsigned from, std::span<std::byte> bytes) = 0;
  // From process 0 to all: there `bytes` is read, elsewhere written.
  virtual void broadcast(std::span<std::byte> bytes) = 0;

  // Ends all processes of the group at once, this one included, with this exit code: for a failure that the others
  // cannot know of. Does not return.
  [[noreturn]] virtual void end_all(int exit_code) = 0;
};

// A group of this process alone. It sends nothing; end_all ends the process.
class SingleProcess final : public ProcessGroup {
 public:
  unsigned rank() const override { return 0; }
  unsigned size() const override { return 1; }
  unsigned rank_on_machine() const override { return 0; }
  // Throw std::logic_error: there is nobody else.
  void send(unsigned to, std::span<const std::byte> bytes) override;
  void receive(unsigned from, std::span<std::byte> bytes) override;
  void broadcast(std::span<std::byte> /*bytes*/) override {}
  [[noreturn]] void end_all(int exit_code) override;
};

// The largest of what the processes give, in all of them. Two messages per process.
std::uint64_t largest_of(ProcessGroup& group, std::uint64_t mine);

}  // namespace metactrl

#endif  // METACTRL_TRAINING_PROCESS_GROUP_H_
