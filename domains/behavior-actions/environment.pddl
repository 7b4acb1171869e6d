; BEHAVIOR, action sequencing: what the benchmark's own transition model does, for a robot that has read the prompt.
;
; The prompt hides facts: whether a door stands open, whether a machine runs, how large things are, whether a thing
; really lies where the prompt says. So the predicates here say what is *known*, and an action is legal only when it
; works in every house that fits the prompt. A superfluous step (OPEN of what is open) is skipped by the evaluator and
; harmless; it is what makes a plan safe.
;
;   open, closed, on, off   known to be so; a thing may be known neither way until the robot opens or closes it.
;   inside, ontop, onfloor  where a thing is believed to be. `settled`: it is certain, because the robot put it there,
;                           because it is too heavy to be moved, or because nothing depends on it. Goals about places
;                           count settled things only.
;   fits, surface, ...      what is safe whatever the sizes are; the reader of the prompt finds out.
;
; Differences to the transition model, all of them on the safe side: the parts of a sliced thing are not touched any
; more; what lies on a thing that is grasped may fall off, so it is no longer settled; a thing is soaked, cooked or
; cleaned by what it is in directly; PLACE_UNDER and PLACE_NEXTTO are for the neighbours the goal names;
; TRANSFER_CONTENTS_INSIDE and TRANSFER_CONTENTS_ONTOP are left out, as they crash the evaluator whenever there is
; something to transfer.
(define (domain behavior-actions)
  (:requirements :adl :typing :derived-predicates)
  (:types thing category - object)
  (:predicates
    ; What a thing is.
    (kind ?x ?k)           ; its category, as goals name it
    (floor ?x)
    (graspable ?x)         ; certainly not too large for a hand
    (surface ?x)
    (fits ?x ?y)           ; x is certainly not larger than y
    (stands-by ?x ?y)      ; a goal wants x and y next to each other
    (goes-on ?x ?y)        ; a goal wants x on y, or y is a floor
    (goes-under ?x ?y)
    (target ?x)            ; something may be put on it, into it, under it or next to it
    (openable ?x) (toggleable ?x) (sliceable ?x) (soakable ?x) (cookable ?x) (freezable ?x)
    (cleaning-tool ?x) (slicer ?x) (detergent ?x)
    (sink ?x) (water ?x) (saucepan ?x) (dishwasher ?x)

    (impossible)           ; never; marks goals that no state fulfils

    ; Where things are.
    (left-empty) (right-empty) (in-left ?x) (in-right ?x)
    (inside ?x ?y) (ontop ?x ?y) (onfloor ?x ?y) (nextto ?x ?y) (under ?x ?y)
    (settled ?x)

    ; How they are.
    (open ?x) (closed ?x) (on ?x) (off ?x)
    (sliced ?x) (soaked ?x) (cooked ?x) (burnt ?x) (frozen ?x) (dusty ?x) (stained ?x)

    ; What follows.
    (shut-in ?x)           ; inside something that may be closed, however deep
    (carried-left ?x)      ; on or inside what the left hand holds, however deep
    (carried-right ?x)
    (washed ?x)            ; in a running sink
    (tool-in-hand) (wet-tool-in-hand))

  (:derived (shut-in ?x)
    (exists (?y) (or (and (inside ?x ?y) (openable ?y) (not (open ?y)))
                     (and (inside ?x ?y) (shut-in ?y))
                     (and (ontop ?x ?y) (shut-in ?y)))))

  (:derived (carried-left ?x)
    (exists (?y) (and (target ?x) (or (inside ?x ?y) (ontop ?x ?y)) (or (in-left ?y) (carried-left ?y)))))

  (:derived (carried-right ?x)
    (exists (?y) (and (target ?x) (or (inside ?x ?y) (ontop ?x ?y)) (or (in-right ?y) (carried-right ?y)))))

  (:derived (washed ?x)
    (exists (?y) (and (sink ?y) (on ?y) (settled ?x) (or (inside ?x ?y) (ontop ?x ?y)))))

  (:derived (tool-in-hand)
    (exists (?x) (and (cleaning-tool ?x) (or (in-left ?x) (in-right ?x)))))

  ; Detergent needs no water.
  (:derived (wet-tool-in-hand)
    (exists (?x) (and (or (in-left ?x) (in-right ?x)) (or (detergent ?x) (and (cleaning-tool ?x) (soaked ?x))))))

  ; --- the left hand
  (:action left_grasp
    :parameters (?o)
    :precondition (and (graspable ?o) (left-empty) (not (in-right ?o)) (not (shut-in ?o)) (not (sliced ?o)))
    :effect (and (in-left ?o) (not (left-empty))
      (forall (?y) (and (not (inside ?o ?y)) (not (ontop ?o ?y)) (not (onfloor ?o ?y)) (not (under ?o ?y))
                        (not (under ?y ?o)) (not (nextto ?o ?y)) (not (nextto ?y ?o))))
      (forall (?y) (when (ontop ?y ?o) (not (settled ?y))))))

  ; A released thing is nowhere.
  (:action left_release
    :parameters (?o)
    :precondition (in-left ?o)
    :effect (and (not (in-left ?o)) (left-empty)))

  (:action left_place_ontop
    :parameters (?o)
    :precondition (and (surface ?o) (not (left-empty)) (not (in-left ?o)) (not (carried-left ?o)) (not (shut-in ?o))
                       (not (sliced ?o)))
    :effect (and (left-empty)
      (forall (?x) (when (and (in-left ?x) (floor ?o)) (and (not (in-left ?x)) (onfloor ?x ?o) (settled ?x))))
      (forall (?x) (when (and (in-left ?x) (not (floor ?o))) (and (not (in-left ?x)) (ontop ?x ?o) (settled ?x))))))

  (:action left_place_inside
    :parameters (?o)
    :precondition (and (exists (?x) (and (in-left ?x) (fits ?x ?o))) (or (not (openable ?o)) (open ?o))
                       (not (carried-left ?o)) (not (shut-in ?o)) (not (sliced ?o)))
    :effect (and (left-empty)
      (forall (?x) (when (and (in-left ?x) (fits ?x ?o)) (and (not (in-left ?x)) (inside ?x ?o) (settled ?x))))))

  ; What is put next to a thing comes to be where that thing is.
  (:action left_place_nextto
    :parameters (?o)
    :precondition (and (exists (?x) (and (in-left ?x) (stands-by ?x ?o)))
                       (not (carried-left ?o)) (not (shut-in ?o)) (not (sliced ?o))
                       (or (settled ?o) (not (exists (?y) (or (inside ?o ?y) (ontop ?o ?y))))))
    :effect (and (left-empty)
      (forall (?x) (when (and (in-left ?x) (stands-by ?x ?o))
                         (and (not (in-left ?x)) (nextto ?x ?o) (nextto ?o ?x) (settled ?x))))
      (forall (?x ?y) (when (and (in-left ?x) (stands-by ?x ?o) (inside ?o ?y)) (inside ?x ?y)))
      (forall (?x ?y) (when (and (in-left ?x) (stands-by ?x ?o) (ontop ?o ?y)) (ontop ?x ?y)))))

  (:action left_place_nextto_ontop
    :parameters (?o ?s)
    :precondition (and (exists (?x) (and (in-left ?x) (stands-by ?x ?o) (goes-on ?x ?s)))
                       (not (carried-left ?o)) (not (shut-in ?o)) (not (sliced ?o))
                       (not (in-left ?s)) (not (carried-left ?s)) (not (shut-in ?s)) (not (sliced ?s)))
    :effect (and (left-empty)
      (forall (?x) (when (and (in-left ?x) (stands-by ?x ?o) (goes-on ?x ?s) (floor ?s))
                         (and (not (in-left ?x)) (nextto ?x ?o) (nextto ?o ?x) (onfloor ?x ?s) (settled ?x))))
      (forall (?x) (when (and (in-left ?x) (stands-by ?x ?o) (goes-on ?x ?s) (not (floor ?s)))
                         (and (not (in-left ?x)) (nextto ?x ?o) (nextto ?o ?x) (ontop ?x ?s) (settled ?x))))))

  (:action left_place_under
    :parameters (?o)
    :precondition (and (exists (?x) (and (in-left ?x) (goes-under ?x ?o)))
                       (not (carried-left ?o)) (not (shut-in ?o)) (not (sliced ?o))
                       (not (exists (?y) (or (inside ?o ?y) (ontop ?o ?y)))))
    :effect (and (left-empty)
      (forall (?x) (when (and (in-left ?x) (goes-under ?x ?o)) (and (not (in-left ?x)) (under ?x ?o) (settled ?x))))))

  ; --- the right hand
  (:action right_grasp
    :parameters (?o)
    :precondition (and (graspable ?o) (right-empty) (not (in-left ?o)) (not (shut-in ?o)) (not (sliced ?o)))
    :effect (and (in-right ?o) (not (right-empty))
      (forall (?y) (and (not (inside ?o ?y)) (not (ontop ?o ?y)) (not (onfloor ?o ?y)) (not (under ?o ?y))
                        (not (under ?y ?o)) (not (nextto ?o ?y)) (not (nextto ?y ?o))))
      (forall (?y) (when (ontop ?y ?o) (not (settled ?y))))))

  ; A released thing is nowhere.
  (:action right_release
    :parameters (?o)
    :precondition (in-right ?o)
    :effect (and (not (in-right ?o)) (right-empty)))

  (:action right_place_ontop
    :parameters (?o)
    :precondition (and (surface ?o) (not (right-empty)) (not (in-right ?o)) (not (carried-right ?o)) (not (shut-in ?o))
                       (not (sliced ?o)))
    :effect (and (right-empty)
      (forall (?x) (when (and (in-right ?x) (floor ?o)) (and (not (in-right ?x)) (onfloor ?x ?o) (settled ?x))))
      (forall (?x) (when (and (in-right ?x) (not (floor ?o))) (and (not (in-right ?x)) (ontop ?x ?o) (settled ?x))))))

  (:action right_place_inside
    :parameters (?o)
    :precondition (and (exists (?x) (and (in-right ?x) (fits ?x ?o))) (or (not (openable ?o)) (open ?o))
                       (not (carried-right ?o)) (not (shut-in ?o)) (not (sliced ?o)))
    :effect (and (right-empty)
      (forall (?x) (when (and (in-right ?x) (fits ?x ?o)) (and (not (in-right ?x)) (inside ?x ?o) (settled ?x))))))

  ; What is put next to a thing comes to be where that thing is.
  (:action right_place_nextto
    :parameters (?o)
    :precondition (and (exists (?x) (and (in-right ?x) (stands-by ?x ?o)))
                       (not (carried-right ?o)) (not (shut-in ?o)) (not (sliced ?o))
                       (or (settled ?o) (not (exists (?y) (or (inside ?o ?y) (ontop ?o ?y))))))
    :effect (and (right-empty)
      (forall (?x) (when (and (in-right ?x) (stands-by ?x ?o))
                         (and (not (in-right ?x)) (nextto ?x ?o) (nextto ?o ?x) (settled ?x))))
      (forall (?x ?y) (when (and (in-right ?x) (stands-by ?x ?o) (inside ?o ?y)) (inside ?x ?y)))
      (forall (?x ?y) (when (and (in-right ?x) (stands-by ?x ?o) (ontop ?o ?y)) (ontop ?x ?y)))))

  (:action right_place_nextto_ontop
    :parameters (?o ?s)
    :precondition (and (exists (?x) (and (in-right ?x) (stands-by ?x ?o) (goes-on ?x ?s)))
                       (not (carried-right ?o)) (not (shut-in ?o)) (not (sliced ?o))
                       (not (in-right ?s)) (not (carried-right ?s)) (not (shut-in ?s)) (not (sliced ?s)))
    :effect (and (right-empty)
      (forall (?x) (when (and (in-right ?x) (stands-by ?x ?o) (goes-on ?x ?s) (floor ?s))
                         (and (not (in-right ?x)) (nextto ?x ?o) (nextto ?o ?x) (onfloor ?x ?s) (settled ?x))))
      (forall (?x) (when (and (in-right ?x) (stands-by ?x ?o) (goes-on ?x ?s) (not (floor ?s)))
                         (and (not (in-right ?x)) (nextto ?x ?o) (nextto ?o ?x) (ontop ?x ?s) (settled ?x))))))

  (:action right_place_under
    :parameters (?o)
    :precondition (and (exists (?x) (and (in-right ?x) (goes-under ?x ?o)))
                       (not (carried-right ?o)) (not (shut-in ?o)) (not (sliced ?o))
                       (not (exists (?y) (or (inside ?o ?y) (ontop ?o ?y)))))
    :effect (and (right-empty)
      (forall (?x) (when (and (in-right ?x) (goes-under ?x ?o)) (and (not (in-right ?x)) (under ?x ?o) (settled ?x))))))

  ; --- any free hand
  (:action open
    :parameters (?o)
    :precondition (and (openable ?o) (not (open ?o)) (or (left-empty) (right-empty)) (or (not (toggleable ?o)) (off ?o))
                       (not (shut-in ?o)) (not (sliced ?o)))
    :effect (and (open ?o) (not (closed ?o))))

  (:action close
    :parameters (?o)
    :precondition (and (openable ?o) (not (closed ?o)) (or (left-empty) (right-empty)) (not (shut-in ?o))
                       (not (sliced ?o)))
    :effect (and (closed ?o) (not (open ?o))))

  ; A dishwasher cleans what it holds.
  (:action toggle_on
    :parameters (?o)
    :precondition (and (toggleable ?o) (not (on ?o)) (or (left-empty) (right-empty))
                       (or (not (openable ?o)) (closed ?o))
                       (not (shut-in ?o)) (not (sliced ?o)))
    :effect (and (on ?o) (not (off ?o))
      (forall (?x) (when (and (dishwasher ?o) (settled ?x) (or (inside ?x ?o) (ontop ?x ?o)))
                         (and (not (dusty ?x)) (not (stained ?x)))))))

  (:action toggle_off
    :parameters (?o)
    :precondition (and (toggleable ?o) (not (off ?o)) (or (left-empty) (right-empty)) (not (shut-in ?o))
                       (not (sliced ?o)))
    :effect (and (off ?o) (not (on ?o))))

  ; The parts of a sliced thing are where it was; what stood next to it does so no more.
  (:action slice
    :parameters (?o)
    :precondition (and (sliceable ?o) (not (sliced ?o)) (exists (?x) (and (slicer ?x) (or (in-left ?x) (in-right ?x))))
                       (or (left-empty) (right-empty)) (not (in-left ?o)) (not (in-right ?o)) (not (shut-in ?o)))
    :effect (and (sliced ?o) (forall (?y) (and (not (nextto ?y ?o)) (not (under ?y ?o))))))

  (:action soak
    :parameters (?o)
    :precondition (and (soakable ?o) (not (soaked ?o)) (or (left-empty) (right-empty)) (settled ?o) (not (shut-in ?o))
                       (not (sliced ?o))
                       (exists (?y)
                         (and (water ?y) (or (inside ?o ?y) (ontop ?o ?y)) (or (not (toggleable ?y)) (on ?y)))))
    :effect (soaked ?o))

  (:action dry
    :parameters (?o)
    :precondition (and (soakable ?o) (soaked ?o) (or (left-empty) (right-empty)) (not (shut-in ?o)) (not (sliced ?o)))
    :effect (not (soaked ?o)))

  (:action freeze
    :parameters (?o)
    :precondition (and (freezable ?o) (not (frozen ?o)) (or (left-empty) (right-empty)) (not (shut-in ?o))
                       (not (sliced ?o)))
    :effect (frozen ?o))

  (:action unfreeze
    :parameters (?o)
    :precondition (and (freezable ?o) (frozen ?o) (or (left-empty) (right-empty)) (not (shut-in ?o)) (not (sliced ?o)))
    :effect (not (frozen ?o)))

  (:action cook
    :parameters (?o)
    :precondition (and (cookable ?o) (not (cooked ?o)) (or (left-empty) (right-empty)) (settled ?o) (not (shut-in ?o))
                       (not (sliced ?o)) (exists (?y) (and (saucepan ?y) (or (inside ?o ?y) (ontop ?o ?y)))))
    :effect (cooked ?o))

  ; --- no free hand needed; dust and stains go, each where its own condition holds
  (:action clean
    :parameters (?o)
    :precondition (and (not (shut-in ?o)) (not (sliced ?o))
                       (or (and (dusty ?o) (or (tool-in-hand) (washed ?o)))
                           (and (stained ?o) (or (wet-tool-in-hand) (washed ?o)))))
    :effect (and (when (or (tool-in-hand) (washed ?o)) (not (dusty ?o)))
                 (when (or (wet-tool-in-hand) (washed ?o)) (not (stained ?o))))))
