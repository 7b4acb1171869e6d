(define (problem p)
  (:init)
  (:goal (hand-free)))
