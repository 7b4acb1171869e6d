(define (domain kitchen)
  (:requirements :adl)
  (:predicates (p ?x) (q))
  (:action a
    :parameters (?x)
    :precondition (and q ((q)) (not (q) (q)) (imply (q)) (forall ?y (p ?y)) (exists (?y ?y) (p ?y)) (when (q) (q))
                       (= ?x) (forall (?z) (p ?z) (q)) (forn (many) (?y) (p ?y)) (forn (2) (?y ?w) (p ?y))
                       (forpairs (?y) (p ?y)) (p ?z) (always (q)))))
