// What an instruction's words say about the conditions of a goal, whoever reads it: names that it mentions are likelier to be
// meant than others. A weight that ranks, as the lookahead's for plans; it allows and forbids nothing.
#ifndef METACTRL_SRC_GOALS_MENTIONS_H_
#define METACTRL_SRC_GOALS_MENTIONS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "goals/items.h"

namespace metactrl::goals {

class Mentions {
 public:
  // `items` must outlive this.
  Mentions(std::string_view instruction, const ItemSet& items);

  // log of what an item is worth behind others; of a goal's end behind it, and of going on.
  struct Weight {
    double item = 0;
    double end = 0;
    double go_on = 0;
  };
  Weight weight(std::span<const ActionId> before, ActionId item) const;

  // Those that are mentioned, in the order in which they are.
  const std::vector<ObjectId>& objects() const { return mentioned_; }

 private:
  void find_objects(const ItemSet& items);
  // A word of this name is in the instruction, or one that is much like it.
  bool says(std::string_view name) const;
  double neighbours(const std::vector<ObjectId>& objects) const;

  std::vector<std::string> words_;  // of the instruction, in small letters
  const ItemSet& items_;
  std::vector<ObjectId> mentioned_;      // once for each time
  std::vector<std::string> predicates_;  // that are mentioned
  std::vector<double> shape_weights_;
};

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_MENTIONS_H_
