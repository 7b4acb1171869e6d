(define (problem p) (:domain kitchen) (:init) (:goal (hand-free))
  (:metric maximize (total-cost)))
