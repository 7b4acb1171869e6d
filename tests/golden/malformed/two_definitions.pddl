(define (problem a) (:domain kitchen) (:init) (:goal (hand-free)))
(define (problem b) (:domain kitchen))
