// What tasks cost: load and ground, walk through states, compile the lookahead. One line for each task, for
// benchmarks/compare, which builds this file with the library of two commits: the public interface alone, and of that
// what has been there for long.
//
//     classical_tasks LIST     # of lines "domain.pddl problem.pddl"
//
// prints, with tabs between: both files, ground actions, states and their successors that a walk meets, states that the
// lookahead enumerates, and milliseconds of the processor for each of the three. A task that does not load, or takes
// long, is left out.
#include <algorithm>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "metactrl/task.h"

namespace {

using metactrl::ActionId;
using metactrl::State;
using metactrl::Task;

constexpr std::size_t kWalked = 500;  // states
constexpr double kLong = 300;         // milliseconds

double now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// The smallest time of a few, as many as take a tenth of a second together.
template <typename Work>
double least(const Work& work) {
  double best = 0;
  double spent = 0;
  for (int i = 0; i < 3 || (i < 50 && spent < 100); ++i) {
    const double begin = now();
    work();
    const double took = now() - begin;
    best = i == 0 ? took : std::min(best, took);
    spent += took;
    if (spent > kLong) break;
  }
  return best;
}

struct Walk {
  std::size_t states = 0;
  std::size_t successors = 0;
};

// Breadth first, through the first states.
Walk walk(const Task& task) {
  std::vector<State> states = {task.initial_state()};
  std::set<std::vector<std::uint64_t>> seen;
  const auto key = [](const State& state) {
    return std::vector<std::uint64_t>(state.words().begin(), state.words().end());
  };
  seen.insert(key(states[0]));
  Walk count;
  State next = states[0];
  for (std::size_t i = 0; i < states.size() && i < kWalked; ++i) {
    for (const ActionId action : task.applicable_actions(states[i])) {
      if (!task.apply(states[i], action, next)) continue;
      ++count.successors;
      if (seen.insert(key(next)).second) states.push_back(next);
    }
  }
  count.states = states.size();
  return count;
}

void measure(const std::string& domain, const std::string& problem) {
  metactrl::LoadOptions limits;
  limits.max_ground_actions = 100'000;
  std::optional<Task> task;
  const double load = least([&] { task.emplace(metactrl::load_pddl(domain, problem, limits)); });
  if (load > kLong) return;
  Walk count;
  const double walked = least([&] { count = walk(*task); });
  metactrl::LookaheadOptions options;
  options.exact = {5'000, std::size_t{256} << 20, 20'000'000};
  options.search = {2'000, std::size_t{256} << 20, 20'000'000};
  std::size_t enumerated = 0;
  const double compile =
      least([&] { enumerated = metactrl::Lookahead::compile(*task, options)->num_states().value_or(0); });
  std::cout << domain << '\t' << problem << '\t' << task->num_actions() << '\t' << count.states << '\t'
            << count.successors << '\t' << enumerated << '\t' << load << '\t' << walked << '\t' << compile << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: classical_tasks LIST\n";
    return 2;
  }
  std::ifstream list(argv[1]);
  std::string domain;
  std::string problem;
  while (list >> domain >> problem) {
    try {
      measure(domain, problem);
    } catch (const std::exception& error) {
      std::cerr << domain << ' ' << problem << ": left out: " << error.what() << '\n';
    }
  }
  return 0;
}
