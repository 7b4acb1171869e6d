(define (domain kitchen)
  (:predicates (hot))
  (:task cook :parameters ())
  (:method m :parameters () :task (cook)))
