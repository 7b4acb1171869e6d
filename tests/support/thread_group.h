// Several processes of a group, played by threads of one.
//
//     testing::in_group(3, [&](ProcessGroup& group) { ... });     // three threads, each with its own rank
//
// Messages are copied through queues, one for each pair. A process that throws ends the test's call with its exception,
// once all threads are done, so a body that throws in one rank alone must not be waited for.
#ifndef METACTRL_TESTS_SUPPORT_THREAD_GROUP_H_
#define METACTRL_TESTS_SUPPORT_THREAD_GROUP_H_

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "metactrl/training/process_group.h"

namespace metactrl::testing {

class ThreadGroup final : public ProcessGroup {
 public:
  struct Mail {
    std::mutex mutex;
    std::condition_variable arrived;
    std::map<std::pair<unsigned, unsigned>, std::deque<std::vector<std::byte>>> queues;  // by sender and receiver
  };

  ThreadGroup(unsigned rank, unsigned size, Mail& mail) : rank_(rank), size_(size), mail_(mail) {}
  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }
  unsigned rank_on_machine() const override { return rank_; }

  void send(unsigned to, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mail_.mutex);
    mail_.queues[{rank_, to}].emplace_back(bytes.begin(), bytes.end());
    mail_.arrived.notify_all();
  }

  void receive(unsigned from, std::span<std::byte> bytes) override {
    std::unique_lock lock(mail_.mutex);
    std::deque<std::vector<std::byte>>& queue = mail_.queues[{from, rank_}];
    mail_.arrived.wait(lock, [&] { return !queue.empty(); });
    if (queue.front().size() != bytes.size()) throw std::logic_error("a message of another length was expected");
    std::copy(queue.front().begin(), queue.front().end(), bytes.begin());
    queue.pop_front();
  }

  void broadcast(std::span<std::byte> bytes) override {
    if (rank_ != 0) {
      receive(0, bytes);
      return;
    }
    for (unsigned to = 1; to < size_; ++to) send(to, bytes);
  }

  [[noreturn]] void end_all(int /*exit_code*/) override { std::abort(); }

 private:
  unsigned rank_;
  unsigned size_;
  Mail& mail_;
};

inline void in_group(unsigned size, const std::function<void(ProcessGroup&)>& body) {
  ThreadGroup::Mail mail;
  std::vector<std::exception_ptr> failures(size);
  {
    std::vector<std::jthread> threads;
    for (unsigned rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          ThreadGroup group(rank, size, mail);
          body(group);
        } catch (...) {
          failures[rank] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_THREAD_GROUP_H_
