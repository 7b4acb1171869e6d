(define kitchen (:predicates (p)))
