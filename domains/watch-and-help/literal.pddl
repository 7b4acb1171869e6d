; Watch-And-Help: the preconditions that the paper's appendix lists, and no others. (It also reports that all plans
; execute, "any action whose precondition fails is never offered to the LM": what it ran is environment.pddl.) GRAB needs a free hand and the thing near; PUTIN
; needs the thing held and the container not closed; PUTBACK the thing held; OPEN and CLOSE need it near. (SWITCHON needs the
; appliance plugged in; the benchmark's apartments have no plugs.) Effects as in environment.pddl, and its
; problems: what they say of postures and rooms is not asked for here.
(define (domain watch-and-help)
  (:requirements :adl :typing)
  (:types
    item wish - object
    thing room - item)

  (:predicates
    (grabbable ?x - item) (container ?x - item) (surface ?x - item) (can-open ?x - item) (has-switch ?x - item)
    (seated) (begins ?r - room)
    (near ?x - item)
    (held ?x - item)
    (one-held) (two-held)
    (on ?x ?y - item)
    (inside ?x ?y - item)
    (no-room ?x - item) (room-through ?x ?y - item)
    (is-open ?x - item) (is-closed ?x - item)
    (is-on ?x - item) (is-off ?x - item)
    (granted ?w - wish))

  (:action walk
    :parameters (?x - item)
    :precondition (and)
    :effect (and
      (forall (?y - thing) (not (near ?y)))
      (forall (?y - thing)
        (when (or (= ?x ?y) (held ?y) (on ?y ?x) (on ?x ?y) (inside ?x ?y) (and (inside ?y ?x) (can-open ?x)))
          (near ?y)))))

  (:action grab
    :parameters (?x - thing)
    :precondition (and
      (grabbable ?x)
      (near ?x)
      (not (held ?x))
      (not (two-held)))
    :effect (and
      (held ?x)
      (one-held)
      (when (one-held) (two-held))
      (forall (?y - thing) (and (not (on ?x ?y)) (not (inside ?x ?y)) (not (on ?y ?x)) (not (inside ?y ?x))))
      (forall (?r - room) (and
        (not (on ?x ?r))
        (when (not (begins ?r)) (not (inside ?x ?r)))
        (when (begins ?r) (inside ?x ?r))))))

  (:action open
    :parameters (?x - thing)
    :precondition (and
      (can-open ?x)
      (near ?x))
    :effect (and (not (is-closed ?x)) (is-open ?x)))

  (:action close
    :parameters (?x - thing)
    :precondition (and
      (can-open ?x)
      (near ?x))
    :effect (and (not (is-open ?x)) (is-closed ?x)))

  (:action switchon
    :parameters (?x - thing)
    :precondition (and
      (has-switch ?x))
    :effect (and (not (is-off ?x)) (is-on ?x)))

  (:action putin
    :parameters (?x ?y - thing)
    :precondition (and
      (held ?x)
      (container ?y)
      (not (is-closed ?y))
      (not (= ?x ?y)))
    :effect (and
      (not (held ?x))
      (when (not (two-held)) (not (one-held)))
      (not (two-held))
      (inside ?x ?y)))

  (:action putback
    :parameters (?x ?y - thing)
    :precondition (and
      (held ?x)
      (surface ?y)
      (not (= ?x ?y)))
    :effect (and
      (not (held ?x))
      (when (not (two-held)) (not (one-held)))
      (not (two-held))
      (on ?x ?y))))
