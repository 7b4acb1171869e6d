(define (domain kitchen)
  (:predicates (p))))
