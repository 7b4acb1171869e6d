(define (problem now) (:domain home)
  (:objects hall kitchen bedroom office - room floor_lamp desk_lamp bedside_lamp - lamp kitchen_window office_window - window)
  (:init (robot-in hall) (dusty kitchen) (dusty bedroom) (dusty office) (on floor_lamp) (on desk_lamp) (open kitchen_window) (docked)))
