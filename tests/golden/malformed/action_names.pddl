(define (domain kitchen)
  (:requirements :strips :typing)
  (:types thing)
  (:constants hammer - thing)
  (:predicates (holding ?t - thing) (free))
  (:action grab
    :parameters (?thing - thing ?thing - thing ?item - thing)
    :precondition (and (holdin ?thing) (holding ?itme) (free ?thing) (holding) (holding hamer) (holding item))
    :effect (and (holding (free)) (holding thing))))
