(define (domain kitchen)
  (:predicate (p))
  (:axioms (p)))
