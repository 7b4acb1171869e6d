(define (domain kitchen)
  (:predicates (heads) (tails))
  (:action toss :effect (oneof (heads) (tails)))
  (:action spin :effect (probabilistic 0.5 (heads))))
