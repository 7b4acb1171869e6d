(define (domain kitchen)
  (:requirements :typing)
  (:types thing)
  (:predicates p (q x y) (and ?x) (= ?x ?y) (r ?x - thng) (s ?x ?x) (s) () (?v)))
