; What happens on the robot's table without anybody's doing. An action here is an event: `metactrl run --fault slip=0.05` lets it happen
; after one action in twenty, to something it can happen to.
(define (domain tabletop)
  (:requirements :adl)
  (:predicates
    (graspable ?x) (surface ?x) (container ?x) (openable ?x) (switchable ?x)
    (sprayer ?x) (cloth ?x) (water ?x)
    (on ?x ?y) (inside ?x ?y) (held ?x) (hand-empty)
    (open ?x) (switched-on ?x) (soaped ?x) (soaked ?x) (clean ?x)
    (supported ?x ?y) (shut-in ?x))   ; in goals; no event asks for them

  ; What is held falls out of the hand, onto the furniture.
  (:action slip
    :parameters (?x ?y)
    :precondition (and (held ?x) (surface ?y) (not (graspable ?y)))
    :effect (and (not (held ?x)) (hand-empty) (on ?x ?y)))

  ; A door that was open is found closed.
  (:action found-closed
    :parameters (?x)
    :precondition (and (openable ?x) (open ?x))
    :effect (not (open ?x))))
