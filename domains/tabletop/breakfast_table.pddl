; Set the stool for breakfast.
(define (problem breakfast-table)
  (:domain tabletop)
  (:objects bowl bread oat_milk_carton blue_tuna_can stool table)
  (:init
    (hand-empty)
    (graspable bowl) (container bowl)
    (graspable bread)
    (graspable oat_milk_carton)
    (graspable blue_tuna_can)
    (surface stool)
    (surface table)
    (on bowl table) (on bread table) (on oat_milk_carton table) (on blue_tuna_can table))
  (:goal (and (on bowl stool) (supported bread stool) (on oat_milk_carton stool) (on blue_tuna_can stool))))
