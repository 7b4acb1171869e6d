; Stack the plates by size.
(define (problem stack-dishes)
  (:domain tabletop)
  (:objects large_plate medium_plate small_plate table)
  (:init
    (hand-empty)
    (graspable large_plate) (surface large_plate)
    (graspable medium_plate) (surface medium_plate)
    (graspable small_plate) (surface small_plate)
    (surface table)
    (on large_plate table) (on medium_plate table) (on small_plate table))
  (:goal (and (on medium_plate large_plate) (on small_plate medium_plate))))
