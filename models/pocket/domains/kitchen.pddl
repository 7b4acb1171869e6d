; A cook: things are washed, then cut, then heated on a burner that is lit, then served on a dish.
(define (domain kitchen)
  (:requirements :adl)
  (:predicates (food ?x) (tough ?x) (dish ?x) (burner ?x)
    (washed ?x) (cut ?x) (cooked ?x) (lit ?x) (served ?x ?y) (taken ?y))

  (:action wash
    :parameters (?x)
    :precondition (and (food ?x) (not (washed ?x)))
    :effect (washed ?x))

  (:action cut
    :parameters (?x)
    :precondition (and (food ?x) (washed ?x) (not (cut ?x)))
    :effect (cut ?x))

  (:action light
    :parameters (?b)
    :precondition (and (burner ?b) (not (lit ?b)))
    :effect (lit ?b))

  (:action cook
    :parameters (?x ?b)
    :precondition (and (food ?x) (washed ?x) (burner ?b) (lit ?b) (imply (tough ?x) (cut ?x)))
    :effect (cooked ?x))

  (:action serve
    :parameters (?x ?y)
    :precondition (and (food ?x) (washed ?x) (dish ?y) (not (taken ?y)) (not (exists (?z) (served ?x ?z))))
    :effect (and (served ?x ?y) (taken ?y))))
