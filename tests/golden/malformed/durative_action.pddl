(define (domain kitchen)
  (:requirements :durative-actions)
  (:predicates (hot))
  (:durative-action cook
    :parameters ()
    :duration (= ?duration 5)
    :condition (at start (hot))
    :effect (at end (hot))))
