// SharedCache: things that are expensive to make, kept by key until they take too much memory.
//
//     SharedCache<Task> tasks(256 << 20);
//     auto found = tasks.get(key, [&] { return load(...); }, [](const Task& task) { return task.memory_bytes(); }, {});
//
// Single flight: while one thread makes the thing for a key, others that ask for it wait instead of making it again.
// When making it fails, those that wait get the same exception, unless it failed because its own caller gave up
// (Stopped::kCancelled) or ran out of memory, which may be there again: then one of them takes over.
//
// Least recently used things leave first. A thing larger than the whole cache is handed out and not kept. What was
// handed out stays alive as long as somebody holds it. All functions may be called from many threads.
#ifndef METACTRL_SRC_SERVE_SHARED_CACHE_H_
#define METACTRL_SRC_SERVE_SHARED_CACHE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "metactrl/error.h"

namespace metactrl::serve {

struct CacheCounts {
  std::uint64_t hits = 0;  // waiting for another's included
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;
  std::size_t entries = 0;
  std::size_t bytes = 0;
};

template <typename Value>
class SharedCache {
 public:
  using Pointer = std::shared_ptr<const Value>;
  struct Found {
    Pointer value;
    bool hit = false;
  };

  explicit SharedCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // `make` may return null: then nothing is kept, and whoever waited gets it all the same. `cancelled` (may be empty)
  // is asked while waiting for another thread; throws Stopped when it says so.
  Found get(const std::string& key, const std::function<Pointer()>& make,
            const std::function<std::size_t(const Value&)>& bytes_of, const Stop& cancelled) {
    std::unique_lock lock(mutex_);
    while (true) {
      if (const auto found = entries_.find(key); found != entries_.end()) {
        order_.splice(order_.begin(), order_, found->second.place);
        ++counts_.hits;
        return {found->second.value, true};
      }
      const auto flying = flights_.find(key);
      if (flying == flights_.end()) break;
      const std::shared_ptr<Flight> flight = flying->second;
      while (!flight->landed) {
        landed_.wait_for(lock, kPoll);
        if (!flight->landed && cancelled && cancelled()) throw Stopped(Stopped::kCancelled);
      }
      if (flight->abandoned) continue;
      if (flight->failure) std::rethrow_exception(flight->failure);
      ++counts_.hits;
      return {flight->value, true};
    }
    ++counts_.misses;
    const auto flight = std::make_shared<Flight>();
    flights_.emplace(key, flight);
    lock.unlock();
    std::size_t bytes = 0;
    try {
      flight->value = make();
      if (flight->value != nullptr) bytes = key.size() + bytes_of(*flight->value);
    } catch (const Stopped& stopped) {
      flight->abandoned = stopped.reason() == Stopped::kCancelled;
      flight->failure = std::current_exception();
    } catch (const std::bad_alloc&) {
      flight->abandoned = true;
      flight->failure = std::current_exception();
    } catch (...) {
      flight->failure = std::current_exception();
    }
    lock.lock();
    flights_.erase(key);
    flight->landed = true;
    landed_.notify_all();
    if (flight->failure) std::rethrow_exception(flight->failure);
    if (flight->value != nullptr && bytes <= max_bytes_) insert(key, flight->value, bytes);
    return {flight->value, false};
  }

  CacheCounts counts() const {
    const std::scoped_lock lock(mutex_);
    CacheCounts out = counts_;
    out.entries = entries_.size();
    out.bytes = bytes_;
    return out;
  }

 private:
  static constexpr auto kPoll = std::chrono::milliseconds(50);

  struct Flight {
    bool landed = false;
    bool abandoned = false;
    Pointer value;
    std::exception_ptr failure;
  };
  struct Entry {
    Pointer value;
    std::size_t bytes = 0;
    std::list<std::string>::iterator place;
  };

  void insert(const std::string& key, const Pointer& value, std::size_t bytes) {
    order_.push_front(key);
    try {
      entries_[key] = {value, bytes, order_.begin()};
    } catch (...) {
      order_.pop_front();
      throw;
    }
    bytes_ += bytes;
    while (bytes_ > max_bytes_) {
      const auto oldest = entries_.find(order_.back());
      bytes_ -= oldest->second.bytes;
      entries_.erase(oldest);
      order_.pop_back();
      ++counts_.evictions;
    }
  }

  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable landed_;
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
  std::list<std::string> order_;  // the most recently used first
  std::size_t bytes_ = 0;
  CacheCounts counts_;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_SHARED_CACHE_H_
