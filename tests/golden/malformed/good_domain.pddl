; The counterpart of every malformed problem, and the base of every malformed domain. Reads without a warning.
(define (domain kitchen)
  (:requirements :adl :action-costs :derived-predicates :constraints)
  (:types place thing - object
          tool food - thing)
  (:constants sink - place)
  (:predicates (at ?t - thing ?p - place)
               (holding ?t - thing)
               (clean ?t - thing)
               (hand-free)
               (reachable ?t - thing))
  (:functions (total-cost) - number
              (effort ?t - thing) - number)
  (:derived (reachable ?t - thing)
    (exists (?p - place) (at ?t ?p)))
  (:action grab
    :parameters (?t - thing ?p - place)
    :precondition (and (at ?t ?p) (hand-free))
    :effect (and (holding ?t) (not (at ?t ?p)) (not (hand-free))
                 (increase (total-cost) (effort ?t))))
  (:action put
    :parameters (?t - thing ?p - place)
    :precondition (holding ?t)
    :effect (and (at ?t ?p) (hand-free) (not (holding ?t))
                 (when (= ?p sink) (clean ?t)))))
