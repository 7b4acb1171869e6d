(define (domain) (:predicates (p)))
