(define (domain kitchen)
  (:predicates (p))
  (:action a :parameters () :precondition () :effect ())
  (:action b))
