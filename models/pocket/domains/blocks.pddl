; Blocks on a floor and one gripper: whatever is to move must be free on top.
(define (domain blocks)
  (:predicates (block ?x) (on ?x ?y) (on-floor ?x) (free ?x) (gripping ?x) (gripper-free))

  (:action lift
    :parameters (?x)
    :precondition (and (block ?x) (on-floor ?x) (free ?x) (gripper-free))
    :effect (and (gripping ?x) (not (on-floor ?x)) (not (free ?x)) (not (gripper-free))))

  (:action lower
    :parameters (?x)
    :precondition (gripping ?x)
    :effect (and (on-floor ?x) (free ?x) (gripper-free) (not (gripping ?x))))

  (:action stack
    :parameters (?x ?y)
    :precondition (and (block ?y) (gripping ?x) (free ?y))
    :effect (and (on ?x ?y) (free ?x) (gripper-free) (not (free ?y)) (not (gripping ?x))))

  (:action unstack
    :parameters (?x ?y)
    :precondition (and (on ?x ?y) (free ?x) (gripper-free))
    :effect (and (gripping ?x) (free ?y) (not (on ?x ?y)) (not (free ?x)) (not (gripper-free)))))
