; Watch-And-Help: a robot with two hands tidies an apartment. The rules are those that every public executor of the benchmark's
; actions agrees with, so that a plan which is legal here is legal for each of them.
;
; A problem lists what matters to its goals (src/benchmarks/watch_and_help/listing.h): things to carry, and places. Of what is
; listed, everything is known.
;
; Differences to the executor, all of them on the safe side: only what the problem lists can be used; nothing is put into or onto
; what is in a hand; grabbing a thing does not bring the robot near what it lay on; nobody walks to what is in a hand.
(define (domain watch-and-help)
  (:requirements :adl :typing)
  (:types
    item wish - object
    thing room - item)

  (:predicates
    ; Properties.
    (grabbable ?x - item) (container ?x - item) (surface ?x - item) (can-open ?x - item) (has-switch ?x - item)

    ; The robot.
    (seated)                ; it sits or lies, and there is no action to stand up
    (begins ?r - room)      ; where it is at the start; what it grabs counts as being there
    (near ?x - item)
    (held ?x - item)
    (one-held) (two-held)   ; at least one thing, two things

    ; Things.
    (on ?x ?y - item)
    (inside ?x ?y - item)
    (no-room ?x - item)           ; the executor finds no room for it, so nobody walks to it
    (room-through ?x ?y - item)   ; that x is in a room is known only from y, which x is in
    (is-open ?x - item) (is-closed ?x - item)
    (is-on ?x - item) (is-off ?x - item)

    ; A goal that the apartment cannot grant: it lacks the things.
    (granted ?w - wish))

  ; Whatever the robot walks to is near, with what is on it, what it is on or in, and, if it can be opened, what is in it. What
  ; it holds comes along.
  (:action walk
    :parameters (?x - item)
    :precondition (and
      (not (seated))
      (not (no-room ?x))
      (not (held ?x)))
    :effect (and
      (forall (?y - thing) (not (near ?y)))
      (forall (?y - thing)
        (when (or (= ?x ?y) (held ?y) (on ?y ?x) (on ?x ?y) (inside ?x ?y) (and (inside ?y ?x) (can-open ?x)))
          (near ?y)))))

  ; Grabbing ends all that x was on or in, and all that was on or in x, which is not near any more either. x is then in the room
  ; that the robot began in, as the executor has it.
  (:action grab
    :parameters (?x - thing)
    :precondition (and
      (grabbable ?x)
      (near ?x)
      (not (held ?x))
      (not (two-held))
      (forall (?c - thing) (imply (inside ?x ?c) (not (is-closed ?c)))))
    :effect (and
      (held ?x)
      (one-held)
      (when (one-held) (two-held))
      (forall (?y - thing) (and
        (not (on ?x ?y)) (not (inside ?x ?y)) (not (on ?y ?x)) (not (inside ?y ?x))
        (when (or (on ?y ?x) (inside ?y ?x)) (not (near ?y)))
        (when (room-through ?y ?x) (no-room ?y))))
      (not (no-room ?x))
      (forall (?r - room) (and
        (not (on ?x ?r))
        (when (not (begins ?r)) (not (inside ?x ?r)))
        (when (begins ?r) (inside ?x ?r))))))

  (:action open
    :parameters (?x - thing)
    :precondition (and
      (can-open ?x)
      (near ?x)
      (not (two-held))
      (is-closed ?x)
      (not (is-on ?x)))
    :effect (and (not (is-closed ?x)) (is-open ?x)))

  (:action close
    :parameters (?x - thing)
    :precondition (and
      (can-open ?x)
      (near ?x)
      (not (two-held))
      (is-open ?x))
    :effect (and (not (is-open ?x)) (is-closed ?x)))

  (:action switchon
    :parameters (?x - thing)
    :precondition (and
      (has-switch ?x)
      (near ?x)
      (not (two-held))
      (is-off ?x)
      (or (not (can-open ?x)) (is-closed ?x)))
    :effect (and (not (is-off ?x)) (is-on ?x)))

  (:action putin
    :parameters (?x ?y - thing)
    :precondition (and
      (held ?x)
      (not (held ?y))
      (near ?y)
      (container ?y)
      (not (is-closed ?y))
      (or (not (can-open ?y)) (is-open ?y)))
    :effect (and
      (not (held ?x))
      (when (not (two-held)) (not (one-held)))
      (not (two-held))
      (inside ?x ?y)))

  (:action putback
    :parameters (?x ?y - thing)
    :precondition (and
      (held ?x)
      (not (held ?y))
      (near ?y)
      (surface ?y))
    :effect (and
      (not (held ?x))
      (when (not (two-held)) (not (one-held)))
      (not (two-held))
      (on ?x ?y))))
