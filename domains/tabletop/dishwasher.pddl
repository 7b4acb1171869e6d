; Put the dishes into the dishwasher, which is closed.
(define (problem dishwasher)
  (:domain tabletop)
  (:objects blue_mug white_cup gray_pot dishwasher table)
  (:init
    (hand-empty)
    (graspable blue_mug)
    (graspable white_cup)
    (graspable gray_pot) (container gray_pot)
    (container dishwasher) (openable dishwasher)
    (surface table)
    (on blue_mug table) (on white_cup table) (on gray_pot table))
  (:goal (and (inside blue_mug dishwasher) (inside white_cup dishwasher) (inside gray_pot dishwasher))))
