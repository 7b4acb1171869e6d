// Scenes like those of household benchmarks: objects with ids (soap_1002), action names of which most take one
// argument, a few two and some none, arguments by what an object can be used for.
#ifndef METACTRL_TESTS_SUPPORT_HOUSEHOLD_H_
#define METACTRL_TESTS_SUPPORT_HOUSEHOLD_H_

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/task.h"
#include "support/id_list.h"
#include "task/compile.h"
#include "task/definition.h"

namespace metactrl::testing {

inline const std::vector<std::string>& household_words() {
  static const std::vector<std::string> kWords = {"soap",
                                                  "cup",
                                                  "coffee_maker",
                                                  "fridge",
                                                  "bathroom_counter",
                                                  "washing_machine",
                                                  "tv",
                                                  "remote_control",
                                                  "clothes_shirt",
                                                  "dishwasher",
                                                  "kitchen_table",
                                                  "light",
                                                  "book",
                                                  "water_glass",
                                                  "toothbrush",
                                                  "bed",
                                                  "chair",
                                                  "cutting_board",
                                                  "dining_room",
                                                  "computer",
                                                  "keyboard",
                                                  "mouse",
                                                  "phone",
                                                  "food_bread",
                                                  "plate",
                                                  "faucet",
                                                  "sink",
                                                  "towel",
                                                  "basket_for_clothes",
                                                  "laundry_detergent",
                                                  "character",
                                                  "drawing",
                                                  "sofa",
                                                  "stove",
                                                  "pan",
                                                  "curtain",
                                                  "door",
                                                  "envelope",
                                                  "check",
                                                  "desk"};
  return kWords;
}

// word_id, all different: soap_1000, cup_1001, ...
inline std::vector<std::string> household_objects(std::size_t count) {
  std::vector<std::string> out;
  const std::vector<std::string>& words = household_words();
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(words[(i * 7 + i / words.size()) % words.size()] + '_' +
                  std::to_string(i % 3 == 0 ? 1000 + i : 11 + i));
  }
  return out;
}

// A task whose actions are always possible and do nothing.
inline Task household_task(const std::vector<std::string>& objects) {
  static const std::array<const char*, 30> kUnary = {
      "walk",       "find",    "look_at",  "turn_to", "point_at", "touch", "grab",    "open",   "close",   "switch_on",
      "switch_off", "plug_in", "plug_out", "wash",    "rinse",    "scrub", "wipe",    "drink",  "eat",     "read",
      "sit",        "lie",     "push",     "pull",    "move",     "drop",  "squeeze", "put_on", "put_off", "type"};
  task::Definition definition;
  definition.name = "household";
  definition.objects.assign(objects.begin(), objects.end());
  const auto name = [&](const char* text, std::uint32_t arity) {
    const ActionNameId id = definition.action_names.next_id();
    definition.action_names.push_back({text, arity});
    return id;
  };
  const auto add = [&](ActionNameId id, const std::vector<std::uint32_t>& arguments) {
    task::ActionDefinition action;
    action.symbol.name = id;
    action.symbol.arguments = id_list<ObjectId>(arguments);
    definition.actions.push_back(action);
  };
  const auto count = static_cast<std::uint32_t>(objects.size());
  for (std::uint32_t u = 0; u < kUnary.size(); ++u) {
    const ActionNameId id = name(kUnary[u], 1);
    for (std::uint32_t o = 0; o < count; ++o) {
      if (u < 6 || (o * 31 + u * 17) % 10 < 4) add(id, {o});
    }
  }
  const auto binary = [&](const char* text, std::uint32_t first_of_20, std::uint32_t second_of_20) {
    const ActionNameId id = name(text, 2);
    for (std::uint32_t o = 0; o < count; ++o) {
      for (std::uint32_t p = 0; o * 7 % 20 < first_of_20 && p < count; ++p) {
        if (o != p && p * 13 % 20 < second_of_20) add(id, {o, p});
      }
    }
  };
  binary("put_back", 10, 5);
  binary("put_in", 10, 4);
  binary("pour", 4, 4);
  for (const char* text : {"sleep", "wake_up", "stand_up"}) add(name(text, 0), {});
  return Task(task::compile(std::move(definition)), nullptr);
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_HOUSEHOLD_H_
