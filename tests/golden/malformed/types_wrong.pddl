(define (domain kitchen)
  (:requirements :typing)
  (:types object
          tool - thing
          spoon - (either tool food)
          a - b b - c c - a
          tool - place
          ?x
          plate plate)
  (:constants big - plat))
