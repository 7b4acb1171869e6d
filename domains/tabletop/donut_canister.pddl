; Put the donut into the closed canister.
(define (problem donut-canister)
  (:domain tabletop)
  (:objects donut canister table)
  (:init
    (hand-empty)
    (graspable donut)
    (container canister) (openable canister)
    (surface table)
    (on donut table))
  (:goal (and (inside donut canister))))
