; A robot that looks after rooms, and its battery: numbers, and actions that take time.
(define (domain patrol)
  (:requirements :typing :durative-actions :numeric-fluents)
  (:types robot place)
  (:predicates (at ?r - robot ?p - place) (dock ?p - place) (inspected ?p - place))
  (:functions (battery ?r - robot) (capacity ?r - robot) (distance ?a ?b - place))

  ; A metre takes two seconds and one unit of the battery.
  (:durative-action drive
    :parameters (?r - robot ?a ?b - place)
    :duration (= ?duration (* 2 (distance ?a ?b)))
    :condition (and (at start (at ?r ?a)) (at start (>= (battery ?r) (distance ?a ?b))))
    :effect (and (at start (not (at ?r ?a))) (at end (at ?r ?b)) (at end (decrease (battery ?r) (distance ?a ?b)))))

  (:durative-action inspect
    :parameters (?r - robot ?p - place)
    :duration (= ?duration 10)
    :condition (and (over all (at ?r ?p)) (at start (>= (battery ?r) 1)))
    :effect (and (at end (inspected ?p)) (at end (decrease (battery ?r) 1))))

  (:durative-action charge
    :parameters (?r - robot ?p - place)
    :duration (= ?duration (* 4 (- (capacity ?r) (battery ?r))))
    :condition (and (over all (at ?r ?p)) (at start (dock ?p)) (at start (< (battery ?r) (capacity ?r))))
    :effect (at end (assign (battery ?r) (capacity ?r)))))
