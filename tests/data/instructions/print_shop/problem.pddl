(define (problem now) (:domain print-shop)
  (:objects contract invoice report - document laser_printer plotter - machine top_drawer bottom_drawer - drawer)
  (:init (running plotter) (empty laser_printer)))
