; VirtualHome, subgoal decomposition: a plan is a list of conditions, and the benchmark's evaluator turns each one into
; actions by a fixed table: ON(x) is FIND x, SWITCHON x; INSIDE(x, y) is FIND x, GRAB x, FIND y, PUTIN x y. So a condition
; is an action here, with the preconditions and effects of that sequence. The predicates say what is *known*, as in
; virtualhome-actions; what is said there about hidden facts holds here too.
;
; Nothing makes the robot stand up: the plan sits or lies down last. Where the table has two ways (SIT or LIE for
; ONTOP(robot, x), PUTIN or POUR for INSIDE(x, y)) the evaluator keeps every way that executes; for a seat that allows
; both postures both are known to be possible, for INSIDE it is PUTIN that is planned for. Conditions that the table
; skips (SITTING, LYING, DIRTY, BETWEEN, NEXT_TO without the robot) are left out.
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

    ; Facts that the prompt hides and no action can establish.
    (assumed-within-reach ?x - body)  ; x is neither worn nor in a closed container that is not shown
    (assumed-not-shut ?x - body)      ; x, which cannot be opened, is not closed
    (assumed-seat-free ?x - body)
    (assumed-plugged ?x - body)
    (assumed-near-seat ?x - body))  ; x is near whatever the robot sits or lies on

  ; States: FIND x, then the action that brings them about. FIND walks, unless x is near already, which may be so without
  ; our knowing, even from the next room; what is known afterwards holds in both cases.
  (:action open
    :parameters (?x - thing)
    :precondition (and
      (or (can_open ?x) (of-class ?x desk) (of-class ?x window))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right-free) (left-free))
      (not (is-open ?x))
      (or (stopped ?x) (not (has_switch ?x))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (is-open ?x) (not (is-closed ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_open) (is-closed ?x) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action closed
    :parameters (?x - thing)
    :precondition (and
      (or (can_open ?x) (of-class ?x desk) (of-class ?x window))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (not (is-closed ?x)))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (is-closed ?x) (not (is-open ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_close) (is-open ?x) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action on
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (not (running ?x))
      (not (unplugged ?x))
      (or (plugged ?x) (not (has_plug ?x))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (running ?x) (not (stopped ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_switchon) (stopped ?x) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action off
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (not (stopped ?x)))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (stopped ?x) (not (running ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_switchoff) (running ?x) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action plugged_in
    :parameters (?x - thing)
    :precondition (and
      (has_plug ?x)
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right-free) (left-free))
      (not (plugged ?x)))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (plugged ?x) (not (unplugged ?x))))

  (:action plugged_out
    :parameters (?x - thing)
    :precondition (and
      (has_plug ?x)
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right-free) (left-free))
      (not (unplugged ?x)))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (unplugged ?x) (not (plugged ?x))))

  (:action clean
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (not (clean ?x)))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_wash) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  ; The robot itself.
  (:action next_to
    :parameters (?c - character ?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x)))))
    :effect (and (acted)
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (forall (?w - wish)
        (when (and (asks ?w a_find) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action facing
    :parameters (?c - character ?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (facing ?x)
      (forall (?w - wish)
        (when (and (asks ?w a_turnto) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  ; The evaluator ignores which hand is named and takes the right one first.
  (:action holds_rh
    :parameters (?c - character ?x - thing)
    :precondition (and
      (or (grabbable ?x) (of-class ?x water) (of-class ?x child))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (not (right ?x)) (not (left ?x)) (not (spent ?x))
      (right-free)
      (or (settled ?x) (assumed-within-reach ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (when (right-free) (and (right ?x) (not (right-free))))
      (when (not (right-free)) (and (left ?x) (not (left-free))))
      (forall (?z - thing)
        (and (not (on ?x ?z)) (not (on ?z ?x)) (not (inside ?z ?x)) (not (next ?x ?z)) (not (next ?z ?x))))
      (forall (?z - item) (not (inside ?x ?z)))
      (not (seat ?x)) (settled ?x) (moved ?x) (with ?x)
      (forall (?w - wish)
        (when (and (asks ?w a_grab) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action holds_lh
    :parameters (?c - character ?x - thing)
    :precondition (and
      (or (grabbable ?x) (of-class ?x water) (of-class ?x child))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (not (right ?x)) (not (left ?x)) (not (spent ?x))
      (not (right-free)) (left-free)
      (or (settled ?x) (assumed-within-reach ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (when (right-free) (and (right ?x) (not (right-free))))
      (when (not (right-free)) (and (left ?x) (not (left-free))))
      (forall (?z - thing)
        (and (not (on ?x ?z)) (not (on ?z ?x)) (not (inside ?z ?x)) (not (next ?x ?z)) (not (next ?z ?x))))
      (forall (?z - item) (not (inside ?x ?z)))
      (not (seat ?x)) (settled ?x) (moved ?x) (with ?x)
      (forall (?w - wish)
        (when (and (asks ?w a_grab) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  ; Placing: sitting or lying down, putting on clothes, and carrying x to y. Only a body that is near stays known to be near
  ; unless nobody had to walk.
  (:action ontop
    :parameters (?x ?y - body)
    :precondition (and
      (not (= ?x ?y))
      (or
        (and (is-robot ?x) (not (is-robot ?y)) (standing) (not (body_part ?y)) (or (sittable ?y) (lieable ?y)) (assumed-seat-free ?y)
          (or (not (clothes ?y)) (assumed-within-reach ?y)))
        (and (not (is-robot ?x)) (is-robot ?y) (clothes ?x) (or (right ?x) (left ?x)))
        (and (not (is-robot ?x)) (not (is-robot ?y)) (not (right ?y)) (not (left ?y)) (not (is-room ?y))
          (or (right ?x) (left ?x)
            (and (or (grabbable ?x) (of-class ?x water) (of-class ?x child)) (not (spent ?x)) (or (right-free) (left-free))
              (or (by ?x)
                (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
              (or (settled ?x) (assumed-within-reach ?x))
              (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c))))))
          (or (and (by ?y) (or (by ?x) (right ?x) (left ?x)))
            (and (standing) (not (body_part ?y)) (not (worn ?y)) (or (not (clothes ?y)) (assumed-within-reach ?y)))))))
    :effect (and
      (forall (?z - item) (when (not (is-robot ?y)) (not (facing ?z))))
      (forall (?r - room)
        (and
          (when (and (not (is-robot ?y)) (not (by ?y)) (not (and (is-robot ?x) (home ?y ?r) (not (moved ?y))))) (not (in-room ?r)))
          (when (and (is-robot ?x) (alone) (home ?y ?r) (not (moved ?y))) (in-room ?r))))
      (forall (?z - thing)
        (when (and (not (is-robot ?y)) (not (and (by ?y) (or (right ?x) (left ?x) (is-robot ?x)))))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (when (and (not (is-robot ?x)) (not (is-robot ?y)) (not (right ?x)) (not (left ?x)))
        (and (not (seat ?x)) (settled ?x) (moved ?x)
          (forall (?z - thing)
            (and (not (on ?x ?z)) (not (on ?z ?x)) (not (inside ?z ?x)) (not (next ?x ?z)) (not (next ?z ?x))))
          (forall (?z - item) (not (inside ?x ?z)))))
      (when (not (is-robot ?y)) (by ?y))
      (when (not (is-robot ?y)) (not (alone)))
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (when (is-robot ?y) (and (worn ?x) (spent ?x)))
      (when (and (not (is-robot ?x)) (not (is-robot ?y))) (and (on ?x ?y) (next ?x ?y) (next ?y ?x)))
      (when (is-robot ?x) (and (seat ?y) (not (standing))))
      (when (and (is-robot ?x) (sittable ?y)) (sitting))
      (when (and (is-robot ?x) (lieable ?y)) (lying))
      (forall (?w - wish)
        (when (and (not (is-robot ?x)) (not (is-robot ?y)) (not (right ?x)) (not (left ?x)) (asks ?w a_grab)
                (forall (?v - wish) (imply (before ?v ?w) (did ?v))))
          (did ?w)))))

  ; INSIDE(robot, y) is WALK y, whatever y is: the way to come near a part of the body.
  (:action inside
    :parameters (?x ?y - body)
    :precondition (and
      (not (= ?x ?y))
      (or
        (and (is-robot ?x) (not (is-robot ?y)) (standing))
        (and (not (is-robot ?x)) (not (is-robot ?y)) (not (right ?y)) (not (left ?y)) (or (not (can_open ?y)) (is-open ?y)) (not (is-room ?y))
          (or (right ?x) (left ?x)
            (and (or (grabbable ?x) (of-class ?x water) (of-class ?x child)) (not (spent ?x)) (or (right-free) (left-free))
              (or (by ?x)
                (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
              (or (settled ?x) (assumed-within-reach ?x))
              (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c))))))
          (or (and (by ?y) (or (by ?x) (right ?x) (left ?x)))
            (and (standing) (not (body_part ?y)) (not (worn ?y)) (or (not (clothes ?y)) (assumed-within-reach ?y)))))))
    :effect (and (acted)
      (forall (?z - item) (not (facing ?z)))
      (forall (?r - room) (when (or (is-robot ?x) (not (by ?y))) (not (in-room ?r))))
      (forall (?z - thing)
        (when (or (is-robot ?x) (not (and (by ?y) (or (right ?x) (left ?x)))))
          (and (when (not (and (body_part ?z) (not (is-room ?y)))) (not (by ?z))) (not (with ?z)))))
      (when (and (not (is-robot ?x)) (not (right ?x)) (not (left ?x)))
        (and (not (seat ?x)) (settled ?x) (moved ?x)
          (forall (?z - thing)
            (and (not (on ?x ?z)) (not (on ?z ?x)) (not (inside ?z ?x)) (not (next ?x ?z)) (not (next ?z ?x))))
          (forall (?z - item) (not (inside ?x ?z)))))
      (forall (?r - room) (when (and (is-robot ?x) (home ?y ?r) (not (moved ?y))) (in-room ?r)))
      (when (is-room ?y) (and (in-room ?y) (alone)))
      (when (not (is-room ?y)) (not (alone)))
      (when (not (is-room ?y)) (by ?y))
      (when (and (is-robot ?x) (not (is-room ?y))) (with ?y))
      (forall (?z - thing)
        (when (and (is-robot ?x) (not (is-room ?y)) (body_part ?z))
          (by ?z)))
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (when (not (is-robot ?x)) (and (inside ?x ?y) (next ?x ?y) (next ?y ?x)))
      (forall (?w - wish)
        (when (and (not (is-robot ?x)) (not (right ?x)) (not (left ?x)) (asks ?w a_grab)
                (forall (?v - wish) (imply (before ?v ?w) (did ?v))))
          (did ?w)))))

  ; Actions. Those on something in the hand take it first.
  (:action drink
    :parameters (?x - thing)
    :precondition (and
      (or (drinkable ?x) (recipient ?x))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right ?x) (left ?x)
        (and (or (grabbable ?x) (of-class ?x water) (of-class ?x child)) (not (spent ?x)) (or (right-free) (left-free))
          (or (settled ?x) (assumed-within-reach ?x))
          (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))))
    :effect (and
      (when (not (or (right ?x) (left ?x)))
        (and
          (forall (?z - item) (not (facing ?z)))
          (forall (?z - thing)
            (when (and (standing) (not (by ?x)))
              (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
          (forall (?r - room)
            (and
              (when (and (standing) (not (by ?x)) (not (and (home ?x ?r) (not (moved ?x))))) (not (in-room ?r)))
              (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
          (not (alone))
          (by ?x)
          (when (right-free) (and (right ?x) (not (right-free))))
          (when (not (right-free)) (and (left ?x) (not (left-free))))
          (forall (?z - thing)
            (and (not (on ?x ?z)) (not (on ?z ?x)) (not (inside ?z ?x)) (not (next ?x ?z)) (not (next ?z ?x))))
          (forall (?z - item) (not (inside ?x ?z)))
          (not (seat ?x)) (settled ?x) (moved ?x) (with ?x)))
      (when (or (right ?x) (left ?x)) (forall (?z - item) (not (facing ?z))))
      (forall (?w - wish)
        (when (and (asks ?w a_drink) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action read
    :parameters (?x - thing)
    :precondition (and
      (readable ?x)
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right ?x) (left ?x)
        (and (or (grabbable ?x) (of-class ?x water) (of-class ?x child)) (not (spent ?x)) (or (right-free) (left-free))
          (or (settled ?x) (assumed-within-reach ?x))
          (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))))
    :effect (and
      (when (not (or (right ?x) (left ?x)))
        (and
          (forall (?z - item) (not (facing ?z)))
          (forall (?z - thing)
            (when (and (standing) (not (by ?x)))
              (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
          (forall (?r - room)
            (and
              (when (and (standing) (not (by ?x)) (not (and (home ?x ?r) (not (moved ?x))))) (not (in-room ?r)))
              (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
          (not (alone))
          (by ?x)
          (when (right-free) (and (right ?x) (not (right-free))))
          (when (not (right-free)) (and (left ?x) (not (left-free))))
          (forall (?z - thing)
            (and (not (on ?x ?z)) (not (on ?z ?x)) (not (inside ?z ?x)) (not (next ?x ?z)) (not (next ?z ?x))))
          (forall (?z - item) (not (inside ?x ?z)))
          (not (seat ?x)) (settled ?x) (moved ?x) (with ?x)))
      (when (or (right ?x) (left ?x)) (forall (?z - item) (not (facing ?z))))
      (forall (?w - wish)
        (when (and (asks ?w a_read) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action eat
    :parameters (?x - thing)
    :precondition (and
      (eatable ?x)
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right ?x) (left ?x)
        (and (or (grabbable ?x) (of-class ?x water) (of-class ?x child)) (not (spent ?x)) (or (right-free) (left-free))
          (or (settled ?x) (assumed-within-reach ?x))
          (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))))
    :effect (and
      (when (not (or (right ?x) (left ?x)))
        (and
          (forall (?z - item) (not (facing ?z)))
          (forall (?z - thing)
            (when (and (standing) (not (by ?x)))
              (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
          (forall (?r - room)
            (and
              (when (and (standing) (not (by ?x)) (not (and (home ?x ?r) (not (moved ?x))))) (not (in-room ?r)))
              (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
          (not (alone))
          (by ?x)
          (when (right-free) (and (right ?x) (not (right-free))))
          (when (not (right-free)) (and (left ?x) (not (left-free))))
          (forall (?z - thing)
            (and (not (on ?x ?z)) (not (on ?z ?x)) (not (inside ?z ?x)) (not (next ?x ?z)) (not (next ?z ?x))))
          (forall (?z - item) (not (inside ?x ?z)))
          (not (seat ?x)) (settled ?x) (moved ?x) (with ?x)))
      (when (or (right ?x) (left ?x)) (forall (?z - item) (not (facing ?z))))
      (forall (?w - wish)
        (when (and (asks ?w a_eat) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action grab
    :parameters (?x - thing)
    :precondition (and
      (or (grabbable ?x) (of-class ?x water) (of-class ?x child))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (not (right ?x)) (not (left ?x)) (not (spent ?x))
      (or (right-free) (left-free))
      (or (settled ?x) (assumed-within-reach ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (when (right-free) (and (right ?x) (not (right-free))))
      (when (not (right-free)) (and (left ?x) (not (left-free))))
      (forall (?z - thing)
        (and (not (on ?x ?z)) (not (on ?z ?x)) (not (inside ?z ?x)) (not (next ?x ?z)) (not (next ?z ?x))))
      (forall (?z - item) (not (inside ?x ?z)))
      (not (seat ?x)) (settled ?x) (moved ?x) (with ?x)
      (forall (?w - wish)
        (when (and (asks ?w a_grab) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action lookat
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (facing ?x)
      (forall (?w - wish)
        (when (and (asks ?w a_lookat) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action watch
    :parameters (?x - thing)
    :precondition (and
      (lookable ?x)
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (with ?x) (alone))
      (or (settled ?x) (assumed-within-reach ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (facing ?x)
      (forall (?w - wish)
        (when (and (asks ?w a_watch) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action cut
    :parameters (?x - thing)
    :precondition (and
      (eatable ?x)
      (cuttable ?x)
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right-free) (left-free))
      (exists (?k - thing) (and (knife ?k) (or (right ?k) (left ?k)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (forall (?w - wish)
        (when (and (asks ?w a_cut) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action touch
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (settled ?x) (assumed-within-reach ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (forall (?w - wish)
        (when (and (asks ?w a_touch) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action type
    :parameters (?x - thing)
    :precondition (and
      (or (has_switch ?x) (of-class ?x keyboard))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (forall (?w - wish)
        (when (and (asks ?w a_type) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action push
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right-free) (left-free))
      (or (settled ?x) (assumed-within-reach ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (forall (?w - wish)
        (when (and (asks ?w a_push) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action pull
    :parameters (?x - thing)
    :precondition (and
      (or (movable ?x) (of-class ?x button) (of-class ?x chair) (of-class ?x curtain))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right-free) (left-free))
      (or (settled ?x) (assumed-within-reach ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (forall (?w - wish)
        (when (and (asks ?w a_pull) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action move
    :parameters (?x - thing)
    :precondition (and
      (or (movable ?x) (of-class ?x button) (of-class ?x chair) (of-class ?x curtain))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right-free) (left-free))
      (or (settled ?x) (assumed-within-reach ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (forall (?w - wish)
        (when (and (asks ?w a_move) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action squeeze
    :parameters (?x - thing)
    :precondition (and
      (or (clothes ?x) (of-class ?x cleaning_solution) (of-class ?x tooth_paste) (of-class ?x shampoo)
        (of-class ?x food_peanut_butter) (of-class ?x dish_soap) (of-class ?x soap) (of-class ?x towel) (of-class ?x rag)
        (of-class ?x paper) (of-class ?x sponge) (of-class ?x food_lemon) (of-class ?x check))
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (right-free) (left-free)))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (forall (?w - wish)
        (when (and (asks ?w a_squeeze) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action rinse
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_rinse) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action scrub
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_scrub) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action wash
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x)))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_wash) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action wipe
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (or (not (right-free)) (not (left-free))))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_wipe) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action switchoff
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (or (by ?x) (right ?x) (left ?x) (and (or (sitting) (lying)) (assumed-near-seat ?x))
        (and (standing) (not (body_part ?x)) (not (worn ?x)) (or (not (clothes ?x)) (assumed-within-reach ?x))))
      (not (stopped ?x)))
    :effect (and
      (forall (?z - item) (not (facing ?z)))
      (forall (?z - thing)
        (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)))
          (and (when (not (body_part ?z)) (not (by ?z))) (not (with ?z)))))
      (forall (?r - room)
        (and
          (when (and (standing) (not (by ?x)) (not (right ?x)) (not (left ?x)) (not (and (home ?x ?r) (not (moved ?x)))))
            (not (in-room ?r)))
          (when (and (alone) (home ?x ?r) (not (moved ?x))) (in-room ?r))))
      (by ?x)
      (when (alone) (with ?x))
      (not (alone))
      (stopped ?x) (not (running ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_switchoff) (running ?x) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action sleep
    :parameters ()
    :precondition (and
      (or (sitting) (lying)))
    :effect (and (acted)
      (forall (?w - wish)
        (when (and (asks ?w a_sleep) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w)))))

  (:action wakeup
    :parameters ()
    :precondition (and
      (or (sitting) (lying)))
    :effect (and (acted)
      (forall (?w - wish)
        (when (and (asks ?w a_wakeup) (forall (?v - wish) (imply (before ?v ?w) (did ?v)))) (did ?w))))))
