(define (domain kitchen)
  (:requirements :adl)
  (:predicates (p ?x) (q))
  (:action a
    :parameters (?x)
    :effect (and q ((q)) (not (not (q))) (not (and (q) (p ?x))) (or (q) (p ?x)) (exists (?y) (p ?y)) (imply (q) (p ?x))
                 (= ?x ?x) (when (q)) (forall ?y (p ?y)) (at end (q)) (not (p)))))
