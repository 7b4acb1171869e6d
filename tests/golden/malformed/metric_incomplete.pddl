(define (problem p) (:domain kitchen) (:init) (:goal (hand-free))
  (:metric (total-cost)))
