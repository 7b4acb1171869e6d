; BEHAVIOR, subgoal decomposition: what the benchmark's evaluator does with each condition of a plan, for a robot that
; has read the prompt. An action is a condition; a hyphen in its name is written as a blank, so that not-open(jar) reads
; "not open(jar)".
;
; The evaluator turns each condition into actions by a fixed table, whether or not it holds already:
;
;   inside(a, b)   have(a): use the hand that holds a; else grasp a with the right hand if it is free, else with the
;                  left if that is free, else release what the right hand holds and grasp with it. Then PLACE_INSIDE b.
;   open(a)        when both hands are full, release what the right hand holds; then OPEN a.
;
; and so on. An ontop or onfloor condition directly followed by a nextto or touching condition about the same thing is
; one action: the thing is put next to the other one and stays where the first condition put it, whichever of the two
; the second condition names first. `rested` remembers what the last condition put down. The other order, nextto and
; then ontop, is left out: `neighbour` remembers what it would concern.
;
; What is known and what is safe is modelled as in behavior-actions. Conditions for which the evaluator does nothing
; (not ontop, dusty, ...) are left out, and so is everything about things an answer cannot name.
(define (domain behavior-subgoals)
  (:requirements :adl :typing :derived-predicates)
  (:types thing category - object)
  (:predicates
    ; What a thing is.
    (kind ?x ?k)           ; its category, as goals name it
    (nameable ?x)          ; the evaluator can read its name
    (floor ?x)
    (graspable ?x)         ; certainly not too large for a hand
    (surface ?x)
    (fits ?x ?y)           ; x is certainly not larger than y
    (stands-by ?x ?y)      ; a goal wants x and y next to each other
    (touches ?x ?y)        ; and calls it touching
    (goes-under ?x ?y)
    (target ?x)            ; something may be put on it, into it, under it or next to it
    (leaves ?x ?y)         ; x is in y at the start, and a goal wants it out
    (mistaken-for ?x ?y)   ; looking for x, the evaluator takes y when a hand holds it
    (openable ?x) (toggleable ?x) (sliceable ?x) (soakable ?x) (cookable ?x) (freezable ?x)
    (cleaning-tool ?x) (slicer ?x) (detergent ?x)
    (sink ?x) (water ?x) (saucepan ?x) (dishwasher ?x)

    (impossible)           ; never; marks goals that no state fulfils

    ; Where things are.
    (left-empty) (right-empty) (in-left ?x) (in-right ?x)
    (inside ?x ?y) (ontop ?x ?y) (onfloor ?x ?y) (nextto ?x ?y) (under ?x ?y)
    (settled ?x)
    (rested ?x) (neighbour ?x)

    ; How they are.
    (open ?x) (closed ?x) (on ?x) (off ?x)
    (sliced ?x) (soaked ?x) (cooked ?x) (burnt ?x) (frozen ?x) (dusty ?x) (stained ?x)

    ; What follows.
    (shut-in ?x)           ; inside something that may be closed, however deep
    (carries ?x ?y)        ; y is on or inside x, however deep
    (washed ?x)            ; in a running sink
    (at-hand ?x)           ; x can be had: a hand holds it, or one can grasp it
    (tool-in-hand) (wet-tool-in-hand) (slicer-in-hand))

  (:derived (shut-in ?x)
    (exists (?y) (or (and (inside ?x ?y) (openable ?y) (not (open ?y)))
                     (and (inside ?x ?y) (shut-in ?y))
                     (and (ontop ?x ?y) (shut-in ?y)))))

  (:derived (carries ?x ?y)
    (and (target ?y)
         (or (and (graspable ?x) (inside ?y ?x)) (and (graspable ?x) (ontop ?y ?x))
             (exists (?z) (and (inside ?y ?z) (carries ?x ?z)))
             (exists (?z) (and (ontop ?y ?z) (carries ?x ?z))))))

  (:derived (washed ?x)
    (exists (?y) (and (sink ?y) (on ?y) (settled ?x) (or (inside ?x ?y) (ontop ?x ?y)))))

  (:derived (at-hand ?x)
    (and (graspable ?x) (not (shut-in ?x)) (not (sliced ?x))
         (not (exists (?y) (and (mistaken-for ?x ?y) (or (in-left ?y) (in-right ?y)))))))

  ; When both hands are full, what is in the right one will have been released.
  (:derived (tool-in-hand)
    (exists (?x) (and (cleaning-tool ?x) (or (in-left ?x) (and (in-right ?x) (left-empty))))))

  (:derived (wet-tool-in-hand)
    (exists (?x) (and (or (in-left ?x) (and (in-right ?x) (left-empty)))
                      (or (detergent ?x) (and (cleaning-tool ?x) (soaked ?x))))))

  (:derived (slicer-in-hand)
    (exists (?x) (and (slicer ?x) (or (in-left ?x) (and (in-right ?x) (left-empty))))))

  ; --- putting a thing somewhere

  (:action inside
    :parameters (?a ?b)
    :precondition (and (fits ?a ?b) (at-hand ?a) (not (= ?a ?b)) (not (shut-in ?b)) (not (sliced ?b))
                       (not (carries ?a ?b))
                       (or (not (openable ?b)) (open ?b)))
    :effect (and (inside ?a ?b) (settled ?a)
      (forall (?z) (when (and (in-right ?z) (not (left-empty)) (not (in-left ?a)))
                         (and (not (in-right ?z)) (right-empty))))
      (when (in-right ?a) (and (not (in-right ?a)) (right-empty)))
      (when (in-left ?a) (and (not (in-left ?a)) (left-empty)))
      (forall (?z) (and (not (inside ?a ?z)) (not (ontop ?a ?z)) (not (onfloor ?a ?z)) (not (under ?a ?z))
                        (not (under ?z ?a))))
      (forall (?z) (when (and (not (in-left ?a)) (not (in-right ?a))) (and (not (nextto ?a ?z)) (not (nextto ?z ?a)))))
      (forall (?z) (when (ontop ?z ?a) (not (settled ?z))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action ontop
    :parameters (?a ?b)
    :precondition (and (graspable ?a) (surface ?b) (not (floor ?b)) (at-hand ?a) (not (= ?a ?b)) (not (shut-in ?b))
                       (not (sliced ?b)) (not (carries ?a ?b))
                       (not (neighbour ?a)))
    :effect (and (ontop ?a ?b) (settled ?a)
      (forall (?z) (when (and (in-right ?z) (not (left-empty)) (not (in-left ?a)))
                         (and (not (in-right ?z)) (right-empty))))
      (when (in-right ?a) (and (not (in-right ?a)) (right-empty)))
      (when (in-left ?a) (and (not (in-left ?a)) (left-empty)))
      (forall (?z) (and (not (inside ?a ?z)) (not (ontop ?a ?z)) (not (onfloor ?a ?z)) (not (under ?a ?z))
                        (not (under ?z ?a))))
      (forall (?z) (when (and (not (in-left ?a)) (not (in-right ?a))) (and (not (nextto ?a ?z)) (not (nextto ?z ?a)))))
      (forall (?z) (when (ontop ?z ?a) (not (settled ?z))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))
      (rested ?a)))

  (:action onfloor
    :parameters (?a ?b)
    :precondition (and (graspable ?a) (surface ?b) (floor ?b) (at-hand ?a) (not (= ?a ?b)) (not (shut-in ?b))
                       (not (sliced ?b)) (not (carries ?a ?b))
                       (not (neighbour ?a)))
    :effect (and (onfloor ?a ?b) (settled ?a)
      (forall (?z) (when (and (in-right ?z) (not (left-empty)) (not (in-left ?a)))
                         (and (not (in-right ?z)) (right-empty))))
      (when (in-right ?a) (and (not (in-right ?a)) (right-empty)))
      (when (in-left ?a) (and (not (in-left ?a)) (left-empty)))
      (forall (?z) (and (not (inside ?a ?z)) (not (ontop ?a ?z)) (not (onfloor ?a ?z)) (not (under ?a ?z))
                        (not (under ?z ?a))))
      (forall (?z) (when (and (not (in-left ?a)) (not (in-right ?a))) (and (not (nextto ?a ?z)) (not (nextto ?z ?a)))))
      (forall (?z) (when (ontop ?z ?a) (not (settled ?z))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))
      (rested ?a)))

  (:action under
    :parameters (?a ?b)
    :precondition (and (goes-under ?a ?b) (at-hand ?a) (not (= ?a ?b)) (not (shut-in ?b)) (not (sliced ?b))
                       (not (carries ?a ?b))
                       (not (exists (?y) (or (inside ?b ?y) (ontop ?b ?y)))))
    :effect (and (under ?a ?b) (settled ?a)
      (forall (?z) (when (and (in-right ?z) (not (left-empty)) (not (in-left ?a)))
                         (and (not (in-right ?z)) (right-empty))))
      (when (in-right ?a) (and (not (in-right ?a)) (right-empty)))
      (when (in-left ?a) (and (not (in-left ?a)) (left-empty)))
      (forall (?z) (and (not (inside ?a ?z)) (not (ontop ?a ?z)) (not (onfloor ?a ?z)) (not (under ?a ?z))
                        (not (under ?z ?a))))
      (forall (?z) (when (and (not (in-left ?a)) (not (in-right ?a))) (and (not (nextto ?a ?z)) (not (nextto ?z ?a)))))
      (forall (?z) (when (ontop ?z ?a) (not (settled ?z))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  ; --- next to another thing; what is put there comes to be where that thing is

  (:action nextto
    :parameters (?a ?b)
    :precondition (and (stands-by ?a ?b)
      (or (and (rested ?a) (not (shut-in ?b)) (not (sliced ?b)) (not (carries ?a ?b)))
          (and (rested ?b) (not (shut-in ?a)) (not (sliced ?a)) (not (carries ?b ?a)))
          (and (not (rested ?a)) (not (rested ?b)) (at-hand ?a) (not (shut-in ?b)) (not (sliced ?b))
               (not (carries ?a ?b))
               (or (settled ?b) (not (exists (?y) (or (inside ?b ?y) (ontop ?b ?y))))))))
    :effect (and (nextto ?a ?b) (nextto ?b ?a)
      (when (and (not (rested ?a)) (not (rested ?b))) (and (settled ?a) (neighbour ?a) (neighbour ?b)))
      (when (or (rested ?a) (rested ?b)) (forall (?z) (not (neighbour ?z))))
      (forall (?z) (not (rested ?z)))
      (forall (?z) (when (and (not (rested ?a)) (not (rested ?b)) (in-right ?z) (not (left-empty)) (not (in-left ?a)))
                         (and (not (in-right ?z)) (right-empty))))
      (when (and (not (rested ?a)) (not (rested ?b)) (in-right ?a)) (and (not (in-right ?a)) (right-empty)))
      (when (and (not (rested ?a)) (not (rested ?b)) (in-left ?a)) (and (not (in-left ?a)) (left-empty)))
      (forall (?z) (when (and (not (rested ?a)) (not (rested ?b)))
                         (and (not (inside ?a ?z)) (not (ontop ?a ?z)) (not (onfloor ?a ?z)) (not (under ?a ?z))
                              (not (under ?z ?a)))))
      (forall (?z) (when (and (not (rested ?a)) (not (rested ?b)) (not (in-left ?a)) (not (in-right ?a)))
                         (and (not (nextto ?a ?z)) (not (nextto ?z ?a)))))
      (forall (?z) (when (and (not (rested ?a)) (not (rested ?b)) (ontop ?z ?a)) (not (settled ?z))))
      (forall (?y) (when (and (not (rested ?a)) (not (rested ?b)) (inside ?b ?y)) (inside ?a ?y)))
      (forall (?y) (when (and (not (rested ?a)) (not (rested ?b)) (ontop ?b ?y)) (ontop ?a ?y)))))

  (:action touching
    :parameters (?a ?b)
    :precondition (and (touches ?a ?b)
      (or (and (rested ?a) (not (shut-in ?b)) (not (sliced ?b)) (not (carries ?a ?b)))
          (and (rested ?b) (not (shut-in ?a)) (not (sliced ?a)) (not (carries ?b ?a)))
          (and (not (rested ?a)) (not (rested ?b)) (at-hand ?a) (not (shut-in ?b)) (not (sliced ?b))
               (not (carries ?a ?b))
               (or (settled ?b) (not (exists (?y) (or (inside ?b ?y) (ontop ?b ?y))))))))
    :effect (and (nextto ?a ?b) (nextto ?b ?a)
      (when (and (not (rested ?a)) (not (rested ?b))) (and (settled ?a) (neighbour ?a) (neighbour ?b)))
      (when (or (rested ?a) (rested ?b)) (forall (?z) (not (neighbour ?z))))
      (forall (?z) (not (rested ?z)))
      (forall (?z) (when (and (not (rested ?a)) (not (rested ?b)) (in-right ?z) (not (left-empty)) (not (in-left ?a)))
                         (and (not (in-right ?z)) (right-empty))))
      (when (and (not (rested ?a)) (not (rested ?b)) (in-right ?a)) (and (not (in-right ?a)) (right-empty)))
      (when (and (not (rested ?a)) (not (rested ?b)) (in-left ?a)) (and (not (in-left ?a)) (left-empty)))
      (forall (?z) (when (and (not (rested ?a)) (not (rested ?b)))
                         (and (not (inside ?a ?z)) (not (ontop ?a ?z)) (not (onfloor ?a ?z)) (not (under ?a ?z))
                              (not (under ?z ?a)))))
      (forall (?z) (when (and (not (rested ?a)) (not (rested ?b)) (not (in-left ?a)) (not (in-right ?a)))
                         (and (not (nextto ?a ?z)) (not (nextto ?z ?a)))))
      (forall (?z) (when (and (not (rested ?a)) (not (rested ?b)) (ontop ?z ?a)) (not (settled ?z))))
      (forall (?y) (when (and (not (rested ?a)) (not (rested ?b)) (inside ?b ?y)) (inside ?a ?y)))
      (forall (?y) (when (and (not (rested ?a)) (not (rested ?b)) (ontop ?b ?y)) (ontop ?a ?y)))))

  ; --- out of another thing: a is grasped and let go, which works with the right hand only

  (:action not-inside
    :parameters (?a ?b)
    :precondition (and (leaves ?a ?b) (inside ?a ?b) (at-hand ?a) (or (right-empty) (not (left-empty))))
    :effect (and (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (inside ?a ?z)) (not (ontop ?a ?z)) (not (onfloor ?a ?z)) (not (under ?a ?z))
                        (not (under ?z ?a))))
      (forall (?z) (when (and (not (in-left ?a)) (not (in-right ?a))) (and (not (nextto ?a ?z)) (not (nextto ?z ?a)))))
      (forall (?z) (when (ontop ?z ?a) (not (settled ?z))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  ; --- into a hand, out of a hand

  (:action holds_rh
    :parameters (?a)
    :precondition (and (at-hand ?a) (not (in-left ?a)) (not (in-right ?a)))
    :effect (and (in-right ?a) (not (right-empty))
      (forall (?z) (not (in-right ?z)))
      (forall (?z) (and (not (inside ?a ?z)) (not (ontop ?a ?z)) (not (onfloor ?a ?z)) (not (under ?a ?z))
                        (not (under ?z ?a))))
      (forall (?z) (when (and (not (in-left ?a)) (not (in-right ?a))) (and (not (nextto ?a ?z)) (not (nextto ?z ?a)))))
      (forall (?z) (when (ontop ?z ?a) (not (settled ?z))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action not-holds_rh
    :parameters (?a)
    :precondition (and (in-right ?a))
    :effect (and (not (in-right ?a)) (right-empty)
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action holds_lh
    :parameters (?a)
    :precondition (and (at-hand ?a) (not (in-left ?a)) (not (in-right ?a)))
    :effect (and (in-left ?a) (not (left-empty))
      (forall (?z) (not (in-left ?z)))
      (forall (?z) (and (not (inside ?a ?z)) (not (ontop ?a ?z)) (not (onfloor ?a ?z)) (not (under ?a ?z))
                        (not (under ?z ?a))))
      (forall (?z) (when (and (not (in-left ?a)) (not (in-right ?a))) (and (not (nextto ?a ?z)) (not (nextto ?z ?a)))))
      (forall (?z) (when (ontop ?z ?a) (not (settled ?z))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action not-holds_lh
    :parameters (?a)
    :precondition (and (in-left ?a))
    :effect (and (not (in-left ?a)) (left-empty)
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  ; --- with a free hand

  (:action open
    :parameters (?a)
    :precondition (and (nameable ?a) (openable ?a) (not (open ?a)) (or (not (toggleable ?a)) (off ?a))
                       (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (open ?a) (not (closed ?a))
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action not-open
    :parameters (?a)
    :precondition (and (nameable ?a) (openable ?a) (not (closed ?a)) (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (closed ?a) (not (open ?a))
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action toggledon
    :parameters (?a)
    :precondition (and (nameable ?a) (toggleable ?a) (not (on ?a)) (or (not (openable ?a)) (closed ?a))
                       (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (on ?a) (not (off ?a))
      (forall (?x) (when (and (dishwasher ?a) (settled ?x) (or (inside ?x ?a) (ontop ?x ?a)))
                         (and (not (dusty ?x)) (not (stained ?x)))))
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action not-toggledon
    :parameters (?a)
    :precondition (and (nameable ?a) (toggleable ?a) (not (off ?a)) (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (off ?a) (not (on ?a))
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action sliced
    :parameters (?a)
    :precondition (and (nameable ?a) (sliceable ?a) (slicer-in-hand) (not (in-left ?a)) (not (in-right ?a))
                       (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (sliced ?a) (forall (?z) (and (not (nextto ?z ?a)) (not (under ?z ?a))))
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action soaked
    :parameters (?a)
    :precondition (and (nameable ?a) (soakable ?a) (not (soaked ?a)) (settled ?a)
                       (exists (?y)
                         (and (water ?y) (or (inside ?a ?y) (ontop ?a ?y)) (or (not (toggleable ?y)) (on ?y))))
                       (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (soaked ?a)
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action frozen
    :parameters (?a)
    :precondition (and (nameable ?a) (freezable ?a) (not (frozen ?a)) (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (frozen ?a)
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action not-frozen
    :parameters (?a)
    :precondition (and (nameable ?a) (freezable ?a) (frozen ?a) (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (not (frozen ?a))
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action cooked
    :parameters (?a)
    :precondition (and (nameable ?a) (cookable ?a) (not (cooked ?a)) (settled ?a)
                       (exists (?y) (and (saucepan ?y) (or (inside ?a ?y) (ontop ?a ?y))))
                       (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (cooked ?a)
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  ; --- both clean: dust and stains go, each where its own condition holds

  (:action not-dusty
    :parameters (?a)
    :precondition (and (nameable ?a) (or (and (dusty ?a) (or (tool-in-hand) (washed ?a)))
                           (and (stained ?a) (or (wet-tool-in-hand) (washed ?a))))
                       (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (when (or (tool-in-hand) (washed ?a)) (not (dusty ?a)))
      (when (or (wet-tool-in-hand) (washed ?a)) (not (stained ?a)))
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z))))))

  (:action not-stained
    :parameters (?a)
    :precondition (and (nameable ?a) (or (and (dusty ?a) (or (tool-in-hand) (washed ?a)))
                           (and (stained ?a) (or (wet-tool-in-hand) (washed ?a))))
                       (not (shut-in ?a)) (not (sliced ?a)))
    :effect (and (when (or (tool-in-hand) (washed ?a)) (not (dusty ?a)))
      (when (or (wet-tool-in-hand) (washed ?a)) (not (stained ?a)))
      (forall (?z) (when (and (in-right ?z) (not (left-empty))) (and (not (in-right ?z)) (right-empty))))
      (forall (?z) (and (not (rested ?z)) (not (neighbour ?z)))))))
