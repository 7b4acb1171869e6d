(define (domain kitchen)
  (:requirements :strips :typing)
  (:types place thing - object tool - thing)
  (:constants sink - place)
  (:predicates (clean ?t - tool) (dry ?t - thing))
  (:action wash
    :parameters (?p - place ?t - thing)
    :precondition (and (clean ?p) (clean ?t) (dry sink))
    :effect (dry ?p)))
