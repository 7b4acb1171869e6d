; Heat orange and syrup from the closed fridge in the pot on the stove.
(define (problem fridge-to-stove)
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
    (inside orange fridge) (inside syrup fridge) (on pot table))
  (:goal (and (inside orange pot) (inside syrup pot) (on pot stove) (switched-on stove))))
