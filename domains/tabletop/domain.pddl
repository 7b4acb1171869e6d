; A one-armed robot at a table: containers with and without lids, surfaces, things to stack, soak, spray and clean.
;
; A thing can be taken when the hand is free, nothing stands on it and no closed container is around it; what is inside it moves with
; it. What is held can be put on a surface or into an open container, but not into or onto something that it carries itself.
(define (domain tabletop)
  (:requirements :adl :derived-predicates)
  (:predicates
    ; what a thing is
    (graspable ?x) (surface ?x) (container ?x) (openable ?x) (switchable ?x)
    (sprayer ?x) (cloth ?x) (water ?x)
    ; how it is
    (on ?x ?y) (inside ?x ?y) (held ?x) (hand-empty)
    (open ?x) (switched-on ?x) (soaped ?x) (soaked ?x) (clean ?x)
    ; what follows
    (supported ?x ?y)   ; x rests on y, directly or through other things
    (shut-in ?x))       ; some closed container is around x

  (:derived (supported ?x ?y)
    (or (on ?x ?y) (inside ?x ?y)
        (exists (?z) (and (or (on ?x ?z) (inside ?x ?z)) (supported ?z ?y)))))

  (:derived (shut-in ?x)
    (exists (?y) (or (and (inside ?x ?y) (openable ?y) (not (open ?y)))
                     (and (or (on ?x ?y) (inside ?x ?y)) (shut-in ?y)))))

  (:action open
    :parameters (?x)
    :precondition (and (openable ?x) (not (open ?x)) (hand-empty) (not (shut-in ?x)))
    :effect (open ?x))

  (:action close
    :parameters (?x)
    :precondition (and (openable ?x) (open ?x) (hand-empty) (not (shut-in ?x)))
    :effect (not (open ?x)))

  (:action grab
    :parameters (?x)
    :precondition (and (graspable ?x) (hand-empty) (not (shut-in ?x)) (not (exists (?y) (on ?y ?x))))
    :effect (and (held ?x) (not (hand-empty))
                 (forall (?y) (and (not (on ?x ?y)) (not (inside ?x ?y))))))

  (:action putin
    :parameters (?x ?y)
    :precondition (and (container ?y) (held ?x) (not (= ?x ?y)) (imply (openable ?y) (open ?y)) (not (shut-in ?y))
                       (not (supported ?y ?x)))
    :effect (and (inside ?x ?y) (not (held ?x)) (hand-empty)))

  (:action puton
    :parameters (?x ?y)
    :precondition (and (surface ?y) (held ?x) (not (= ?x ?y)) (not (shut-in ?y)) (not (supported ?y ?x)))
    :effect (and (on ?x ?y) (not (held ?x)) (hand-empty)))

  (:action spray
    :parameters (?y)
    :precondition (and (exists (?x) (and (sprayer ?x) (held ?x))) (not (held ?y)) (not (shut-in ?y)))
    :effect (soaped ?y))

  (:action soak
    :parameters (?y)
    :precondition (and (water ?y) (exists (?x) (and (cloth ?x) (held ?x))) (not (shut-in ?y)))
    :effect (forall (?x) (when (and (cloth ?x) (held ?x)) (soaked ?x))))

  (:action clean
    :parameters (?y)
    :precondition (and (soaped ?y) (exists (?x) (and (cloth ?x) (held ?x) (soaked ?x))) (not (held ?y))
                       (not (shut-in ?y)))
    :effect (clean ?y))

  (:action toggleon
    :parameters (?y)
    :precondition (and (switchable ?y) (not (switched-on ?y)))
    :effect (switched-on ?y)))
