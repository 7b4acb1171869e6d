// Work that several threads do together.
#ifndef METACTRL_SRC_JOBS_RUN_JOBS_H_
#define METACTRL_SRC_JOBS_RUN_JOBS_H_

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace metactrl::jobs {

// Calls step() on `jobs` threads, each until it returns false. The first exception ends all of them and is thrown here.
template <typename Step>
void run_jobs(unsigned jobs, const Step& step) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto work = [&] {
    try {
      while (!failed && step()) {
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      failed = true;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace metactrl::jobs

#endif  // METACTRL_SRC_JOBS_RUN_JOBS_H_
