(define (domain kitchen)
  (:predicates (hot))
  (:process heating :parameters () :effect (hot))
  (:event boiling :effect (hot)))
