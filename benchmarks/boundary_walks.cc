// The work between two actions in a task of one's own: loads it, compiles the lookahead as `metactrl plan` does, and asks
// all the way along plans of a model that takes any action that is allowed, without weights (mask) and with (uniform).
//
//     boundary_walks DOMAIN PROBLEM [WALKS]
//
// Prints one line of JSON. Times are processor time of the thread, percentiles of single questions. benchmarks/growth
// asks it about scenes that grow.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"

namespace metactrl {
namespace {

double milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

struct Walked {
  double compile = 0;
  std::size_t plan = 0;
  std::vector<double> questions;  // ascending
  double percentile(std::size_t percent) const { return questions[percent * (questions.size() - 1) / 100]; }
};

Walked walk(const Task& task, bool weights, int walks) {
  Walked result;
  LookaheadOptions options;
  options.fitted_horizon = true;
  options.improve = kImproveFirstPlan;
  options.weights = weights;
  const double begin = milliseconds_now();
  const std::shared_ptr<const Lookahead> lookahead = Lookahead::compile(task, options);
  result.compile = milliseconds_now() - begin;
  result.plan = lookahead->plan().size();
  std::mt19937 random(1);
  for (int i = 0; i < walks; ++i) {
    Support support(lookahead);
    State now = task.initial_state();
    for (unsigned left = lookahead->horizon(); left > 0 && !task.is_goal(now); --left) {
      const double asked = milliseconds_now();
      const std::vector<Candidate> found = support.candidates(now, left);
      result.questions.push_back(milliseconds_now() - asked);
      std::vector<ActionId> choice;
      for (const Candidate& candidate : found) {
        if (candidate.answer == Answer::kYes) choice.push_back(candidate.action);
      }
      if (choice.empty()) throw std::runtime_error("no action is allowed");
      now = *task.apply(now, choice[random() % choice.size()]);
    }
    if (!task.is_goal(now)) throw std::runtime_error("a walk ends without the goal");
  }
  std::sort(result.questions.begin(), result.questions.end());
  return result;
}

int run(int count, char** arguments) {
  if (count < 3) {
    std::fputs("usage: boundary_walks DOMAIN PROBLEM [WALKS]\n", stderr);
    return 2;
  }
  const double begin = milliseconds_now();
  const Task task = load_pddl(arguments[1], arguments[2]);
  const double load = milliseconds_now() - begin;
  const int walks = count > 3 ? std::atoi(arguments[3]) : 8;
  std::printf("{\"load_ms\": %.1f, \"ground_actions\": %zu", load, task.num_actions());
  for (const bool weights : {false, true}) {
    const Walked walked = walk(task, weights, walks);
    std::printf(
        ", \"%s\": {\"compile_ms\": %.1f, \"plan\": %zu, \"boundaries\": %zu, \"p50_ms\": %.3f, \"p99_ms\": %.3f}",
        weights ? "uniform" : "mask", walked.compile, walked.plan, walked.questions.size(), walked.percentile(50),
        walked.percentile(99));
  }
  std::puts("}");
  return 0;
}

}  // namespace
}  // namespace metactrl

int main(int count, char** arguments) {
  try {
    return metactrl::run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
