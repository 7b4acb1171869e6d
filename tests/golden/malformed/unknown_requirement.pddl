(define (problem p)
  (:domain kitchen)
  (:requirements :strips :magic :durative-actions (typing))
  (:init) (:goal (hand-free)))
