(define (problem p)
  (:domain kitchen)
  (:init (hand-free)))
