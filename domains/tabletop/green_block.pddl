; Pick up the green block that a blocker stands on.
(define (problem green-block)
  (:domain tabletop)
  (:objects green_block blocker table)
  (:init
    (hand-empty)
    (graspable green_block) (surface green_block)
    (graspable blocker)
    (surface table)
    (on green_block table) (on blocker green_block))
  (:goal (and (held green_block))))
