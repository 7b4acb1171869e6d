// Household scenes of any size.
//
// Rooms in a ring, surfaces and containers in them, items on and in those. Actions use disjunctive preconditions and
// quantified conditional effects, as household domains do. The number of ground actions grows with items times places,
// since any item may be put anywhere; nothing else may grow faster than that.
#ifndef METACTRL_BENCHMARKS_SCENE_H_
#define METACTRL_BENCHMARKS_SCENE_H_

#include <algorithm>
#include <string>

namespace metactrl::benchmarks {

inline constexpr const char* kSceneDomain = R"(
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
inline std::string scene(int objects) {
  const int rooms = std::max(1, objects / 25);
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

}  // namespace metactrl::benchmarks

#endif  // METACTRL_BENCHMARKS_SCENE_H_
