(define (domain garage)
  (:requirements :strips :typing)
  (:types wheel tool)
  (:predicates (have ?t - tool) (loose ?w - wheel))
  (:action loosen
    :parameters (?w - wheel)
    :precondition (have wrench)
    :effect (loose ?w)))
