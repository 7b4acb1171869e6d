; What happens to the robot by itself.
(define (domain patrol)
  (:requirements :typing :numeric-fluents)
  (:types robot place)
  (:predicates (at ?r - robot ?p - place) (dock ?p - place) (inspected ?p - place))
  (:functions (battery ?r - robot) (capacity ?r - robot) (distance ?a ?b - place))

  ; An old battery: two units are gone.
  (:action drain
    :parameters (?r - robot)
    :precondition (>= (battery ?r) 2)
    :effect (decrease (battery ?r) 2)))
