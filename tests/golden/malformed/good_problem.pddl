; The counterpart of every malformed domain. Reads without a warning.
(define (problem dinner)
  (:domain kitchen)
  (:objects table - place knife - tool apple - food)
  (:init (at knife table) (at apple table) (hand-free)
         (= (total-cost) 0) (= (effort knife) 1) (= (effort apple) 2))
  (:goal (and (clean apple) (at apple table)))
  (:metric minimize (total-cost)))
