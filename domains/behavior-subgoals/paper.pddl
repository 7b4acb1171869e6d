; BEHAVIOR, subgoal decomposition: the rules the paper states for it, and no others. Every condition is accepted and
; becomes true; hands, sizes and what a condition destroys are not modelled.
;
;   gate      what is inside a closed container at the start is the subject of no condition before that was opened
;   lids      inside: only into a container that is open
;   chain     soaked: only inside water that runs; not stained: only after some cleaner was soaked
;   anchors   a thing that the goal wants moved is put in its place before conditions put others next to it, on it,
;             under it or into it
;
; Conditions are about what is spoken of, the things whose name the evaluator can read. That is not the paper's, which
; offers the other names, too, and counts what comes of it as the benchmark's fault.
(define (domain behavior-subgoals)
  (:requirements :adl :typing)
  (:types spoken - thing thing category - object)
  (:predicates
    (kind ?x ?k) (floor ?x)
    (open-gated ?x)        ; has a lid or a door
    (gated ?x ?y)          ; x is inside y at the start, and y can be closed
    (may-open ?x)
    (moves ?x)             ; a goal wants it somewhere
    (toggleable ?x) (sliceable ?x) (soakable ?x) (cookable ?x) (freezable ?x) (cleanable ?x) (cleaner ?x) (water ?x)
    (passive ?x)           ; water without a switch
    (impossible)
    (put ?x)               ; some condition has put it somewhere
    (inside ?x ?y) (ontop ?x ?y) (onfloor ?x ?y) (nextto ?x ?y) (touching ?x ?y) (under ?x ?y)
    (holds_rh ?x) (holds_lh ?x)
    (open ?x) (toggled_on ?x)
    (sliced ?x) (soaked ?x) (cooked ?x) (burnt ?x) (frozen ?x) (dusty ?x) (stained ?x))

  (:action inside
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (not (inside ?b ?a))
                       (forall (?y) (imply (gated ?a ?y) (open ?y))) (or (not (moves ?b)) (put ?b))
                       (or (not (open-gated ?b)) (open ?b)))
    :effect (and (inside ?a ?b) (put ?a)))

  (:action not-inside
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (inside ?a ?b)))

  (:action ontop
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (not (inside ?b ?a))
                       (forall (?y) (imply (gated ?a ?y) (open ?y))) (or (not (moves ?b)) (put ?b)))
    :effect (and (ontop ?a ?b) (put ?a)))

  (:action not-ontop
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (ontop ?a ?b)))

  (:action onfloor
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (floor ?b) (not (= ?a ?b)) (not (inside ?b ?a))
                       (forall (?y) (imply (gated ?a ?y) (open ?y))) (or (not (moves ?b)) (put ?b)))
    :effect (and (onfloor ?a ?b) (put ?a)))

  (:action not-onfloor
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (floor ?b) (not (= ?a ?b)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (onfloor ?a ?b)))

  (:action under
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (not (inside ?b ?a))
                       (forall (?y) (imply (gated ?a ?y) (open ?y))) (or (not (moves ?b)) (put ?b)))
    :effect (and (under ?a ?b) (put ?a)))

  (:action not-under
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (under ?a ?b)))

  (:action nextto
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (not (inside ?b ?a))
                       (forall (?y) (imply (gated ?a ?y) (open ?y))) (or (not (moves ?b)) (put ?b)))
    :effect (and (nextto ?a ?b) (put ?a)))

  (:action not-nextto
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (nextto ?a ?b)))

  (:action touching
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (not (inside ?b ?a))
                       (forall (?y) (imply (gated ?a ?y) (open ?y))) (or (not (moves ?b)) (put ?b)))
    :effect (and (touching ?a ?b) (put ?a)))

  (:action not-touching
    :parameters (?a ?b - spoken)
    :precondition (and (not (floor ?a)) (not (floor ?b)) (not (= ?a ?b)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (touching ?a ?b)))

  (:action holds_rh
    :parameters (?a - spoken)
    :precondition (and (not (floor ?a)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (holds_rh ?a))

  (:action not-holds_rh
    :parameters (?a - spoken)
    :precondition (and (not (floor ?a)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (holds_rh ?a)))

  (:action holds_lh
    :parameters (?a - spoken)
    :precondition (and (not (floor ?a)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (holds_lh ?a))

  (:action not-holds_lh
    :parameters (?a - spoken)
    :precondition (and (not (floor ?a)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (holds_lh ?a)))

  (:action open
    :parameters (?a - spoken)
    :precondition (and (may-open ?a))
    :effect (open ?a))

  (:action not-open
    :parameters (?a - spoken)
    :precondition (and (may-open ?a))
    :effect (not (open ?a)))

  (:action toggledon
    :parameters (?a - spoken)
    :precondition (and (toggleable ?a) (not (open ?a)) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (toggled_on ?a))

  (:action not-toggledon
    :parameters (?a - spoken)
    :precondition (and (toggleable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (toggled_on ?a)))

  (:action cooked
    :parameters (?a - spoken)
    :precondition (and (cookable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (cooked ?a))

  (:action not-cooked
    :parameters (?a - spoken)
    :precondition (and (cookable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (cooked ?a)))

  (:action frozen
    :parameters (?a - spoken)
    :precondition (and (freezable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (frozen ?a))

  (:action not-frozen
    :parameters (?a - spoken)
    :precondition (and (freezable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (frozen ?a)))

  (:action sliced
    :parameters (?a - spoken)
    :precondition (and (sliceable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (sliced ?a))

  (:action not-sliced
    :parameters (?a - spoken)
    :precondition (and (sliceable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (sliced ?a)))

  (:action soaked
    :parameters (?a - spoken)
    :precondition (and (soakable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y)))
                       (exists (?y) (and (water ?y) (inside ?a ?y) (or (passive ?y) (toggled_on ?y)))))
    :effect (soaked ?a))

  (:action not-soaked
    :parameters (?a - spoken)
    :precondition (and (soakable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (soaked ?a)))

  (:action dusty
    :parameters (?a - spoken)
    :precondition (and (cleanable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (dusty ?a))

  (:action not-dusty
    :parameters (?a - spoken)
    :precondition (and (cleanable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (not (dusty ?a)))

  (:action stained
    :parameters (?a - spoken)
    :precondition (and (cleanable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y))))
    :effect (stained ?a))

  (:action not-stained
    :parameters (?a - spoken)
    :precondition (and (cleanable ?a) (forall (?y) (imply (gated ?a ?y) (open ?y)))
                       (exists (?x) (and (cleaner ?x) (soaked ?x))))
    :effect (not (stained ?a))))
