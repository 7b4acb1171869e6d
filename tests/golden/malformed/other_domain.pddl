(define (problem p)
  (:domain garage)
  (:init)
  (:goal (hand-free)))
