; VirtualHome, action sequencing: what the benchmark's executor does, for a robot that has read the prompt.
;
; A prompt hides most of the house: the states of most objects, what stands where, whether the robot sits. So the
; predicates here say what is *known*. A fact that may or may not hold is known neither way, and an action is legal only
; when it works in every house that fits the prompt. Some steps are harmless when superfluous, and make a plan safe:
; STANDUP when nobody knows whether the robot sits, OPEN when nobody knows whether the door is shut, SWITCHOFF before
; OPEN. The executor reports them as additional steps and goes on.
;
; Where no plan is safe in every house, the problem may state assumptions (assumed-...), for as few objects as will do.
;
; Differences to the executor, all of them on the safe side: only what the robot walked to, parts of its body and what it
; holds are near, not what stands on, in or beside them; no action is applied to an object that it would leave as it is; things are not put onto or into what is
; in a hand; the contents of a poured object stay where they are.
(define (domain virtualhome-actions)
  (:requirements :adl :typing)
  (:types
    item class act wish unmet - object
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
    (surfaces ?x - item) (grabbable ?x - item) (sittable ?x - item) (lieable ?x - item) (hangable ?x - item)
    (drinkable ?x - item) (eatable ?x - item) (recipient ?x - item) (cuttable ?x - item) (pourable ?x - item)
    (can_open ?x - item) (has_switch ?x - item) (readable ?x - item) (lookable ?x - item) (containers ?x - item)
    (clothes ?x - item) (person ?x - item) (body_part ?x - item) (cover_object ?x - item) (has_plug ?x - item)
    (has_paper ?x - item) (movable ?x - item) (cream ?x - item)
    (of-class ?x - item ?c - class)
    (is-room ?x - item)
    (knife ?x - item)  ; the name contains "knife"

    ; The robot: posture, where it is, what it looks at, what it holds.
    (standing) (sitting) (lying)
    (in-room ?r - item)
    (by ?x - item)         ; there is an edge robot CLOSE x
    (with ?x - item)       ; x is in the robot's room
    (facing ?x - item)
    (seat ?x - thing)      ; there is an edge robot ON x
    (right ?x - item) (left ?x - item) (right-free) (left-free)
    (worn ?x - thing)      ; there is an edge x ON robot
    (spent ?x - thing)     ; was grabbed and left the hand in a way that forbids a second GRAB

    ; Things.
    (on ?x ?y - item)
    (inside ?x ?y - item)
    (next ?x ?y - thing)
    (home ?x - item ?r - room)  ; x is in this room until it is moved
    (moved ?x - item)
    (settled ?x - thing)   ; if a container holds x, it is known which
    (shut-in ?x - thing)   ; was poured into something with a door
    (is-open ?x - thing) (is-closed ?x - thing)
    (running ?x - thing) (stopped ?x - thing)
    (plugged ?x - thing) (unplugged ?x - thing)
    (clean ?x - thing) (dirty ?x - thing)

    ; Action goals: each alternative of each is a wish for one action, granted when that action succeeds, whatever its
    ; arguments.
    (asks ?w - wish ?a - act)
    (did ?w - wish)
    (did-after ?first ?then - wish)
    (acted)

    ; Goals that no action can bring about.
    (between ?x ?y - item)
    (robot-inside ?x - thing)
    (cannot ?what - unmet)

    ; Facts that the prompt hides and no action can establish.
    (assumed-within-reach ?x - thing)  ; x is neither worn nor in a closed container that is not shown
    (assumed-not-shut ?x - thing)      ; x, which cannot be opened, is not closed
    (assumed-seat-free ?x - thing)
    (assumed-plugged ?x - thing))


  ; Walking. The robot forgets which room it is in: the prompt seldom says where a thing is. Parts of the body come along.
  (:action walk
    :parameters (?x - item)
    :precondition (and
      (standing)
      (not (right ?x))
      (not (left ?x)))
    :effect (and (acted)
      (forall (?y - thing) (and (not (by ?y)) (not (with ?y))))
      (forall (?y - item) (not (facing ?y)))
      (forall (?r - room) (not (in-room ?r)))
      (when (is-room ?x) (in-room ?x))
      (when (not (is-room ?x)) (and (by ?x) (with ?x)))
      (forall (?r - room) (when (and (home ?x ?r) (not (moved ?x))) (in-room ?r)))
      (forall (?y - thing) (when (and (body_part ?y) (not (is-room ?x))) (by ?y)))
      (forall (?w - wish) (when (asks ?w a_walk) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action run
    :parameters (?x - item)
    :precondition (and
      (standing)
      (not (right ?x))
      (not (left ?x)))
    :effect (and
      (forall (?y - thing) (and (not (by ?y)) (not (with ?y))))
      (forall (?y - item) (not (facing ?y)))
      (forall (?r - room) (not (in-room ?r)))
      (when (is-room ?x) (in-room ?x))
      (when (not (is-room ?x)) (and (by ?x) (with ?x)))
      (forall (?r - room) (when (and (home ?x ?r) (not (moved ?x))) (in-room ?r)))
      (forall (?y - thing) (when (and (body_part ?y) (not (is-room ?x))) (by ?y)))
      (forall (?w - wish) (when (asks ?w a_run) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  ; FIND walks, unless x is near already, which may be so without our knowing. What is known afterwards holds in both
  ; cases. FIND never walks to what the robot wears or to a part of its body.
  (:action find
    :parameters (?x - thing)
    :precondition (and
      (standing)
      (not (by ?x))
      (not (body_part ?x))
      (not (worn ?x))
      (or (not (clothes ?x)) (assumed-within-reach ?x))
      (not (right ?x))
      (not (left ?x)))
    :effect (and
      (forall (?y - item) (not (facing ?y)))
      (forall (?y - thing) (and (when (not (body_part ?y)) (not (by ?y))) (not (with ?y))))
      (forall (?r - room) (not (in-room ?r)))
      (by ?x)
      (forall (?w - wish) (when (asks ?w a_find) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action turnto
    :parameters (?x - item)
    :precondition (and)
    :effect (and (acted)
      (forall (?y - item) (not (facing ?y)))
      (facing ?x)
      (forall (?w - wish) (when (asks ?w a_turnto) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action lookat
    :parameters (?x - item)
    :precondition (and
      (facing ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_lookat) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action pointat
    :parameters (?x - item)
    :precondition (and
      (facing ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_pointat) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action watch
    :parameters (?x - thing)
    :precondition (and
      (lookable ?x)
      (facing ?x)
      (with ?x)
      (or (settled ?x) (assumed-within-reach ?x))
      (not (shut-in ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_watch) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  ; Posture. The edge robot ON seat stays when the robot stands up and fills the seat, so nobody sits down on it twice.
  (:action sit
    :parameters (?x - thing)
    :precondition (and
      (by ?x)
      (sittable ?x)
      (not (seat ?x))
      (not (sitting))
      (assumed-seat-free ?x))
    :effect (and
      (seat ?x) (sitting) (not (lying)) (not (standing))
      (forall (?w - wish) (when (asks ?w a_sit) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action lie
    :parameters (?x - thing)
    :precondition (and
      (by ?x)
      (lieable ?x)
      (not (seat ?x))
      (not (lying))
      (assumed-seat-free ?x))
    :effect (and
      (seat ?x) (lying) (not (sitting)) (not (standing))
      (forall (?w - wish) (when (asks ?w a_lie) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action standup
    :parameters ()
    :precondition (and
      (not (standing)))
    :effect (and (acted)
      (standing) (not (sitting)) (not (lying))
      (forall (?w - wish)
        (when (and (asks ?w a_standup) (or (sitting) (lying))) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action sleep
    :parameters ()
    :precondition (and
      (or (sitting) (lying)))
    :effect (and (acted)
      (forall (?w - wish) (when (asks ?w a_sleep) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action wakeup
    :parameters ()
    :precondition (and
      (or (sitting) (lying)))
    :effect (and (acted)
      (forall (?w - wish) (when (asks ?w a_wakeup) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  ; Hands: the right one is used first. Grabbing ends all that x was on or in, and all that was on or in x.
  (:action grab
    :parameters (?x - thing)
    :precondition (and
      (or (grabbable ?x) (of-class ?x water) (of-class ?x child))
      (by ?x)
      (not (right ?x))
      (not (left ?x))
      (not (spent ?x))
      (or (right-free) (left-free))
      (or (settled ?x) (assumed-within-reach ?x))
      (not (shut-in ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (when (right-free) (and (right ?x) (not (right-free))))
      (when (not (right-free)) (and (left ?x) (not (left-free))))
      (forall (?y - thing) (and (not (on ?x ?y)) (not (on ?y ?x)) (not (inside ?y ?x)) (not (next ?x ?y)) (not (next ?y ?x))))
      (forall (?y - item) (not (inside ?x ?y)))
      (not (seat ?x)) (settled ?x) (moved ?x) (with ?x)
      (forall (?w - wish) (when (asks ?w a_grab) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action putback
    :parameters (?x ?y - thing)
    :precondition (and
      (or (right ?x) (left ?x))
      (by ?y)
      (not (right ?y))
      (not (left ?y)))
    :effect (and
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (on ?x ?y) (next ?x ?y) (next ?y ?x)
      (forall (?w - wish) (when (asks ?w a_putback) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action putin
    :parameters (?x ?y - thing)
    :precondition (and
      (or (right ?x) (left ?x))
      (by ?y)
      (not (right ?y))
      (not (left ?y))
      (imply (can_open ?y) (is-open ?y)))
    :effect (and
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (inside ?x ?y) (next ?x ?y) (next ?y ?x)
      (forall (?w - wish) (when (asks ?w a_putin) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action drop
    :parameters (?x - thing)
    :precondition (and
      (or (right ?x) (left ?x)))
    :effect (and
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (forall (?r - room) (when (in-room ?r) (inside ?x ?r)))
      (forall (?w - wish) (when (asks ?w a_drop) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action puton
    :parameters (?x - thing)
    :precondition (and
      (or (right ?x) (left ?x))
      (clothes ?x))
    :effect (and
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (worn ?x) (spent ?x)
      (forall (?w - wish) (when (asks ?w a_puton) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action putoff
    :parameters (?x - thing)
    :precondition (and
      (worn ?x)
      (clothes ?x))
    :effect (and
      (not (worn ?x))
      (forall (?w - wish) (when (asks ?w a_putoff) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  ; Doors and switches. What is running cannot be opened; what is known to be so already is left alone.
  (:action open
    :parameters (?x - thing)
    :precondition (and
      (or (can_open ?x) (of-class ?x desk) (of-class ?x window))
      (or (by ?x) (right ?x) (left ?x))
      (or (right-free) (left-free))
      (not (is-open ?x))
      (or (stopped ?x) (not (has_switch ?x))))
    :effect (and
      (is-open ?x) (not (is-closed ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_open) (is-closed ?x)) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action close
    :parameters (?x - thing)
    :precondition (and
      (or (can_open ?x) (of-class ?x desk) (of-class ?x window))
      (or (by ?x) (right ?x) (left ?x))
      (not (is-closed ?x)))
    :effect (and
      (is-closed ?x) (not (is-open ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_close) (is-open ?x)) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action switchon
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (or (by ?x) (right ?x) (left ?x))
      (not (running ?x))
      (not (unplugged ?x))
      (or (plugged ?x) (not (has_plug ?x)) (assumed-plugged ?x)))
    :effect (and
      (running ?x) (not (stopped ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_switchon) (stopped ?x)) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action switchoff
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (or (by ?x) (right ?x) (left ?x))
      (not (stopped ?x)))
    :effect (and
      (stopped ?x) (not (running ?x))
      (forall (?w - wish)
        (when (and (asks ?w a_switchoff) (running ?x)) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  ; Actions that leave the world as it is, and cleaning.
  (:action drink
    :parameters (?x - thing)
    :precondition (and
      (or (drinkable ?x) (recipient ?x))
      (or (right ?x) (left ?x)))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_drink) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action read
    :parameters (?x - thing)
    :precondition (and
      (readable ?x)
      (or (right ?x) (left ?x)))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_read) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action eat
    :parameters (?x - thing)
    :precondition (and
      (eatable ?x)
      (or (by ?x) (right ?x) (left ?x)))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_eat) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action cut
    :parameters (?x - thing)
    :precondition (and
      (eatable ?x)
      (cuttable ?x)
      (or (by ?x) (right ?x) (left ?x))
      (or (right-free) (left-free))
      (exists (?k - thing) (and (knife ?k) (or (right ?k) (left ?k)))))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_cut) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action pour
    :parameters (?x ?y - thing)
    :precondition (and
      (or (pourable ?x) (drinkable ?x))
      (or (recipient ?y) (of-class ?y hands_both) (of-class ?y sponge) (of-class ?y face))
      (imply (can_open ?y) (is-open ?y))
      (or (right ?x) (left ?x))
      (by ?y)
      (not (= ?x ?y)))
    :effect (and
      (when (can_open ?y) (shut-in ?x))
      (when (and (of-class ?x water) (right ?x)) (and (not (right ?x)) (right-free) (spent ?x)))
      (when (and (of-class ?x water) (left ?x)) (and (not (left ?x)) (left-free) (spent ?x)))
      (forall (?w - wish) (when (asks ?w a_pour) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action wipe
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x))
      (or (not (right-free)) (not (left-free))))
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish) (when (asks ?w a_wipe) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action wash
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x)))
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish) (when (asks ?w a_wash) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action rinse
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x)))
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish) (when (asks ?w a_rinse) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action scrub
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x)))
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish) (when (asks ?w a_scrub) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action squeeze
    :parameters (?x - thing)
    :precondition (and
      (or (clothes ?x) (of-class ?x cleaning_solution) (of-class ?x tooth_paste) (of-class ?x shampoo)
        (of-class ?x food_peanut_butter) (of-class ?x dish_soap) (of-class ?x soap) (of-class ?x towel) (of-class ?x rag)
        (of-class ?x paper) (of-class ?x sponge) (of-class ?x food_lemon) (of-class ?x check))
      (or (by ?x) (right ?x) (left ?x))
      (or (right-free) (left-free)))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_squeeze) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action touch
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x))
      (or (settled ?x) (assumed-within-reach ?x))
      (not (shut-in ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_touch) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action type
    :parameters (?x - thing)
    :precondition (and
      (or (has_switch ?x) (of-class ?x keyboard))
      (or (by ?x) (right ?x) (left ?x)))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_type) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action push
    :parameters (?x - thing)
    :precondition (and
      (or (by ?x) (right ?x) (left ?x))
      (or (right-free) (left-free))
      (or (settled ?x) (assumed-within-reach ?x))
      (not (shut-in ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_push) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action pull
    :parameters (?x - thing)
    :precondition (and
      (or (movable ?x) (of-class ?x button) (of-class ?x chair) (of-class ?x curtain))
      (or (by ?x) (right ?x) (left ?x))
      (or (right-free) (left-free))
      (or (settled ?x) (assumed-within-reach ?x))
      (not (shut-in ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_pull) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action move
    :parameters (?x - thing)
    :precondition (and
      (or (movable ?x) (of-class ?x button) (of-class ?x chair) (of-class ?x curtain))
      (or (by ?x) (right ?x) (left ?x))
      (or (right-free) (left-free))
      (or (settled ?x) (assumed-within-reach ?x))
      (not (shut-in ?x))
      (forall (?c - thing) (imply (inside ?x ?c) (or (is-open ?c) (assumed-not-shut ?c)))))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_move) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action greet
    :parameters (?x - thing)
    :precondition (and
      (person ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_greet) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w)))))))))
