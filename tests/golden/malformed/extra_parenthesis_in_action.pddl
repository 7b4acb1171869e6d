(define (domain kitchen)
  (:predicates (p) (q))
  (:action a :precondition (p)) :effect (q)))
  (:action b :effect (p)))
