(define (problem now) (:domain school)
  (:objects music_room art_room library - classroom whiteboard blackboard - board big_projector small_projector - projector red_chair blue_chair green_chair - chair)
  (:init (caretaker-in library) (projector-on big_projector) (chair-in red_chair art_room) (chair-in blue_chair art_room) (chair-in green_chair music_room) (wiped whiteboard)))
