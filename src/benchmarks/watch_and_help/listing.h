// What of an apartment matters to a goal: it is what the prompt lists and what a plan may name.
//
//     Listing listing = list_things(*task.scene, task.goal);
//
//   carried  every thing of a class that a goal line wants somewhere, and what the robot holds
//   places   every thing of a class that is a target, and whatever a carried thing is inside of; a carried thing that
//            is in nothing, the thing it is on (of several, the one with the lowest number); with both hands full at
//            the start, also the surface with the lowest number, to put something down
//
// An apartment of 360 things becomes some tens. Nothing is lost, whatever the goal. A plan over what is listed is legal
// in the whole apartment: preconditions speak of the things named, of the hands, and, for GRAB, of what the thing is
// inside of; all these are listed. And where the whole apartment has a plan, what is listed has one: things are fetched
// one after the other, with one hand free for doors; only what a thing is inside of can keep it, only a listed thing
// can make a goal true, and putting down or opening anything else changes neither.
//
// A thing that VirtualHome's executor finds in no room cannot be walked to; it comes near when the robot walks to what
// it is on or in, so all that is listed with it. A thing in no room that is neither on nor in anything is left out.
//
// Cost: linear in the scene for each goal class.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_LISTING_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_LISTING_H_

#include <vector>

#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/watch_and_help/goal.h"

namespace metactrl::benchmarks::watch_and_help {

// Numbers of things, ascending. A thing may be both carried and a place.
struct Listing {
  std::vector<int> rooms;
  std::vector<int> target_rooms;  // those of a class that is a target; of rooms, only these matter to a goal
  std::vector<int> carried;
  std::vector<int> places;
  std::vector<int> held;  // at the start; all of them are carried

  bool is_carried(int x) const;
  bool is_place(int x) const;
  // Carried things and places together.
  std::vector<int> things() const;
};

Listing list_things(const Scene& scene, const std::vector<GoalLine>& goal);

}  // namespace metactrl::benchmarks::watch_and_help

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_LISTING_H_
