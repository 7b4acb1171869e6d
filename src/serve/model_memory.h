// ModelMemory: who may use how much of a model's memory, and the prompts that stay in it.
//
//     ModelMemory memory(model, 8192, 64);                             // tokens and sessions that there is room for
//     auto lease = memory.enter(prompt, {.sessions = 1, .answer = 500}, [&] { return client_is_gone(); });
//     std::unique_ptr<Session> session = lease.session();              // has read the prompt
//     ...                                                              // the room is back when the lease is gone
//
// Room. The sessions of a model share its memory. A request waits, first come first served, until what it may need at
// most is free: its prompt, and its longest answer once for every session that grows. So none ends in the middle
// because of another one. One that needs more than there is goes alone.
//
// Prompts. Reading a prompt is most of the work of a short answer, and requests repeat themselves: the same task asked
// again, a conversation that goes on. So a prompt stays in memory after its request as long as nobody needs the room,
// and whoever comes with the same prompt begins behind it (Session::fork: the cells are shared, not copied); those who
// come while it is being read wait for that. Of a prompt that begins like one that is there only the rest is read. The
// least recently used leave first.
//
// Whether a prompt was kept changes what a session says by no more than rounding. All functions may be called from many
// threads; the sessions of a lease must be gone before it is.
#ifndef METACTRL_SRC_SERVE_MODEL_MEMORY_H_
#define METACTRL_SRC_SERVE_MODEL_MEMORY_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "metactrl/language_model.h"

namespace metactrl::serve {

class ModelMemory {
 private:
  struct Kept;

 public:
  struct Needs {
    std::size_t sessions = 1;  // that grow side by side
    std::size_t answer = 0;    // the most tokens that one of them appends
  };

  struct Counts {
    std::uint64_t prompts_read = 0;
    std::uint64_t prompts_reused = 0;  // waiting for another's included
    std::uint64_t tokens_reused = 0;   // of prompts; those of a common beginning included
    std::size_t waiting = 0;           // for room
    std::size_t tokens = 0;            // in use or kept
    std::size_t prompts_kept = 0;
  };

  class Lease {
   public:
    Lease() = default;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Lease(Lease&& other) noexcept { *this = std::move(other); }
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { leave(); }

    // A session of its own, behind the prompt. As many at a time as `needs` said.
    std::unique_ptr<Session> session() const;
    std::span<const TokenId> prompt() const;
    explicit operator bool() const { return memory_ != nullptr; }

   private:
    friend class ModelMemory;
    Lease(ModelMemory* memory, std::shared_ptr<Kept> kept, Needs needs)
        : memory_(memory), kept_(std::move(kept)), needs_(needs) {}
    void leave();

    ModelMemory* memory_ = nullptr;
    std::shared_ptr<Kept> kept_;
    Needs needs_;
  };

  // `tokens` and `sessions`: what there is room for; 0: no limit.
  ModelMemory(std::shared_ptr<LanguageModel> model, std::size_t tokens, std::size_t sessions);
  ~ModelMemory();
  ModelMemory(const ModelMemory&) = delete;
  ModelMemory& operator=(const ModelMemory&) = delete;

  // Waits for room, and reads the prompt where it is not kept. Throws ContextError when prompt and answer are longer
  // than the context, ModelError when the model fails, Stopped when `cancelled` (may be empty) says so.
  Lease enter(std::span<const TokenId> prompt, Needs needs, const Stop& cancelled);

  Counts counts() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // --- these need the lock ---
  std::shared_ptr<Kept> find(std::span<const TokenId> prompt) const;
  bool fits(std::size_t tokens, std::size_t sessions) const;
  void wait_for_room(Lock& lock, std::span<const TokenId> prompt, const Needs& needs, const Stop& cancelled);
  // Makes one that nobody uses leave, the oldest first; not `but`. False when there is none. Releases the lock on the
  // way.
  bool drop_one(Lock& lock, const Kept* but);
  void forget(const Kept& kept);
  void release(Kept& kept, const Needs& needs);

  // A lease whose prompt has yet to be read; `known`: by somebody else.
  Lease take_room(std::span<const TokenId> prompt, const Needs& needs, const Stop& cancelled, bool& known);
  void read(const std::shared_ptr<Kept>& kept, const Needs& needs, const Stop& cancelled);
  std::unique_ptr<Session> begin(std::span<const TokenId> prompt, std::size_t answer, const Stop& cancelled);
  // Of one that `begin` holds on to, which it no longer does then.
  std::unique_ptr<Session> fork_of(Kept& kept);
  // False when its reader left before the end.
  bool wait_until_read(const Kept& kept, const Stop& cancelled);

  const std::shared_ptr<LanguageModel> model_;
  const std::size_t max_tokens_;
  const std::size_t max_sessions_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::uint64_t> queue_;
  std::uint64_t next_ticket_ = 0;
  std::list<std::shared_ptr<Kept>> kept_;  // the most recently used first
  std::size_t leases_ = 0;
  std::size_t used_tokens_ = 0;    // of answers
  std::size_t used_sessions_ = 0;  // of answers
  std::size_t kept_tokens_ = 0;    // of prompts, those of leases included
  std::size_t kept_sessions_ = 0;
  Counts counts_;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_MODEL_MEMORY_H_
