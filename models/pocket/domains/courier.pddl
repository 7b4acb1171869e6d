; A courier with two hands walks between rooms; some doors are locked and need their key.
(define (domain courier)
  (:requirements :adl)
  (:predicates (room ?x) (door ?x ?y) (locked ?x ?y) (fits ?k ?x ?y) (parcel ?x) (hand ?h)
    (in ?x ?r) (here ?r) (carries ?h ?x) (empty ?h))

  (:action walk
    :parameters (?from ?to)
    :precondition (and (here ?from) (door ?from ?to) (not (locked ?from ?to)))
    :effect (and (here ?to) (not (here ?from))))

  (:action unlock
    :parameters (?key ?from ?to)
    :precondition (and (here ?from) (locked ?from ?to) (fits ?key ?from ?to) (exists (?h) (carries ?h ?key)))
    :effect (and (not (locked ?from ?to)) (not (locked ?to ?from))))

  (:action take
    :parameters (?x ?hand ?room)
    :precondition (and (parcel ?x) (here ?room) (in ?x ?room) (empty ?hand))
    :effect (and (carries ?hand ?x) (not (in ?x ?room)) (not (empty ?hand))))

  (:action drop
    :parameters (?x ?hand ?room)
    :precondition (and (here ?room) (carries ?hand ?x))
    :effect (and (in ?x ?room) (empty ?hand) (not (carries ?hand ?x)))))
