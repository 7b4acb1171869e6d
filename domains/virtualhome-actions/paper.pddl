; VirtualHome, action sequencing, by the state machine that the paper must have run: the rules that its appendix lists
; (literal.pddl), and what its sentences imply:
;
;   GRAB          not out of something closed. "The failures are precondition violations (hands already full, target not
;                 co-located, container closed) ... [the] DFA tracks these invariants at every decoding step".
;   PUTIN, PUTBACK  the destination is near. The same sentence, said of 60, 21 and 10 failures at GRAB, PUTIN, PUTBACK.
;   all others      what they are about is near or in a hand ("target not co-located").
;   LOOKAT, WATCH   what is looked at is faced. The DFA's state has the "facing direction", which no other rule reads.
;
; And what no sentence of the paper says, inferred from what the state tracks: nothing is done that is so already (OPEN of
; what is open, CLOSE, SWITCHON, SWITCHOFF, PLUGIN, PLUGOUT, SIT, LIE), STANDUP needs a robot that sits or lies, and
; PUTOFF what is worn.
;
; What the prompt does not show is false.
;
; The paper counts 36 actions without naming all: these are the prompt's, without POINTAT, GREET and RELEASE. Predicates
; are those of environment.pddl, so that one problem serves both.
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

    ; Not used by these rules.
    (assumed-within-reach ?x - thing)  ; x is neither worn nor in a closed container that is not shown
    (assumed-not-shut ?x - thing)      ; x, which cannot be opened, is not closed
    (assumed-seat-free ?x - thing)
    (assumed-plugged ?x - thing))

  (:action walk
    :parameters (?x - item)
    :precondition (and
      (not (sitting)) (not (lying)))
    :effect (and
      (acted)
      (forall (?y - thing) (not (by ?y)))
      (forall (?y - item) (not (facing ?y)))
      (forall (?r - room) (not (in-room ?r)))
      (when (is-room ?x) (in-room ?x))
      (when (not (is-room ?x)) (by ?x))
      (forall (?w - wish) (when (asks ?w a_walk) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action run
    :parameters (?x - item)
    :precondition (and
      (not (sitting)) (not (lying)))
    :effect (and
      (forall (?y - thing) (not (by ?y)))
      (forall (?y - item) (not (facing ?y)))
      (forall (?r - room) (not (in-room ?r)))
      (when (is-room ?x) (in-room ?x))
      (when (not (is-room ?x)) (by ?x))
      (forall (?w - wish) (when (asks ?w a_run) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action find
    :parameters (?x - item)
    :precondition (and
      (not (sitting)) (not (lying)))
    :effect (and
      (forall (?y - thing) (not (by ?y)))
      (forall (?y - item) (not (facing ?y)))
      (forall (?r - room) (not (in-room ?r)))
      (when (is-room ?x) (in-room ?x))
      (when (not (is-room ?x)) (by ?x))
      (forall (?w - wish) (when (asks ?w a_find) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action turnto
    :parameters (?x - item)
    :precondition (and)
    :effect (and
      (acted)
      (forall (?y - item) (not (facing ?y)))
      (facing ?x)
      (forall (?w - wish) (when (asks ?w a_turnto) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action lookat
    :parameters (?x - thing)
    :precondition (and
      (facing ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_lookat) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action watch
    :parameters (?x - thing)
    :precondition (and
      (facing ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_watch) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action sit
    :parameters (?x - thing)
    :precondition (and
      (sittable ?x)
      (by ?x)
      (not (sitting)))
    :effect (and
      (sitting) (not (lying)) (seat ?x)
      (forall (?w - wish) (when (asks ?w a_sit) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action lie
    :parameters (?x - thing)
    :precondition (and
      (lieable ?x)
      (by ?x)
      (not (lying)))
    :effect (and
      (lying) (not (sitting)) (seat ?x)
      (forall (?w - wish) (when (asks ?w a_lie) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action standup
    :parameters ()
    :precondition (and
      (or (sitting) (lying)))
    :effect (and
      (acted)
      (not (sitting)) (not (lying))
      (forall (?w - wish) (when (asks ?w a_standup) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action grab
    :parameters (?x - thing)
    :precondition (and
      (grabbable ?x)
      (by ?x)
      (not (right ?x)) (not (left ?x))
      (or (right-free) (left-free))
      (forall (?c - thing) (imply (inside ?x ?c) (not (is-closed ?c)))))
    :effect (and
      (when (right-free) (and (right ?x) (not (right-free))))
      (when (not (right-free)) (and (left ?x) (not (left-free))))
      (forall (?y - item) (and (not (on ?x ?y)) (not (inside ?x ?y))))
      (forall (?w - wish) (when (asks ?w a_grab) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action putback
    :parameters (?x ?y - thing)
    :precondition (and
      (or (right ?x) (left ?x))
      (by ?y)
      (surfaces ?y)
      (imply (can_open ?y) (is-open ?y))
      (not (= ?x ?y)))
    :effect (and
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (on ?x ?y)
      (forall (?w - wish) (when (asks ?w a_putback) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action putin
    :parameters (?x ?y - thing)
    :precondition (and
      (or (right ?x) (left ?x))
      (by ?y)
      (containers ?y)
      (imply (can_open ?y) (is-open ?y))
      (not (= ?x ?y)))
    :effect (and
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (inside ?x ?y)
      (forall (?w - wish) (when (asks ?w a_putin) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action pour
    :parameters (?x ?y - thing)
    :precondition (and
      (or (pourable ?x) (drinkable ?x))
      (recipient ?y)
      (or (right ?x) (left ?x))
      (not (= ?x ?y)))
    :effect (and
      (inside ?x ?y)
      (forall (?w - wish) (when (asks ?w a_pour) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action drop
    :parameters (?x - thing)
    :precondition (and
      (or (right ?x) (left ?x)))
    :effect (and
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (forall (?w - wish) (when (asks ?w a_drop) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action puton
    :parameters (?x - thing)
    :precondition (and
      (clothes ?x)
      (or (right ?x) (left ?x)))
    :effect (and
      (when (right ?x) (and (not (right ?x)) (right-free)))
      (when (left ?x) (and (not (left ?x)) (left-free)))
      (worn ?x)
      (forall (?w - wish) (when (asks ?w a_puton) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action putoff
    :parameters (?x - thing)
    :precondition (and
      (clothes ?x)
      (worn ?x))
    :effect (and
      (not (worn ?x))
      (forall (?w - wish) (when (asks ?w a_putoff) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action open
    :parameters (?x - thing)
    :precondition (and
      (can_open ?x)
      (by ?x)
      (not (is-open ?x))
      (not (running ?x)))
    :effect (and
      (is-open ?x) (not (is-closed ?x))
      (forall (?w - wish) (when (asks ?w a_open) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action close
    :parameters (?x - thing)
    :precondition (and
      (can_open ?x)
      (by ?x)
      (not (is-closed ?x)))
    :effect (and
      (is-closed ?x) (not (is-open ?x))
      (forall (?w - wish) (when (asks ?w a_close) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action switchon
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (by ?x)
      (not (running ?x))
      (imply (has_plug ?x) (plugged ?x))
      (not (is-open ?x)))
    :effect (and
      (running ?x) (not (stopped ?x))
      (forall (?w - wish) (when (asks ?w a_switchon) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action switchoff
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (by ?x)
      (not (stopped ?x)))
    :effect (and
      (stopped ?x) (not (running ?x))
      (forall (?w - wish) (when (asks ?w a_switchoff) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action plugin
    :parameters (?x - thing)
    :precondition (and
      (has_plug ?x)
      (by ?x)
      (not (plugged ?x)))
    :effect (and
      (plugged ?x) (not (unplugged ?x))))

  (:action plugout
    :parameters (?x - thing)
    :precondition (and
      (has_plug ?x)
      (by ?x)
      (not (unplugged ?x)))
    :effect (and
      (unplugged ?x) (not (plugged ?x))))

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
      (or (right ?x) (left ?x)))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_eat) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action cut
    :parameters (?x - thing)
    :precondition (and
      (eatable ?x)
      (cuttable ?x)
      (by ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_cut) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action wipe
    :parameters (?x - thing)
    :precondition (and
      (by ?x))
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish) (when (asks ?w a_wipe) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action wash
    :parameters (?x - thing)
    :precondition (and
      (by ?x))
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish) (when (asks ?w a_wash) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action rinse
    :parameters (?x - thing)
    :precondition (and
      (by ?x))
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish) (when (asks ?w a_rinse) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action scrub
    :parameters (?x - thing)
    :precondition (and
      (by ?x))
    :effect (and
      (clean ?x) (not (dirty ?x))
      (forall (?w - wish) (when (asks ?w a_scrub) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action squeeze
    :parameters (?x - thing)
    :precondition (and
      (clothes ?x)
      (by ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_squeeze) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action touch
    :parameters (?x - thing)
    :precondition (and
      (by ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_touch) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action type
    :parameters (?x - thing)
    :precondition (and
      (has_switch ?x)
      (by ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_type) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action push
    :parameters (?x - thing)
    :precondition (and
      (movable ?x)
      (by ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_push) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action pull
    :parameters (?x - thing)
    :precondition (and
      (movable ?x)
      (by ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_pull) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w))))))))

  (:action move
    :parameters (?x - thing)
    :precondition (and
      (movable ?x)
      (by ?x))
    :effect (and
      (forall (?w - wish) (when (asks ?w a_move) (and (did ?w) (forall (?v - wish) (when (did ?v) (did-after ?v ?w)))))))))
