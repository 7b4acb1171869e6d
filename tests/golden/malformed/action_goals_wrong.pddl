(define (problem p)
  (:domain kitchen)
  (:objects knife - tool table - place)
  (:init (at knife table) (hand-free))
  (:goal (hand-free))
  (:constraints
    (and (actions-in-order) (actions-in-order grb) (actions-in-order (grab knife)) (actions-in-order (one-of))
         (actions-in-order (grab nife *)) (actions-in-order (grab table *)) (actions-in-order (grab ?x *) ((put))))))
