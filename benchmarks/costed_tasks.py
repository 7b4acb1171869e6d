"""Small tasks with costs, for which another planner finds the optimum in a second: what is said to be cheapest can be compared with it.

Two families: *roads*, whose lengths are the costs, some of them 0, with a flight for a fee; and *lamps*, with conditional effects, quantifiers and
negative preconditions. Some goals hold at the start, some cannot be reached.
"""
import random

ROADS = """(define (domain roads)
  (:requirements :strips :typing :negative-preconditions :action-costs)
  (:types place thing truck)
  (:predicates (at ?x - truck ?p - place) (lies ?t - thing ?p - place) (in ?t - thing ?x - truck) (road ?a ?b - place) (paid ?x - truck))
  (:functions (total-cost) - number (length ?a ?b - place) - number)
  (:action drive :parameters (?x - truck ?a ?b - place) :precondition (and (at ?x ?a) (road ?a ?b))
    :effect (and (at ?x ?b) (not (at ?x ?a)) (increase (total-cost) (length ?a ?b))))
  (:action fly :parameters (?x - truck ?a ?b - place) :precondition (and (at ?x ?a) (paid ?x))
    :effect (and (at ?x ?b) (not (at ?x ?a)) (not (paid ?x)) (increase (total-cost) 2)))
  (:action pay :parameters (?x - truck) :precondition (not (paid ?x)) :effect (and (paid ?x) (increase (total-cost) 7)))
  (:action load :parameters (?t - thing ?x - truck ?p - place) :precondition (and (at ?x ?p) (lies ?t ?p))
    :effect (and (in ?t ?x) (not (lies ?t ?p))))
  (:action unload :parameters (?t - thing ?x - truck ?p - place) :precondition (and (at ?x ?p) (in ?t ?x))
    :effect (and (lies ?t ?p) (not (in ?t ?x)) (increase (total-cost) 1))))
"""

LAMPS = """(define (domain lamps)
  (:requirements :adl :action-costs)
  (:types room lamp)
  (:predicates (in ?r - room) (door ?a ?b - room) (lit ?l - lamp) (of ?l - lamp ?r - room) (broken ?l - lamp))
  (:functions (total-cost) - number)
  (:action go :parameters (?a ?b - room) :precondition (and (in ?a) (door ?a ?b))
    :effect (and (in ?b) (not (in ?a)) (increase (total-cost) 3)))
  (:action toggle :parameters (?r - room) :precondition (in ?r)
    :effect (and (forall (?l - lamp) (when (and (of ?l ?r) (lit ?l)) (not (lit ?l))))
                 (forall (?l - lamp) (when (and (of ?l ?r) (not (lit ?l)) (not (broken ?l))) (lit ?l)))
                 (increase (total-cost) 1)))
  (:action repair :parameters (?l - lamp ?r - room) :precondition (and (in ?r) (of ?l ?r))
    :effect (and (not (broken ?l)) (increase (total-cost) 4)))
  (:action light-all :parameters () :precondition (exists (?l - lamp) (lit ?l))
    :effect (and (forall (?l - lamp) (lit ?l)) (increase (total-cost) 11)))
  (:action jump :parameters (?b - room) :precondition (forall (?l - lamp) (not (lit ?l)))
    :effect (and (in ?b) (forall (?a - room) (when (not (= ?a ?b)) (not (in ?a)))) (increase (total-cost) 2))))
"""


def names(kind, count):
    return [f"{kind}{i}" for i in range(count)]


def roads(pick):
    places, things, trucks = names("p", pick.randint(3, 5)), names("t", pick.randint(1, 3)), names("x", pick.randint(1, 2))
    pairs = {(places[pick.randrange(i)], places[i]) for i in range(1, len(places))} | {tuple(sorted(pick.sample(places, 2))) for _ in range(2)}
    init = []
    for a, b in sorted(pairs):
        for one, other in ((a, b), (b, a)):
            init += [f"(road {one} {other})", f"(= (length {one} {other}) {pick.choice([0, 1, 3, 5, 9])})"]
    init += [f"(at {truck} {pick.choice(places)})" for truck in trucks] + [f"(lies {thing} {pick.choice(places)})" for thing in things]
    goal = [f"(lies {thing} {pick.choice(places)})" for thing in things]
    if pick.random() < 0.4:
        goal.append(f"(at {trucks[0]} {pick.choice(places)})")
    return f"{' '.join(places)} - place {' '.join(things)} - thing {' '.join(trucks)} - truck", init, goal


def lamps(pick):
    rooms, all_lamps = names("r", pick.randint(2, 4)), names("l", pick.randint(2, 4))
    init = ["(in r0)"]
    for i in range(1, len(rooms)):
        j = pick.randrange(i)
        init += [f"(door r{i} r{j})", f"(door r{j} r{i})"]
    for lamp in all_lamps:
        init.append(f"(of {lamp} {pick.choice(rooms)})")
        init += [f"({fact} {lamp})" for fact in ("broken", "lit") if pick.random() < 0.4]
    goal = [f"(lit {lamp})" if pick.random() < 0.6 else f"(not (lit {lamp}))" for lamp in all_lamps]
    if pick.random() < 0.5:
        goal.append(f"(in {pick.choice(rooms)})")
    return f"{' '.join(rooms)} - room {' '.join(all_lamps)} - lamp", init, goal


FAMILIES = {"roads": (ROADS, roads), "lamps": (LAMPS, lamps)}


def problem(family, seed):
    objects, init, goal = FAMILIES[family][1](random.Random(seed))
    return (f"(define (problem {family}-{seed}) (:domain {family})\n  (:objects {objects})\n  (:init (= (total-cost) 0) {' '.join(init)})\n"
            f"  (:goal (and {' '.join(goal)}))\n  (:metric minimize (total-cost)))\n")


def write(folder, count):
    """Into a folder for each family."""
    for family, (domain, _) in FAMILIES.items():
        (folder / family).mkdir(parents=True)
        (folder / family / "domain.pddl").write_text(domain, encoding="utf-8")
        for seed in range(count):
            (folder / family / f"p{seed:03}.pddl").write_text(problem(family, seed), encoding="utf-8")
