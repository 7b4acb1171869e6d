(define (problem p) (:domain kitchen) (:init) (:goal (hand-free))
  (:metric minimize (+ (total-cost) (effort sink))))
