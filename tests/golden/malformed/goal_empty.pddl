(define (problem p)
  (:domain kitchen)
  (:init)
  (:goal ()))
