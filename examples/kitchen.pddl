; What there is in a kitchen and what is true now, and nothing about what is wanted: say that in words (docs/goals.md).
(define (problem kitchen)
  (:domain tabletop)
  (:objects orange syrup pot fridge stove table)
  (:init
    (hand-empty)
    (graspable orange)
    (graspable syrup)
    (graspable pot) (container pot)
    (container fridge) (openable fridge)
    (surface stove) (switchable stove)
    (surface table)
    (inside orange fridge) (inside syrup fridge) (on pot table)))
