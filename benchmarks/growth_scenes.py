"""Scenes that grow: flats and offices of any number of objects, six goals each, as PDDL.

    domain, problem = scene("flat", 300, seed=1)

Both are plain STRIPS with types, so that every planner reads them. The number of ground actions grows with things times places: any thing
may be put anywhere. What the goals need grows far more slowly, as it does in a home.

flat:    rooms in a ring with a few shortcuts; tables, and boxes with doors; one hand; things to be carried to other tables and boxes.
office:  storeys joined by a lift that must be called; corridors with rooms; desks, cupboards that need a key, printers that need paper; two hands;
         parcels to be delivered, documents to be printed and brought to a desk.
"""
import random

GOALS = 6

FLAT = """(define (domain flat)
  (:requirements :strips :typing)
  (:types room place thing - object table box - place)
  (:predicates (linked ?a ?b - room) (robot-in ?r - room) (stands ?p - place ?r - room) (open ?b - box) (closed ?b - box)
               (on ?t - thing ?p - table) (in ?t - thing ?b - box) (holding ?t - thing) (hand-empty))
  (:action go :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (linked ?from ?to))
    :effect (and (robot-in ?to) (not (robot-in ?from))))
  (:action open :parameters (?b - box ?r - room)
    :precondition (and (robot-in ?r) (stands ?b ?r) (closed ?b) (hand-empty))
    :effect (and (open ?b) (not (closed ?b))))
  (:action close :parameters (?b - box ?r - room)
    :precondition (and (robot-in ?r) (stands ?b ?r) (open ?b) (hand-empty))
    :effect (and (closed ?b) (not (open ?b))))
  (:action take :parameters (?t - thing ?p - table ?r - room)
    :precondition (and (robot-in ?r) (stands ?p ?r) (on ?t ?p) (hand-empty))
    :effect (and (holding ?t) (not (on ?t ?p)) (not (hand-empty))))
  (:action take-out :parameters (?t - thing ?b - box ?r - room)
    :precondition (and (robot-in ?r) (stands ?b ?r) (open ?b) (in ?t ?b) (hand-empty))
    :effect (and (holding ?t) (not (in ?t ?b)) (not (hand-empty))))
  (:action put :parameters (?t - thing ?p - table ?r - room)
    :precondition (and (robot-in ?r) (stands ?p ?r) (holding ?t))
    :effect (and (on ?t ?p) (not (holding ?t)) (hand-empty)))
  (:action put-in :parameters (?t - thing ?b - box ?r - room)
    :precondition (and (robot-in ?r) (stands ?b ?r) (open ?b) (holding ?t))
    :effect (and (in ?t ?b) (not (holding ?t)) (hand-empty))))
"""

OFFICE = """(define (domain office)
  (:requirements :strips :typing)
  (:types spot floor hand carried - object place printer - object desk cupboard - place parcel document paper key - carried)
  (:predicates (joined ?a ?b - spot) (at ?s - spot) (landing ?s - spot ?f - floor) (lift-at ?f - floor) (in-lift) (outside)
               (above ?f ?g - floor) (stands ?p - place ?s - spot) (installed ?p - printer ?s - spot)
               (lies ?c - carried ?p - place) (held ?c - carried ?h - hand) (free ?h - hand)
               (locked ?p - cupboard) (unlocked ?p - cupboard) (accessible ?p - place) (fits ?k - key ?p - cupboard)
               (loaded ?p - printer) (stored ?d - document) (printed ?d - document))
  (:action walk :parameters (?a ?b - spot)
    :precondition (and (at ?a) (joined ?a ?b) (outside))
    :effect (and (at ?b) (not (at ?a))))
  (:action call-lift :parameters (?s - spot ?f ?g - floor)
    :precondition (and (at ?s) (landing ?s ?f) (lift-at ?g) (outside))
    :effect (and (lift-at ?f) (not (lift-at ?g))))
  (:action enter-lift :parameters (?s - spot ?f - floor)
    :precondition (and (at ?s) (landing ?s ?f) (lift-at ?f) (outside))
    :effect (and (in-lift) (not (outside)) (not (at ?s))))
  (:action ride-up :parameters (?f ?g - floor)
    :precondition (and (in-lift) (lift-at ?f) (above ?g ?f))
    :effect (and (lift-at ?g) (not (lift-at ?f))))
  (:action ride-down :parameters (?f ?g - floor)
    :precondition (and (in-lift) (lift-at ?f) (above ?f ?g))
    :effect (and (lift-at ?g) (not (lift-at ?f))))
  (:action leave-lift :parameters (?s - spot ?f - floor)
    :precondition (and (in-lift) (lift-at ?f) (landing ?s ?f))
    :effect (and (at ?s) (outside) (not (in-lift))))
  (:action unlock :parameters (?p - cupboard ?s - spot ?k - key ?h - hand)
    :precondition (and (at ?s) (stands ?p ?s) (locked ?p) (fits ?k ?p) (held ?k ?h))
    :effect (and (unlocked ?p) (accessible ?p) (not (locked ?p))))
  (:action take :parameters (?c - carried ?p - place ?s - spot ?h - hand)
    :precondition (and (at ?s) (stands ?p ?s) (accessible ?p) (lies ?c ?p) (free ?h))
    :effect (and (held ?c ?h) (not (lies ?c ?p)) (not (free ?h))))
  (:action put :parameters (?c - carried ?p - place ?s - spot ?h - hand)
    :precondition (and (at ?s) (stands ?p ?s) (accessible ?p) (held ?c ?h))
    :effect (and (lies ?c ?p) (free ?h) (not (held ?c ?h))))
  (:action load :parameters (?q - paper ?p - printer ?s - spot ?h - hand)
    :precondition (and (at ?s) (installed ?p ?s) (held ?q ?h))
    :effect (and (loaded ?p) (free ?h) (not (held ?q ?h))))
  (:action print :parameters (?d - document ?p - printer ?s - spot ?h - hand)
    :precondition (and (at ?s) (installed ?p ?s) (loaded ?p) (stored ?d) (free ?h))
    :effect (and (printed ?d) (held ?d ?h) (not (free ?h)) (not (stored ?d)) (not (loaded ?p)))))
"""


def names(kind, count):
    return [f"{kind}{i}" for i in range(count)]


def problem_text(name, domain, objects, init, goals):
    declared = "\n".join(f"    {' '.join(members)} - {kind}" for kind, members in objects.items() if members)
    return (f"(define (problem {name}) (:domain {domain})\n  (:objects\n{declared})\n  (:init\n    "
            + "\n    ".join(f"({fact})" for fact in init)
            + ")\n  (:goal (and " + " ".join(f"({goal})" for goal in goals) + ")))\n")


def flat(objects, seed):
    pick = random.Random(seed)
    rooms = names("room", max(2, objects // 25))
    places = (objects - len(rooms)) // 4
    boxes = names("box", places // 3)
    tables = names("table", places - places // 3)
    things = names("thing", objects - len(rooms) - places)
    init = ["robot-in room0", "hand-empty"]
    for i, room in enumerate(rooms):
        following = rooms[(i + 1) % len(rooms)]
        init += [f"linked {room} {following}", f"linked {following} {room}"]
    for _ in range(len(rooms) // 8):
        a, b = pick.sample(rooms, 2)
        init += [f"linked {a} {b}", f"linked {b} {a}"]
    init += [f"stands {place} {pick.choice(rooms)}" for place in tables + boxes]
    init += [f"{'open' if pick.random() < 0.3 else 'closed'} {box}" for box in boxes]
    home = {}
    for thing in things:
        home[thing] = pick.choice(tables + boxes)
        init.append(f"{'in' if home[thing] in boxes else 'on'} {thing} {home[thing]}")
    goals = []
    for thing in pick.sample(things, GOALS):
        target = pick.choice([place for place in tables + boxes if place != home[thing]])
        goals.append(f"{'in' if target in boxes else 'on'} {thing} {target}")
    return problem_text(f"flat-{objects}-{seed}", "flat", {"room": rooms, "table": tables, "box": boxes, "thing": things},
                        sorted(set(init)), goals)


def office(objects, seed):
    pick = random.Random(seed)
    floors = names("floor", max(2, objects // 125))
    hands = names("hand", 2)
    spots, init = [], ["outside", "at spot0", "lift-at floor0"]
    per_floor = max(2, objects // (20 * len(floors)))
    for f, floor in enumerate(floors):
        corridor = [f"spot{f * per_floor + i}" for i in range(per_floor)]
        spots += corridor
        init.append(f"landing {corridor[0]} {floor}")
        for i in range(1, per_floor):  # a tree of rooms, not a line
            other = corridor[pick.randrange(max(0, i - 3), i)]
            init += [f"joined {corridor[i]} {other}", f"joined {other} {corridor[i]}"]
        init += [f"above {upper} {floor}" for upper in floors[f + 1:f + 2]]
    left = objects - len(floors) - len(hands) - len(spots)
    printers = names("printer", max(1, left // 40))
    keys = names("key", max(1, left // 30))
    cupboards = names("cupboard", max(1, left // 12))
    desks = names("desk", left // 6)
    papers = names("paper", max(3, left // 20))
    documents = names("document", max(4, left // 5))
    parcels = names("parcel", left - sum(map(len, (printers, keys, cupboards, desks, papers, documents))))
    init += [f"free {hand}" for hand in hands]
    init += [f"installed {printer} {pick.choice(spots)}" for printer in printers]
    init += [f"stands {place} {pick.choice(spots)}" for place in desks + cupboards]
    init += [f"accessible {desk}" for desk in desks]
    for cupboard in cupboards:
        init.append(f"fits {pick.choice(keys)} {cupboard}")
        init += [f"locked {cupboard}"] if pick.random() < 0.7 else [f"unlocked {cupboard}", f"accessible {cupboard}"]
    init += [f"lies {key} {pick.choice(desks)}" for key in keys]
    home = {carried: pick.choice(desks + cupboards) for carried in papers + parcels}
    init += [f"lies {carried} {place}" for carried, place in home.items()]
    init += [f"stored {document}" for document in documents]
    goals = [f"lies {document} {pick.choice(desks)}" for document in pick.sample(documents, 2)]
    for parcel in pick.sample(parcels, GOALS - 2):
        goals.append(f"lies {parcel} {pick.choice([place for place in desks + cupboards if place != home[parcel]])}")
    kinds = {"spot": spots, "floor": floors, "hand": hands, "printer": printers, "key": keys, "cupboard": cupboards, "desk": desks,
             "paper": papers, "document": documents, "parcel": parcels}
    return problem_text(f"office-{objects}-{seed}", "office", kinds, init, goals)


FAMILIES = {"flat": (FLAT, flat), "office": (OFFICE, office)}


def scene(family, objects, seed=1):
    """The text of a domain and of a problem."""
    domain, problem = FAMILIES[family]
    return domain, problem(objects, seed)
