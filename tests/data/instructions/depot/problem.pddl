(define (problem now) (:domain depot)
  (:objects parcel1 parcel2 parcel3 red_truck blue_truck berlin paris rome)
  (:init (parcel parcel1) (parcel parcel2) (parcel parcel3) (truck red_truck) (truck blue_truck) (city berlin) (city paris) (city rome)
    (at parcel1 berlin) (at parcel2 berlin) (at parcel3 paris) (at red_truck berlin) (at blue_truck rome)))
