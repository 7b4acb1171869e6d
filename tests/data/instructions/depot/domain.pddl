; Trucks and parcels, without types.
(define (domain depot)
  (:requirements :strips :negative-preconditions)
  (:predicates (parcel ?x) (truck ?x) (city ?x) (at ?x ?c) (in ?p ?t) (fuelled ?t) (insured ?p))
  (:action drive :parameters (?t ?a ?b) :precondition (and (truck ?t) (city ?a) (city ?b) (at ?t ?a) (fuelled ?t)) :effect (and (at ?t ?b) (not (at ?t ?a))))
  (:action load :parameters (?p ?t ?c) :precondition (and (parcel ?p) (truck ?t) (city ?c) (at ?p ?c) (at ?t ?c)) :effect (and (in ?p ?t) (not (at ?p ?c))))
  (:action unload :parameters (?p ?t ?c) :precondition (and (parcel ?p) (truck ?t) (city ?c) (in ?p ?t) (at ?t ?c)) :effect (and (at ?p ?c) (not (in ?p ?t))))
  (:action refuel :parameters (?t) :precondition (truck ?t) :effect (fuelled ?t))
  (:action insure :parameters (?p) :precondition (parcel ?p) :effect (insured ?p)))
