// What an instruction's words say about the conditions of a goal, whoever reads it: names that it mentions are likelier to be
// meant than others. A weight that ranks, as the lookahead's for plans; it allows and forbids nothing.
#ifndef METACTRL_SRC_GOALS_MENTIONS_H_
#define METACTRL_SRC_GOALS_MENTIONS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "goals/instruction.h"
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
  const std::vector<ObjectId>& objects() const { return instruction_.mentioned; }

  // Is an order of two things ("wash it before you cut it") one of things that are to be done? Else it forbids: "never cut it before
  // it is washed", "only after".
  bool orders_are_wishes() const { return !instruction_.orders_forbid; }

  // An object in a goal that nobody spoke of, in name or kind, although the instruction names things. Nothing where there is none.
  std::string unnamed_in(std::span<const ActionId> goal) const;
  // A kind of objects of which the instruction says how many it is about ("all rooms", "two of the doors"), and the goal does not.
  std::string uncounted_in(std::span<const ActionId> goal) const;

 private:
  bool is_one_of_many(ObjectId object) const;
  bool is_mentioned(ObjectId object) const;
  bool names_things() const;
  double order_weight(const ItemSet::Item& item);
  double side_weight(ActionId id, const Instruction::Range& side, const Instruction::Range& other) const;
  bool is_done(ActionId fact, std::span<const ActionId> goal) const;
  bool is_pursued(std::span<const ActionId> goal) const;
  double shape_weight(std::uint32_t shape);
  // Of the actions that are mentioned and bring about what an item says, or the contrary.
  double best_deed(const ItemSet::Item& item, bool contrary) const;
  double deed_of_choices(const ItemSet::Item& item) const;
  double in_so_many_words(const ItemSet::Item& item) const;
  bool is_rare(const ItemSet::Item& item) const;
  bool is_always_of_others(const ItemSet::Item& item) const;
  bool is_said_of_the_way(const ItemSet::Item& item) const;
  bool is_denied(const ItemSet::Item& item) const;
  bool asks_for_what_is_denied(const ItemSet::Item& item) const;
  bool find_word(std::uint32_t shape) const;
  double share_said(std::string_view name) const;
  bool is_undone(std::uint32_t shape) const;
  // This word is in the instruction, or one that is much like it.
  bool says(std::string_view part) const;
  double neighbours(const std::vector<ObjectId>& objects) const;
  std::optional<std::set<std::size_t>> clauses_of(const std::vector<ObjectId>& objects) const;
  double out_of_place(const ItemSet::Item& item) const;
  bool is_said_elsewhere(const ItemSet::Item& item, const std::set<std::size_t>& clauses) const;
  std::set<std::size_t> clauses_about(const ItemSet::Item& item, bool contrary) const;
  std::set<std::size_t> clauses_saying(std::uint32_t shape) const;
  bool has_every_deed(std::span<const ActionId> goal) const;
  bool is_whole(std::span<const ActionId> goal, std::span<const ObjectId> covered) const;

  const ItemSet& items_;
  Instruction instruction_;
  std::vector<bool> has_word_;                        // for what the shape says
  std::vector<std::string> predicates_;               // that are mentioned
  std::vector<std::set<std::size_t>> shape_clauses_;  // in which there is a word of its predicates
  // By fact and order: what it is worth as the earlier thing, and as the later one. A fact is in many pairs.
  std::map<std::pair<ActionId, std::size_t>, std::array<double, 2>> sides_;
  std::vector<double> item_weights_;  // but for its objects
};

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_MENTIONS_H_
