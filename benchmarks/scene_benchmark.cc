// How loading, grounding and the first plan scale with the number of objects in a household scene.
//
// The scene is generated: rooms in a ring, surfaces and containers in them, items on and in those. Actions use
// disjunctive preconditions and quantified conditional effects, as household domains do. The number of ground actions
// grows with items times places, since any item may be put anywhere; nothing else may grow faster than that.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "task/program.h"

namespace metactrl {
namespace {

constexpr const char* kDomain = R"(
(define (domain scene)
  (:requirements :adl)
  (:types room place item - object surface container - place)
  (:predicates (adjacent ?a ?b - room) (agent-in ?r - room) (in-room ?p - place ?r - room) (near ?p - place)
               (open ?p - place) (on ?i - item ?p - place) (inside ?i - item ?p - place)
               (holding ?i - item) (hand-full) (fragile ?i - item) (moved ?i - item))
  (:action walk :parameters (?from ?to - room)
    :precondition (and (agent-in ?from) (adjacent ?from ?to))
    :effect (and (not (agent-in ?from)) (agent-in ?to)
                 (forall (?p - place) (when (in-room ?p ?from) (not (near ?p))))))
  (:action approach :parameters (?p - place ?r - room)
    :precondition (and (agent-in ?r) (in-room ?p ?r))
    :effect (and (near ?p) (forall (?o - place) (when (and (in-room ?o ?r) (not (= ?o ?p))) (not (near ?o))))))
  (:action open :parameters (?c - container)
    :precondition (and (near ?c) (not (open ?c)) (not (hand-full))) :effect (open ?c))
  (:action close :parameters (?c - container)
    :precondition (and (near ?c) (open ?c)) :effect (not (open ?c)))
  (:action grab :parameters (?i - item ?p - place)
    :precondition (and (near ?p) (not (hand-full)) (or (on ?i ?p) (and (inside ?i ?p) (open ?p))))
    :effect (and (holding ?i) (hand-full) (moved ?i) (not (on ?i ?p)) (not (inside ?i ?p))))
  (:action puton :parameters (?i - item ?s - surface)
    :precondition (and (near ?s) (holding ?i))
    :effect (and (on ?i ?s) (not (holding ?i)) (not (hand-full))))
  (:action putin :parameters (?i - item ?c - container)
    :precondition (and (near ?c) (holding ?i) (open ?c) (imply (fragile ?i) (not (moved ?i))))
    :effect (and (inside ?i ?c) (not (holding ?i)) (not (hand-full))))
  (:action search :parameters (?c - container)
    :precondition (and (near ?c) (open ?c))
    :effect (forall (?i - item) (when (inside ?i ?c) (moved ?i)))))
)";

// `objects` in all: one room per 25, a quarter of the rest places (two surfaces to a container), the others items.
std::string scene(int objects) {
  const int rooms = objects / 25;
  const int places = (objects - rooms) / 4;
  const int containers = places / 3;
  const int surfaces = places - containers;
  const int items = objects - rooms - places;
  const auto name = [](const char* kind, int i) { return std::string(kind) + std::to_string(i); };
  const auto declare = [&](const char* kind, int count, const char* type) {
    std::string out;
    for (int i = 0; i < count; ++i) out += " " + name(kind, i);
    return out + " - " + type + "\n";
  };
  std::string out = "(define (problem scene) (:domain scene)\n (:objects" + declare("room", rooms, "room") +
                    declare("table", surfaces, "surface") + declare("box", containers, "container") +
                    declare("item", items, "item") + ")\n (:init (agent-in room0)\n";
  for (int i = 0; i < rooms; ++i) {
    const std::string next = name("room", (i + 1) % rooms);
    out += "  (adjacent " + name("room", i) + " " + next + ") (adjacent " + next + " " + name("room", i) + ")\n";
  }
  for (int i = 0; i < surfaces; ++i) out += "  (in-room " + name("table", i) + " " + name("room", i % rooms) + ")\n";
  for (int i = 0; i < containers; ++i) out += "  (in-room " + name("box", i) + " " + name("room", i % rooms) + ")\n";
  for (int i = 0; i < items; ++i) {
    if (i % 3 == 0) {
      out += "  (inside " + name("item", i) + " " + name("box", i % containers) + ")\n";
    } else {
      out += "  (on " + name("item", i) + " " + name("table", i % surfaces) + ")\n";
    }
    if (i % 10 == 9) out += "  (fragile " + name("item", i) + ")\n";
  }
  // Things from containers and from tables, to the other end of the ring, and the containers closed again.
  const std::string far_table = name("table", rooms / 2);
  out += " )\n (:goal (and (on item0 " + far_table + ") (on item1 " + far_table + ") (inside item2 " +
         name("box", containers / 2) + ") (exists (?t - surface) (and (in-room ?t room0) (on item3 ?t)))" +
         " (forall (?c - container) (not (open ?c))))))\n";
  return out;
}

void load(benchmark::State& state) {
  const std::string problem = scene(static_cast<int>(state.range(0)));
  std::shared_ptr<Task> task;
  for (auto _ : state) task = std::make_shared<Task>(load_pddl_text(kDomain, problem));
  state.counters["actions"] = static_cast<double>(task->num_actions());
  state.counters["facts"] = static_cast<double>(task->program().num_stored_bits());
  state.counters["relevant_facts"] = static_cast<double>(task->program().num_relevant_bits());
  state.counters["MiB"] = static_cast<double>(task->memory_bytes()) / (1 << 20);
  state.counters["actions/s"] =
      benchmark::Counter(static_cast<double>(task->num_actions()), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(load)->Arg(50)->Arg(200)->Arg(1000)->Unit(benchmark::kMillisecond);

void first_plan(benchmark::State& state) {
  const Task task = load_pddl_text(kDomain, scene(static_cast<int>(state.range(0))));
  LookaheadOptions options;
  options.exact.states = 0;  // search at once
  std::shared_ptr<const Lookahead> lookahead;
  for (auto _ : state) lookahead = Lookahead::compile(task, options);
  if (lookahead->verdict() != Verdict::kSolvable || !task.validate(lookahead->plan()).valid) {
    state.SkipWithError(("no plan: " + lookahead->reason()).c_str());
    return;
  }
  state.counters["plan"] = static_cast<double>(lookahead->plan().size());
  state.counters["MiB"] = static_cast<double>(lookahead->memory_bytes()) / (1 << 20);
}
BENCHMARK(first_plan)->Arg(50)->Arg(200)->Arg(1000)->Unit(benchmark::kMillisecond);

// All candidates in the initial state, in a fresh support: the first question of a request.
void first_candidates(benchmark::State& state) {
  const Task task = load_pddl_text(kDomain, scene(static_cast<int>(state.range(0))));
  LookaheadOptions options;
  options.exact.states = 0;
  const auto lookahead = Lookahead::compile(task, options);
  std::size_t count = 0;
  std::size_t unknown = 0;
  for (auto _ : state) {
    Support support(lookahead);
    count = 0;
    unknown = 0;
    for (const Candidate& candidate : support.candidates(task.initial_state(), lookahead->horizon())) {
      ++count;
      unknown += candidate.answer == Answer::kUnknown ? 1 : 0;
    }
  }
  state.counters["candidates"] = static_cast<double>(count);
  state.counters["unknown"] = static_cast<double>(unknown);
}
BENCHMARK(first_candidates)->Arg(50)->Arg(200)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace metactrl
