(define (problem now) (:domain garden)
  (:objects rose daisy basil - plant spade rake - tool bed terrace pond - spot)
  (:init (gardener-at terrace) (stored spade) (stored rake)))
