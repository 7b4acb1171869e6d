(define (domain kitchen)
  (:requirements :fluents :conditional-effects)
  (:predicates (hot))
  (:functions (level) (total-cost))
  (:action pour
    :precondition (and (< (level) 3) (>= (level) 0) (= (level) 2) (level))
    :effect (and (increase (level) 1) (assign (level) 0) (decrease (level) 1) (scale-up (level) 2)))
  (:action boil
    :effect (and (hot) (when (hot) (increase (total-cost) 1)) (increase (total-cost) -1) (increase (total-cost) (* 2 (level)))
                 (increase (total-cost) (total-cost)) (increase (total-cost) (heat)) (increase (total-cost) (level 1))
                 (increase (total-cost))  (increase (total-cost) many))))
