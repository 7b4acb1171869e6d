; BEHAVIOR, action sequencing: the rules the paper states for it (its appendices on action sequencing and on the
; affordance prior), and no others. Affordances come from the whole taxonomy; nothing about hidden facts, sizes, knives
; or pans.
;
;   grasp          a free hand, a graspable thing, no closed container around it
;   place inside   the destination is open when it is open-gated; never into itself or what it holds itself
;   toggle on      not while it is open
;   soak           inside a water source that runs, or that needs no switch
;   clean          a stained thing: with a soaked cleaner in a hand
;   anchors        "a position anchor must be established before relations referencing it": what others are put next to, on,
;                  under or into is not in a hand
;   open, close    only what the prompt gives a reason to open (`may-open`)
(define (domain behavior-actions)
  (:requirements :adl :typing :derived-predicates)
  (:types thing category - object)
  (:predicates
    (kind ?x ?k) (floor ?x) (graspable ?x)
    (open-gated ?x)        ; has a lid or a door
    (may-open ?x)
    (beside ?x) (rest ?x)  ; a goal wants something next to it, on it
    (toggleable ?x) (sliceable ?x) (soakable ?x) (cookable ?x) (freezable ?x) (cleanable ?x) (cleaner ?x) (water ?x)
    (passive ?x)           ; water without a switch
    (impossible)

    (left-empty) (right-empty) (in-left ?x) (in-right ?x)
    (inside ?x ?y) (ontop ?x ?y) (onfloor ?x ?y) (nextto ?x ?y) (touching ?x ?y) (under ?x ?y)
    (open ?x) (toggled_on ?x)
    (sliced ?x) (soaked ?x) (cooked ?x) (burnt ?x) (frozen ?x) (dusty ?x) (stained ?x)
    (shut-in ?x) (carried-left ?x) (carried-right ?x))

  (:derived (shut-in ?x)
    (exists (?y) (or (and (inside ?x ?y) (open-gated ?y) (not (open ?y)))
                     (and (inside ?x ?y) (shut-in ?y))
                     (and (ontop ?x ?y) (shut-in ?y)))))

  (:derived (carried-left ?x)
    (exists (?y) (and (or (inside ?x ?y) (ontop ?x ?y)) (or (in-left ?y) (carried-left ?y)))))

  (:derived (carried-right ?x)
    (exists (?y) (and (or (inside ?x ?y) (ontop ?x ?y)) (or (in-right ?y) (carried-right ?y)))))

  ; --- the left hand
  (:action left_grasp
    :parameters (?o - thing)
    :precondition (and (graspable ?o) (left-empty) (not (in-right ?o)) (not (shut-in ?o)))
    :effect (and (in-left ?o) (not (left-empty))
      (forall (?y) (and (not (inside ?o ?y)) (not (ontop ?o ?y)) (not (onfloor ?o ?y)) (not (under ?o ?y))
                        (not (nextto ?o ?y)) (not (touching ?o ?y))))))

  (:action left_release
    :parameters (?o - thing)
    :precondition (in-left ?o)
    :effect (and (not (in-left ?o)) (left-empty)))

  (:action left_place_ontop
    :parameters (?o - thing)
    :precondition (and (not (left-empty)) (not (in-left ?o)) (not (carried-left ?o)) (not (shut-in ?o))
                       (not (in-right ?o)))
    :effect (and (left-empty)
      (forall (?x) (when (in-left ?x) (not (in-left ?x))))
      (forall (?x) (when (and (in-left ?x) (floor ?o)) (onfloor ?x ?o)))
      (forall (?x) (when (and (in-left ?x) (not (floor ?o))) (ontop ?x ?o)))))

  (:action left_place_inside
    :parameters (?o - thing)
    :precondition (and (not (floor ?o)) (not (left-empty)) (not (in-left ?o)) (not (carried-left ?o)) (not (shut-in ?o))
                       (or (not (open-gated ?o)) (open ?o)) (not (in-right ?o)))
    :effect (and (left-empty) (forall (?x) (when (in-left ?x) (and (not (in-left ?x)) (inside ?x ?o))))))

  (:action left_place_nextto
    :parameters (?o - thing)
    :precondition (and (not (left-empty)) (not (in-left ?o)) (not (carried-left ?o)) (not (shut-in ?o))
                       (not (in-right ?o)))
    :effect (and (left-empty)
                 (forall (?x) (when (in-left ?x) (and (not (in-left ?x)) (nextto ?x ?o) (touching ?x ?o))))))

  (:action left_place_under
    :parameters (?o - thing)
    :precondition (and (not (floor ?o)) (not (left-empty)) (not (in-left ?o)) (not (carried-left ?o)) (not (shut-in ?o))
                       (not (in-right ?o)))
    :effect (and (left-empty) (forall (?x) (when (in-left ?x) (and (not (in-left ?x)) (under ?x ?o))))))

  (:action left_place_nextto_ontop
    :parameters (?o - thing ?s - thing)
    :precondition (and (beside ?o) (rest ?s) (not (= ?o ?s)) (not (left-empty)) (not (in-left ?o))
                       (not (carried-left ?o))
                       (not (shut-in ?o)) (not (in-right ?o))
                       (not (in-left ?s)) (not (carried-left ?s)) (not (shut-in ?s)) (not (in-right ?s)))
    :effect (and (left-empty)
      (forall (?x) (when (in-left ?x) (and (not (in-left ?x)) (nextto ?x ?o) (touching ?x ?o))))
      (forall (?x) (when (and (in-left ?x) (floor ?s)) (onfloor ?x ?s)))
      (forall (?x) (when (and (in-left ?x) (not (floor ?s))) (ontop ?x ?s)))))

  ; The paper states nothing about what transfers do.
  (:action left_transfer_contents_inside
    :parameters (?o - thing)
    :precondition (and (not (floor ?o)) (not (left-empty)) (not (in-left ?o)) (not (shut-in ?o))
                       (or (not (open-gated ?o)) (open ?o)))
    :effect (and))

  (:action left_transfer_contents_ontop
    :parameters (?o - thing)
    :precondition (and (not (left-empty)) (not (in-left ?o)) (not (shut-in ?o)))
    :effect (and))

  ; --- the right hand
  (:action right_grasp
    :parameters (?o - thing)
    :precondition (and (graspable ?o) (right-empty) (not (in-left ?o)) (not (shut-in ?o)))
    :effect (and (in-right ?o) (not (right-empty))
      (forall (?y) (and (not (inside ?o ?y)) (not (ontop ?o ?y)) (not (onfloor ?o ?y)) (not (under ?o ?y))
                        (not (nextto ?o ?y)) (not (touching ?o ?y))))))

  (:action right_release
    :parameters (?o - thing)
    :precondition (in-right ?o)
    :effect (and (not (in-right ?o)) (right-empty)))

  (:action right_place_ontop
    :parameters (?o - thing)
    :precondition (and (not (right-empty)) (not (in-right ?o)) (not (carried-right ?o)) (not (shut-in ?o))
                       (not (in-left ?o)))
    :effect (and (right-empty)
      (forall (?x) (when (in-right ?x) (not (in-right ?x))))
      (forall (?x) (when (and (in-right ?x) (floor ?o)) (onfloor ?x ?o)))
      (forall (?x) (when (and (in-right ?x) (not (floor ?o))) (ontop ?x ?o)))))

  (:action right_place_inside
    :parameters (?o - thing)
    :precondition (and (not (floor ?o)) (not (right-empty)) (not (in-right ?o)) (not (carried-right ?o))
                       (not (shut-in ?o))
                       (or (not (open-gated ?o)) (open ?o)) (not (in-left ?o)))
    :effect (and (right-empty) (forall (?x) (when (in-right ?x) (and (not (in-right ?x)) (inside ?x ?o))))))

  (:action right_place_nextto
    :parameters (?o - thing)
    :precondition (and (not (right-empty)) (not (in-right ?o)) (not (carried-right ?o)) (not (shut-in ?o))
                       (not (in-left ?o)))
    :effect (and (right-empty)
                 (forall (?x) (when (in-right ?x) (and (not (in-right ?x)) (nextto ?x ?o) (touching ?x ?o))))))

  (:action right_place_under
    :parameters (?o - thing)
    :precondition (and (not (floor ?o)) (not (right-empty)) (not (in-right ?o)) (not (carried-right ?o))
                       (not (shut-in ?o))
                       (not (in-left ?o)))
    :effect (and (right-empty) (forall (?x) (when (in-right ?x) (and (not (in-right ?x)) (under ?x ?o))))))

  (:action right_place_nextto_ontop
    :parameters (?o - thing ?s - thing)
    :precondition (and (beside ?o) (rest ?s) (not (= ?o ?s)) (not (right-empty)) (not (in-right ?o))
                       (not (carried-right ?o))
                       (not (shut-in ?o)) (not (in-left ?o))
                       (not (in-right ?s)) (not (carried-right ?s)) (not (shut-in ?s)) (not (in-left ?s)))
    :effect (and (right-empty)
      (forall (?x) (when (in-right ?x) (and (not (in-right ?x)) (nextto ?x ?o) (touching ?x ?o))))
      (forall (?x) (when (and (in-right ?x) (floor ?s)) (onfloor ?x ?s)))
      (forall (?x) (when (and (in-right ?x) (not (floor ?s))) (ontop ?x ?s)))))

  ; The paper states nothing about what transfers do.
  (:action right_transfer_contents_inside
    :parameters (?o - thing)
    :precondition (and (not (floor ?o)) (not (right-empty)) (not (in-right ?o)) (not (shut-in ?o))
                       (or (not (open-gated ?o)) (open ?o)))
    :effect (and))

  (:action right_transfer_contents_ontop
    :parameters (?o - thing)
    :precondition (and (not (right-empty)) (not (in-right ?o)) (not (shut-in ?o)))
    :effect (and))

  ; --- states of things
  (:action open
    :parameters (?o - thing)
    :precondition (and (may-open ?o) (not (open ?o)) (not (shut-in ?o)))
    :effect (open ?o))

  (:action close
    :parameters (?o - thing)
    :precondition (and (may-open ?o) (open ?o) (not (shut-in ?o)))
    :effect (not (open ?o)))

  (:action toggle_on
    :parameters (?o - thing)
    :precondition (and (toggleable ?o) (not (toggled_on ?o)) (not (open ?o)) (not (shut-in ?o)))
    :effect (toggled_on ?o))

  (:action toggle_off
    :parameters (?o - thing)
    :precondition (and (toggleable ?o) (toggled_on ?o) (not (shut-in ?o)))
    :effect (not (toggled_on ?o)))

  (:action slice
    :parameters (?o - thing)
    :precondition (and (sliceable ?o) (not (sliced ?o)) (not (shut-in ?o)))
    :effect (sliced ?o))

  (:action soak
    :parameters (?o - thing)
    :precondition (and (soakable ?o) (not (soaked ?o)) (not (shut-in ?o))
                       (exists (?y) (and (water ?y) (inside ?o ?y) (or (passive ?y) (toggled_on ?y)))))
    :effect (soaked ?o))

  (:action dry
    :parameters (?o - thing)
    :precondition (and (soakable ?o) (soaked ?o) (not (shut-in ?o)))
    :effect (not (soaked ?o)))

  (:action freeze
    :parameters (?o - thing)
    :precondition (and (freezable ?o) (not (frozen ?o)) (not (shut-in ?o)))
    :effect (frozen ?o))

  (:action unfreeze
    :parameters (?o - thing)
    :precondition (and (freezable ?o) (frozen ?o) (not (shut-in ?o)))
    :effect (not (frozen ?o)))

  (:action cook
    :parameters (?o - thing)
    :precondition (and (cookable ?o) (not (cooked ?o)) (not (shut-in ?o)))
    :effect (cooked ?o))

  (:action clean
    :parameters (?o - thing)
    :precondition (and (cleanable ?o) (or (dusty ?o) (stained ?o)) (not (shut-in ?o))
                       (or (not (stained ?o))
                           (exists (?x) (and (cleaner ?x) (soaked ?x) (or (in-left ?x) (in-right ?x))))))
    :effect (and (not (dusty ?o)) (not (stained ?o)))))
