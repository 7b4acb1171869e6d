; A gardener: a bed is dug, a seed is sown in it, the can is filled at the well and waters it.
(define (domain garden)
  (:requirements :adl)
  (:predicates (bed ?x) (seed ?x) (can ?x) (stony ?x)
    (weeded ?x) (dug ?x) (sown ?x ?y) (full ?x) (watered ?x) (used ?x) (planted ?y))

  (:action weed
    :parameters (?x)
    :precondition (and (bed ?x) (not (weeded ?x)))
    :effect (weeded ?x))

  (:action dig
    :parameters (?x)
    :precondition (and (bed ?x) (not (dug ?x)) (imply (stony ?x) (weeded ?x)))
    :effect (dug ?x))

  (:action sow
    :parameters (?x ?y)
    :precondition (and (seed ?x) (not (used ?x)) (dug ?y) (not (planted ?y)))
    :effect (and (sown ?x ?y) (used ?x) (planted ?y)))

  (:action fill
    :parameters (?x)
    :precondition (and (can ?x) (not (full ?x)))
    :effect (full ?x))

  (:action water
    :parameters (?x ?y)
    :precondition (and (can ?x) (full ?x) (planted ?y))
    :effect (and (watered ?y) (not (full ?x)))))
