(define (problem p)
  (:domain kitchen)
  (:goal (and)))
