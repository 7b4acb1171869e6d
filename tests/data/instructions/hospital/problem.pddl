(define (problem now) (:domain hospital)
  (:objects lab ward pharmacy corridor - room blood_sample scalpel chart - thing lab_door ward_door - door)
  (:init (robot-at corridor) (hand-free) (at blood_sample ward) (at scalpel pharmacy) (at chart ward) (locked ward_door)))
