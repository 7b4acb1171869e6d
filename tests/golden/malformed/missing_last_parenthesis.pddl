(define (domain kitchen)
  (:predicates (p))
  (:action a :effect (p))
