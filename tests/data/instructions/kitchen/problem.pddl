(define (problem now) (:domain kitchen)
  (:objects carrot potato fish - food plate bowl - dish)
  (:init (raw carrot) (raw potato) (raw fish) (clean plate)))
