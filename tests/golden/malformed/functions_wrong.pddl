(define (domain kitchen)
  (:requirements :typing :action-costs)
  (:types place)
  (:functions total-cost (where ?x) - place (f) - number (f)))
