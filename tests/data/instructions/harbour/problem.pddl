(define (problem now) (:domain harbour)
  (:objects aurora borealis - object grain steel tea - object north_pier south_pier - object)
  (:init (ship aurora) (ship borealis) (container grain) (container steel) (container tea) (pier north_pier) (pier south_pier)
    (moored aurora north_pier) (moored borealis south_pier) (ashore grain north_pier) (ashore steel north_pier) (aboard tea borealis) (sealed tea)))
