// The cache and the gate, alone and with many threads.
#include "serve/shared_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "serve/gate.h"

namespace metactrl::serve::shared_cache_test {
namespace {

using Cache = SharedCache<std::string>;

std::size_t bytes_of(const std::string& value) { return value.size(); }
std::shared_ptr<const std::string> made(std::size_t size) { return std::make_shared<const std::string>(size, 'x'); }

TEST(SharedCache, FindsWhatWasMade) {
  Cache cache(1000);
  int calls = 0;
  const auto make = [&] {
    ++calls;
    return made(10);
  };
  EXPECT_FALSE(cache.get("a", make, bytes_of, {}).hit);
  EXPECT_TRUE(cache.get("a", make, bytes_of, {}).hit);
  EXPECT_FALSE(cache.get("b", make, bytes_of, {}).hit);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(cache.counts().hits, 1U);
  EXPECT_EQ(cache.counts().misses, 2U);
  EXPECT_EQ(cache.counts().bytes, 22U);
}

TEST(SharedCache, TheLeastRecentlyUsedLeaves) {
  Cache cache(33);  // three entries of 10 bytes and a key of one
  const auto make = [] { return made(10); };
  for (const char* key : {"a", "b", "c"}) cache.get(key, make, bytes_of, {});
  cache.get("a", make, bytes_of, {});
  cache.get("d", make, bytes_of, {});
  EXPECT_EQ(cache.counts().evictions, 1U);
  EXPECT_LE(cache.counts().bytes, 33U);
  EXPECT_TRUE(cache.get("a", make, bytes_of, {}).hit);
  EXPECT_TRUE(cache.get("c", make, bytes_of, {}).hit);
  EXPECT_TRUE(cache.get("d", make, bytes_of, {}).hit);
  EXPECT_FALSE(cache.get("b", make, bytes_of, {}).hit);
}

TEST(SharedCache, WhatIsTooLargeIsHandedOutAndNotKept) {
  Cache cache(100);
  cache.get("small", [] { return made(10); }, bytes_of, {});
  const auto large = cache.get("large", [] { return made(1000); }, bytes_of, {});
  EXPECT_EQ(large.value->size(), 1000U);
  EXPECT_EQ(cache.counts().entries, 1U);
  EXPECT_EQ(cache.counts().evictions, 0U);
}

TEST(SharedCache, FailuresAreNotKept) {
  Cache cache(100);
  EXPECT_THROW(cache.get("a", []() -> Cache::Pointer { throw std::runtime_error("no"); }, bytes_of, {}),
               std::runtime_error);
  EXPECT_FALSE(cache.get("a", [] { return made(1); }, bytes_of, {}).hit);
}

TEST(SharedCache, SingleFlight) {
  Cache cache(1000);
  std::atomic<int> calls{0};
  std::atomic<int> asking{0};
  constexpr int kThreads = 8;
  const auto make = [&] {
    ++calls;
    while (asking < kThreads) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return made(10);
  };
  std::vector<std::thread> threads;
  std::atomic<int> hits{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ++asking;
      hits += cache.get("a", make, bytes_of, {}).hit ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(hits, kThreads - 1);
}

TEST(SharedCache, WaitersShareAFailure) {
  Cache cache(1000);
  std::atomic<bool> begun{false};
  std::atomic<bool> go_on{false};
  std::thread first([&] {
    EXPECT_THROW(cache.get("a",
                           [&]() -> Cache::Pointer {
                             begun = true;
                             while (!go_on) std::this_thread::yield();
                             throw std::runtime_error("no");
                           },
                           bytes_of, {}),
                 std::runtime_error);
  });
  while (!begun) std::this_thread::yield();
  std::thread second([&] {
    EXPECT_THROW(cache.get(
                     "a", [&]() -> Cache::Pointer { throw std::logic_error("the second one makes nothing"); }, bytes_of,
                     [&] {
                       go_on = true;  // asked while it waits
                       return false;
                     }),
                 std::runtime_error);
  });
  first.join();
  second.join();
}

TEST(SharedCache, AnotherTakesOverWhenTheFirstGivesUp) {
  Cache cache(1000);
  std::atomic<bool> begun{false};
  std::atomic<bool> go_on{false};
  std::thread first([&] {
    EXPECT_THROW(cache.get("a",
                           [&]() -> Cache::Pointer {
                             begun = true;
                             while (!go_on) std::this_thread::yield();
                             throw Stopped(Stopped::kCancelled);
                           },
                           bytes_of, {}),
                 Stopped);
  });
  while (!begun) std::this_thread::yield();
  std::thread second([&] {
    const auto found = cache.get(
        "a", [] { return made(7); }, bytes_of,
        [&] {
          go_on = true;
          return false;
        });
    EXPECT_EQ(found.value->size(), 7U);
    EXPECT_FALSE(found.hit);
  });
  first.join();
  second.join();
}

TEST(SharedCache, AWaiterCanLeave) {
  Cache cache(1000);
  std::atomic<bool> begun{false};
  std::atomic<bool> left{false};
  std::thread first([&] {
    cache.get("a",
              [&] {
                begun = true;
                while (!left) std::this_thread::yield();
                return made(1);
              },
              bytes_of, {});
  });
  while (!begun) std::this_thread::yield();
  EXPECT_THROW(cache.get(
                   "a", [] { return made(1); }, bytes_of, [] { return true; }),
               Stopped);
  left = true;
  first.join();
}

TEST(Gate, LetsInWhatFits) {
  Gate gate(10, 10);
  Gate::Pass a = gate.enter(6, {});
  Gate::Pass b = gate.enter(4, {});
  EXPECT_EQ(gate.used(), 10U);
  EXPECT_THROW(gate.enter(1, [] { return true; }), Stopped);
  a.leave();
  EXPECT_EQ(gate.used(), 4U);
  const Gate::Pass c = gate.enter(6, {});
  EXPECT_EQ(gate.used(), 10U);
  EXPECT_EQ(gate.waiting(), 0U);
}

TEST(Gate, WhoIsTooLargeGoesAlone) {
  Gate gate(10, 10);
  {
    const Gate::Pass large = gate.enter(100, {});
    EXPECT_THROW(gate.enter(1, [] { return true; }), Stopped);
  }
  EXPECT_EQ(gate.used(), 0U);
}

TEST(Gate, OnlySoManyWait) {
  Gate gate(1, 0);
  const Gate::Pass pass = gate.enter(1, {});
  EXPECT_THROW(gate.enter(1, {}), Gate::Full);
}

TEST(Gate, NobodyIsForgotten) {
  Gate gate(3, 1000);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        const Gate::Pass pass = gate.enter(static_cast<std::size_t>(1 + i % 3), {});
        const int now = inside += 1 + i % 3;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        inside -= 1 + i % 3;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 3);
  EXPECT_EQ(gate.used(), 0U);
}

}  // namespace
}  // namespace metactrl::serve::shared_cache_test
