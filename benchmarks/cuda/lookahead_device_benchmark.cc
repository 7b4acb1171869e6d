// How long the table of a trained lookahead takes: on the GPU and on the CPU.
//
//     lookahead_device_benchmark DEVICES HIDDEN HORIZON MEGABYTES LAMPS...
//
// DEVICES is a list of cpu and cuda. The tasks are those of tests/support/hmm_table_case.h with 8 places: 2^(LAMPS + 4)
// states, and with `x` behind the number, as in 9x, actions of three arguments as well. MEGABYTES is the budget of the
// table. The table is built once to warm up and then several times; the line has the median. Everything that
// HmmTable::build does is timed: the cone, the trie, the way to the GPU and back. "rows" are those that a layer
// multiplies with the transitions, of all states; "edges" what it adds up. TFLOP/s are as if every row of every layer
// were computed; the CPU leaves out those that have settled.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lookahead/hmm_table.h"
#include "lookahead/table_trie.h"
#include "metactrl/lookahead.h"
#include "support/hmm_table_case.h"

namespace metactrl::lookahead {
namespace {

struct Arguments {
  std::string devices;
  std::size_t hidden = 0;
  unsigned horizon = 0;
  std::size_t bytes = 0;
};

// Rows and edges of the trie.
std::pair<std::size_t, std::size_t> sizes(const testing::HmmTableCase& c, unsigned horizon) {
  Cone cone(*c.space, horizon);
  IdVector<ActionId, std::uint32_t> actions(c.surrogate.num_actions());
  for (const ActionId action : actions.all()) actions[action] = index(action);
  cone.copy_rows(*c.space, actions);
  const TableTrie trie(cone, c.surrogate);
  std::pair<std::size_t, std::size_t> result;
  for (const TableTrie::Level& level : trie.levels) {
    result.first += level.num_rows();
    result.second += level.edges.size();
  }
  return result;
}

void measure(const std::string& name, const LookaheadDevice* device, const Arguments& arguments,
             const testing::HmmTableCase& c, const std::string& lamps) {
  std::vector<double> seconds;
  double spent = 0;
  std::size_t states = 0;
  std::size_t bytes = 0;
  unsigned stride = 0;
  while (seconds.size() < 2 || (spent < 2 && seconds.size() < 12)) {
    const auto start = std::chrono::steady_clock::now();
    const auto table = HmmTable<float>::build(c.surrogate, *c.space, arguments.horizon, arguments.bytes, device);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    spent += seconds.back();
    if (!table) {
      std::printf("%-4s %4s lamps  does not fit\n", name.c_str(), lamps.c_str());
      return;
    }
    states = table->num_cone_states();
    bytes = table->memory_bytes();
    stride = table->stride();
    if (spent > 10) break;
  }
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  const auto [rows, edges] = sizes(c, arguments.horizon);
  const double operations = 2.0 * static_cast<double>(arguments.hidden * arguments.hidden) * static_cast<double>(rows) *
                            static_cast<double>(arguments.horizon);
  std::printf(
      "%-4s H %4zu horizon %3u %4s lamps %7zu states %8zu rows %8zu edges  %7.0f MB stride %u  %10.2f ms  %6.2f "
      "TFLOP/s\n",
      name.c_str(), arguments.hidden, arguments.horizon, lamps.c_str(), states, rows, edges,
      static_cast<double>(bytes) / 1e6, stride, 1e3 * median, operations / median / 1e12);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: lookahead_device_benchmark cpu,cuda HIDDEN HORIZON MEGABYTES LAMPS...\n");
    return 2;
  }
  const auto number = [&](int i) { return static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)); };
  const Arguments arguments{argv[1], number(2), static_cast<unsigned>(number(3)), number(4) << 20};
  std::shared_ptr<const LookaheadDevice> device;
  if (arguments.devices.find("cuda") != std::string::npos) device = make_cuda_lookahead_device();
  for (int i = 5; i < argc; ++i) {
    const std::string lamps = argv[i];
    const testing::HmmTableCase c(
        testing::lamps(static_cast<std::uint32_t>(number(i)), 8, lamps.find('x') != std::string::npos),
        arguments.hidden, 6);
    if (device) measure("cuda", device.get(), arguments, c, lamps);
    if (arguments.devices.find("cpu") != std::string::npos) measure("cpu", nullptr, arguments, c, lamps);
  }
  return 0;
}

}  // namespace
}  // namespace metactrl::lookahead

int main(int argc, char** argv) {
  try {
    return metactrl::lookahead::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lookahead_device_benchmark: %s\n", error.what());
    return 1;
  }
}
