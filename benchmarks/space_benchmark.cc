// Enumeration of projected state spaces and the uniform lookahead over them, on generated gripper and logistics tasks.
//
// successors: counting states only; enumerate: with edges and distances; table: all layers of the uniform lookahead for
// a horizon of 40, in seconds per edge that the cone makes it look at.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lookahead/space.h"
#include "lookahead/uniform.h"
#include "support/id_list.h"
#include "task/compile.h"

namespace metactrl::lookahead {
namespace {

using task::Definition;
using task::Formula;

// A ground task out of strings: facts are numbered as they are mentioned.
class Generator {
 public:
  explicit Generator(const std::vector<task::ActionName>& names) {
    definition_.action_names.assign(names.begin(), names.end());
  }

  std::uint32_t object(const std::string& name) {
    definition_.objects.push_back(name);
    return static_cast<std::uint32_t>(definition_.objects.size() - 1);
  }
  task::FactId fact(const std::string& text) {
    const auto [at, fresh] = facts_.emplace(text, definition_.facts.next_id());
    if (fresh) {
      definition_.facts.push_back({definition_.predicate_names.next_id(), {}});
      definition_.predicate_names.push_back(text);
      definition_.fact_layer.push_back(-1);
      definition_.init.push_back(false);
    }
    return at->second;
  }
  void init(const std::string& text) { definition_.init[fact(text)] = true; }
  void goal(const std::string& text) { definition_.goals.push_back({Formula::literal(fact(text), false), text}); }
  void action(std::uint32_t name, const std::vector<std::uint32_t>& arguments, const std::vector<std::string>& needs,
              const std::vector<std::string>& add, const std::vector<std::string>& del) {
    task::ActionDefinition action;
    action.symbol = {ActionNameId{name}, testing::id_list<ObjectId>(arguments)};
    std::vector<Formula> literals;
    for (const std::string& text : needs) literals.push_back(Formula::literal(fact(text), false));
    action.precondition = task::make_and(std::move(literals));
    task::EffectDefinition effect;
    for (const std::string& text : add) effect.add.push_back(fact(text));
    for (const std::string& text : del) effect.del.push_back(fact(text));
    action.effects.push_back(std::move(effect));
    definition_.actions.push_back(action);
  }
  std::shared_ptr<const task::Program> compile() { return task::compile(std::move(definition_)); }

 private:
  Definition definition_;
  std::map<std::string, task::FactId> facts_;
};

std::string join(const std::string& predicate, const std::string& a, const std::string& b) {
  return predicate + " " + a + " " + b;
}

// Two rooms, two grippers, `balls` balls to carry from one to the other.
std::shared_ptr<const task::Program> gripper_among(std::int64_t balls, std::int64_t bystanders) {
  Generator generator({{"move", 2}, {"pick", 3}, {"drop", 3}});
  const std::vector<std::string> rooms{"a", "b"};
  const std::vector<std::string> hands{"left", "right"};
  for (std::uint32_t i = 0; i < 2; ++i) {
    generator.object("room" + rooms[i]);
    generator.object(hands[i]);
    generator.init("free " + hands[i]);
    generator.action(0, {2 * i, 2 * (1 - i)}, {"robot " + rooms[i]}, {"robot " + rooms[1 - i]}, {"robot " + rooms[i]});
  }
  generator.init("robot a");
  for (std::int64_t b = 0; b < balls; ++b) {
    const std::string ball = "ball" + std::to_string(b);
    const std::uint32_t id = generator.object(ball);
    generator.init(join("at", ball, "a"));
    generator.goal(join("at", ball, "b"));
    for (std::uint32_t r = 0; r < 2; ++r) {
      for (std::uint32_t h = 0; h < 2; ++h) {
        const std::string at = join("at", ball, rooms[r]);
        const std::string held = join("held", ball, hands[h]);
        const std::string free = "free " + hands[h];
        generator.action(1, {id, 2 * r, 2 * h + 1}, {at, "robot " + rooms[r], free}, {held}, {at, free});
        generator.action(2, {id, 2 * r, 2 * h + 1}, {held, "robot " + rooms[r]}, {at, free}, {held});
      }
    }
  }
  for (std::int64_t i = 0; i < bystanders; ++i) generator.object("thing" + std::to_string(i));
  return generator.compile();
}

std::shared_ptr<const task::Program> gripper(std::int64_t balls) { return gripper_among(balls, 0); }

// The same in a large alphabet: weights leave the range of a double.
std::shared_ptr<const task::Program> gripper_large_alphabet(std::int64_t balls) { return gripper_among(balls, 1000); }

// Two cities of two places, the second an airport; a truck in each, one plane; packages change cities.
std::shared_ptr<const task::Program> logistics(std::int64_t packages) {
  Generator generator({{"load", 3}, {"unload", 3}, {"drive", 3}, {"fly", 3}});
  const std::vector<std::string> places{"office0", "airport0", "office1", "airport1"};
  const std::vector<std::string> vehicles{"truck0", "truck1", "plane"};
  const std::vector<std::vector<std::uint32_t>> roads{{0, 1}, {2, 3}, {1, 3}};
  for (const std::string& place : places) generator.object(place);
  for (std::uint32_t v = 0; v < 3; ++v) {
    const std::uint32_t id = generator.object(vehicles[v]);
    generator.init(join("at", vehicles[v], places[roads[v][0]]));
    for (std::uint32_t from : roads[v]) {
      for (std::uint32_t to : roads[v]) {
        const std::string leave = join("at", vehicles[v], places[from]);
        generator.action(v == 2 ? 3 : 2, {id, from, to}, {leave}, {join("at", vehicles[v], places[to])}, {leave});
      }
    }
  }
  for (std::int64_t p = 0; p < packages; ++p) {
    const std::string package = "package" + std::to_string(p);
    const std::uint32_t id = generator.object(package);
    generator.init(join("at", package, places[p % 2 == 0 ? 0 : 2]));
    generator.goal(join("at", package, places[p % 2 == 0 ? 2 : 0]));
    for (std::uint32_t v = 0; v < 3; ++v) {
      for (std::uint32_t place : roads[v]) {
        const std::string there = join("at", vehicles[v], places[place]);
        const std::string out = join("at", package, places[place]);
        const std::string in = join("in", package, vehicles[v]);
        generator.action(0, {id, 4 + v, place}, {there, out}, {in}, {out});
        generator.action(1, {id, 4 + v, place}, {there, in}, {out}, {in});
      }
    }
  }
  return generator.compile();
}

using MakeTask = std::shared_ptr<const task::Program> (*)(std::int64_t);

Budget ample() {
  Budget budget;
  budget.states = 20'000'000;
  budget.bytes = std::size_t{8} << 30;
  return budget;
}

benchmark::Counter rate(std::size_t count) {
  return {static_cast<double>(count), benchmark::Counter::kIsIterationInvariantRate};
}

void successors(benchmark::State& state, MakeTask make) {
  const auto program = make(state.range(0));
  SpaceCount count;
  for (auto _ : state) {
    count = count_reachable(*program, ample(), true);
    benchmark::DoNotOptimize(count);
  }
  state.counters["states"] = static_cast<double>(count.states);
  state.counters["successors/s"] = rate(count.edges);
}

void enumerate(benchmark::State& state, MakeTask make) {
  const auto program = make(state.range(0));
  std::size_t states = 0;
  std::size_t edges = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    const SpaceResult result = Space::enumerate(*program, ample());
    states = result.space->num_states();
    edges = result.space->num_edges();
    bytes = result.space->memory_bytes();
  }
  state.counters["states"] = static_cast<double>(states);
  state.counters["edges"] = static_cast<double>(edges);
  state.counters["edges/s"] = rate(edges);
  state.counters["bytes/state"] = static_cast<double>(bytes) / static_cast<double>(states);
}

void table(benchmark::State& state, MakeTask make) {
  constexpr unsigned kHorizon = 40;
  const auto program = make(state.range(0));
  const SpaceResult result = Space::enumerate(*program, ample());
  // Edges that lie on plans of at most kHorizon actions, once for every layer in which they do.
  std::size_t visits = 0;
  for (const StateId id : ids<StateId>(result.space->num_live_within(kHorizon))) {
    const unsigned last = kHorizon - result.space->depth(id);
    for (const StateId target : result.space->targets(id)) {
      if (result.space->distance(target) < last) visits += last - std::max(1U, result.space->distance(id)) + 1;
    }
  }
  std::size_t bytes = 0;
  std::size_t cone = 0;
  for (auto _ : state) {
    const auto built = UniformTable::build(*program, *result.space, kHorizon, std::size_t{8} << 30);
    bytes = built->memory_bytes();
    cone = built->num_cone_states();
  }
  state.counters["states"] = static_cast<double>(result.space->num_states());
  state.counters["cone"] = static_cast<double>(cone);
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["s/edge"] = benchmark::Counter(
      static_cast<double>(visits), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void find_and_weigh(benchmark::State& state, MakeTask make) {
  const auto program = make(state.range(0));
  const SpaceResult result = Space::enumerate(*program, ample());
  const auto built = UniformTable::build(*program, *result.space, 40, std::size_t{8} << 30);
  std::vector<task::Word> words(program->total_words());
  program->initial(words.data());
  program->project(words.data());
  for (auto _ : state) benchmark::DoNotOptimize(built->log_weight(*result.space->find(words.data()), 40));
}

BENCHMARK_CAPTURE(successors, gripper, gripper)->Arg(8)->Arg(12)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(successors, logistics, logistics)->Arg(4)->Arg(6)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(enumerate, gripper, gripper)->Arg(8)->Arg(12)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(enumerate, logistics, logistics)->Arg(4)->Arg(6)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(table, gripper, gripper)->Arg(8)->Arg(12)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(table, gripper_large_alphabet, gripper_large_alphabet)->Arg(12)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(table, logistics, logistics)->Arg(4)->Arg(5)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(find_and_weigh, gripper, gripper)->Arg(8);

}  // namespace
}  // namespace metactrl::lookahead
