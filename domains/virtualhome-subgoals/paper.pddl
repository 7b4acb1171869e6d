; VirtualHome, subgoal decomposition, by the rules that the paper's appendix lists and no others: ON needs what is plugged
; in and not open, OPEN what is not on, INSIDE and ONTOP an open destination, HOLDS a free hand and something grabbable.
; "Placement goals are evaluated from the live state ... and repeated placements use latest-wins semantics mirroring the
; evaluator": a thing is where it was put last, and nowhere while it is in a hand; so is the robot with its seats.
; Nothing is hidden: what the prompt does not show is false. Predicates are those of environment.pddl, so that one problem
; serves both.
(define (domain virtualhome-subgoals)
  (:requirements :adl :typing)
  (:types
    body class act wish unmet - object
    item character - body
    thing room - item)

  ; Objects of these classes are treated by their name, whatever their properties.
  (:constants
    water child desk window keyboard button chair curtain hands_both sponge face cleaning_solution tooth_paste shampoo
    food_peanut_butter dish_soap soap towel rag paper food_lemon check - class
    a_walk a_run a_find a_turnto a_lookat a_pointat a_watch a_sit a_lie a_standup a_sleep a_wakeup a_grab a_putback
    a_putin a_drop a_open a_close a_switchon a_switchoff a_drink a_read a_eat a_cut a_pour a_wipe a_wash a_rinse
    a_scrub a_squeeze a_touch a_type a_push a_pull a_move a_greet a_puton a_putoff - act)

  (:predicates
    ; Properties, as the prompt lists them.
    (surfaces ?x - body) (grabbable ?x - body) (sittable ?x - body) (lieable ?x - body) (hangable ?x - body)
    (drinkable ?x - body) (eatable ?x - body) (recipient ?x - body) (cuttable ?x - body) (pourable ?x - body)
    (can_open ?x - body) (has_switch ?x - body) (readable ?x - body) (lookable ?x - body) (containers ?x - body)
    (clothes ?x - body) (person ?x - body) (body_part ?x - body) (cover_object ?x - body) (has_plug ?x - body)
    (has_paper ?x - body) (movable ?x - body) (cream ?x - body)
    (of-class ?x - body ?c - class)
    (is-room ?x - body) (is-robot ?x - body)
    (knife ?x - body)  ; the name contains "knife"

    ; The robot: posture, where it is, what it looks at, what it holds.
    (standing) (sitting) (lying)
    (in-room ?r - body)
    (by ?x - body)         ; there is an edge robot CLOSE x
    (alone)                ; nothing but what it holds is near the robot: FIND walks for certain
    (with ?x - body)       ; x is in the robot's room
    (facing ?x - body)
    (seat ?x - body)      ; there is an edge robot ON x
    (right ?x - body) (left ?x - body) (right-free) (left-free)
    (worn ?x - body)      ; there is an edge x ON robot
    (spent ?x - body)     ; was grabbed and left the hand in a way that forbids a second GRAB

    ; Things.
    (on ?x ?y - body)
    (inside ?x ?y - body)
    (next ?x ?y - body)
    (home ?x - body ?r - room)  ; x is in this room until it is moved
    (moved ?x - body)
    (settled ?x - body)   ; if a container holds x, it is known which
    (shut-in ?x - body)   ; was poured into something with a door
    (is-open ?x - body) (is-closed ?x - body)
    (running ?x - body) (stopped ?x - body)
    (plugged ?x - body) (unplugged ?x - body)
    (clean ?x - body) (dirty ?x - body)

    ; Action goals: each is a wish for one of several actions, granted when one succeeds, whatever its arguments, after the
    ; wishes before it.
    (asks ?w - wish ?a - act)
    (before ?first ?then - wish)
    (did ?w - wish)
    (acted)

    ; Goals that no action can bring about.
    (between ?x ?y - body)
    (robot-inside ?x - body)
    (cannot ?what - unmet)

    ; Not used by these rules.
    (assumed-within-reach ?x - body)  ; x is neither worn nor in a closed container that is not shown
    (assumed-not-shut ?x - body)      ; x, which cannot be opened, is not closed
    (assumed-seat-free ?x - body)
    (assumed-plugged ?x - body)
    (assumed-near-seat ?x - body))  ; x is near whatever the robot sits or lies on

  (:action closed
    :parameters (?x - thing)
    :precondition (and
      (can_open ?x)
      (not (is-closed ?x)))
    :effect (and
      (is-closed ?x) (not (is-open ?x))))

  (:action open
    :parameters (?x - thing)
    :precondition (and
      (can_open ?x)
      (not (is-open ?x))
      (not (running ?x)))
    :effect (and
      (is-open ?x) (not (is-closed ?x))))

  (:action on
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (not (running ?x))
      (imply (has_plug ?x) (plugged ?x))
      (not (is-open ?x)))
    :effect (and
      (running ?x) (not (stopped ?x))))

  (:action off
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (not (stopped ?x)))
    :effect (and
      (stopped ?x) (not (running ?x))))

  (:action plugged_in
    :parameters (?x - thing)
    :precondition (and
      (has_plug ?x)
      (not (plugged ?x)))
    :effect (and
      (plugged ?x) (not (unplugged ?x))))

  (:action plugged_out
    :parameters (?x - thing)
    :precondition (and
      (has_plug ?x)
      (not (unplugged ?x)))
    :effect (and
      (unplugged ?x) (not (plugged ?x))))

  (:action dirty
    :parameters (?x - thing)
    :precondition (and
      (not (dirty ?x)))
    :effect (and
      (dirty ?x) (not (clean ?x))))

  (:action sitting
    :parameters (?c - character)
    :precondition (and
      (not (sitting)))
    :effect (and
      (sitting) (not (lying))))

  (:action lying
    :parameters (?c - character)
    :precondition (and
      (not (lying)))
    :effect (and
      (lying) (not (sitting))))

  (:action inside
    :parameters (?x ?y - body)
    :precondition (and
      (not (= ?x ?y))
      (not (is-robot ?y))
      (or (and (is-robot ?x) (is-room ?y)) (and (not (is-robot ?x)) (not (is-room ?y)) (imply (can_open ?y) (is-open ?y)))))
    :effect (and
      (acted)
      (forall (?r - room) (when (is-robot ?x) (not (in-room ?r))))
      (when (is-robot ?x) (in-room ?y))
      (when (not (is-robot ?x))
        (and (inside ?x ?y) (not (worn ?x)) (forall (?z - body) (and (not (on ?x ?z)) (not (inside ?x ?z))))))
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))))

  (:action ontop
    :parameters (?x ?y - body)
    :precondition (and
      (not (= ?x ?y))
      (not (is-room ?y))
      (not (is-room ?x))
      (imply (can_open ?y) (is-open ?y)))
    :effect (and
      (when (is-robot ?x) (and (seat ?y) (forall (?z - body) (not (seat ?z)))))
      (when (is-robot ?y) (worn ?x))
      (when (not (is-robot ?y)) (not (worn ?x)))
      (when (and (is-robot ?x) (sittable ?y)) (sitting))
      (when (and (is-robot ?x) (lieable ?y)) (lying))
      (when (not (is-robot ?x)) (forall (?z - body) (and (not (on ?x ?z)) (not (inside ?x ?z)))))
      (when (and (not (is-robot ?x)) (not (is-robot ?y))) (on ?x ?y))
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))))

  (:action next_to
    :parameters (?c - character ?x - thing)
    :precondition (and)
    :effect (and
      (acted)
      (by ?x)))

  (:action facing
    :parameters (?c - character ?x - item)
    :precondition (and)
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (facing ?x)))

  (:action holds_rh
    :parameters (?c - character ?x - thing)
    :precondition (and
      (grabbable ?x)
      (right-free)
      (not (left ?x)))
    :effect (and
      (right ?x) (not (right-free))
      (not (worn ?x))
      (forall (?z - body) (and (not (on ?x ?z)) (not (inside ?x ?z))))
      (forall (?w - wish)
        (when (and (asks ?w a_grab) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action holds_lh
    :parameters (?c - character ?x - thing)
    :precondition (and
      (grabbable ?x)
      (left-free)
      (not (right ?x)))
    :effect (and
      (left ?x) (not (left-free))
      (not (worn ?x))
      (forall (?z - body) (and (not (on ?x ?z)) (not (inside ?x ?z))))
      (forall (?w - wish)
        (when (and (asks ?w a_grab) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action grab
    :parameters (?x - thing)
    :precondition (and
      (grabbable ?x)
      (or (right-free) (left-free))
      (not (right ?x)) (not (left ?x)))
    :effect (and
      (when (right-free) (and (right ?x) (not (right-free))))
      (when (not (right-free)) (and (left ?x) (not (left-free))))
      (not (worn ?x))
      (forall (?z - body) (and (not (on ?x ?z)) (not (inside ?x ?z))))
      (forall (?w - wish)
        (when (and (asks ?w a_grab) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action clean
    :parameters (?x - thing)
    :precondition (and
      (not (clean ?x)))
    :effect (and
      (clean ?x) (not (dirty ?x))))

  (:action drink
    :parameters (?x - thing)
    :precondition (and
      (or (drinkable ?x) (recipient ?x)))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_drink) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action eat
    :parameters (?x - thing)
    :precondition (and
      (eatable ?x))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_eat) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action cut
    :parameters (?x - thing)
    :precondition (and
      (eatable ?x) (cuttable ?x))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_cut) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action touch
    :parameters (?x - thing)
    :precondition (and)
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_touch) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action lookat
    :parameters (?x - thing)
    :precondition (and)
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_lookat) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action watch
    :parameters (?x - thing)
    :precondition (and)
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_watch) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action read
    :parameters (?x - thing)
    :precondition (and
      (readable ?x))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_read) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action type
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_type) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action push
    :parameters (?x - thing)
    :precondition (and
      (movable ?x))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_push) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action pull
    :parameters (?x - thing)
    :precondition (and
      (movable ?x))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_pull) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action move
    :parameters (?x - thing)
    :precondition (and
      (movable ?x))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_move) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action squeeze
    :parameters (?x - thing)
    :precondition (and
      (clothes ?x))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_squeeze) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action rinse
    :parameters (?x - thing)
    :precondition (and)
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_rinse) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action scrub
    :parameters (?x - thing)
    :precondition (and)
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_scrub) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action wash
    :parameters (?x - thing)
    :precondition (and)
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_wash) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action wipe
    :parameters (?x - thing)
    :precondition (and)
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_wipe) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action switchoff
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (not (stopped ?x)))
    :effect (and
      (stopped ?x) (not (running ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_switchoff) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action sleep
    :parameters ()
    :precondition (and
      (or (sitting) (lying)))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_sleep) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action wakeup
    :parameters ()
    :precondition (and
      (or (sitting) (lying)))
    :effect (and
      (forall (?w - wish)
        (when (and (asks ?w a_wakeup) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w))))))
