(define (domain kitchen)
  (predicates (p))
  action
  (:predicates (p)))
