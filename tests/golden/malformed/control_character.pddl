(define (domain kitchen)
  (:predicates (pq)))
