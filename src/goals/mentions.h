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

  // Is an order of two things ("wash it before you cut it") one of things that are to be done? Else it forbids: "never cut it before
  // it is washed", "only after".
  bool orders_are_wishes() const { return !orders_forbid_; }

 private:
  enum class Quantity : std::uint8_t { kNone, kSaid, kThese };
  // Words of the instruction: the first, and the one behind the last.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool has(std::size_t place) const { return begin <= place && place < end; }
  };
  // What is said on the two sides of "before" or "after".
  struct Order {
    Range earlier;
    Range later;
  };

  // An action that is mentioned, what that is worth, and in which clauses it is.
  struct SaidDeed {
    const ItemSet::Deed* deed = nullptr;
    double weight = 0;
    std::set<std::size_t> clauses{};
  };

  void find_objects();
  std::map<std::string, ObjectId> own_words() const;
  void find_clauses(const std::map<std::size_t, ObjectId>& by_place, const std::vector<bool>& used);
  void find_counted(const std::vector<bool>& used);
  Quantity quantity_before(std::size_t place) const;
  bool is_one_of_many(ObjectId object) const;
  bool is_mentioned(ObjectId object) const;
  bool names_things() const;
  void find_deeds();
  void find_orders();
  double order_weight(const ItemSet::Item& item);
  double side_weight(ActionId id, const Range& side, const Range& other) const;
  std::vector<std::string> free_words(const Range& range) const;
  bool is_done(ActionId fact, std::span<const ActionId> goal) const;
  bool is_pursued(std::span<const ActionId> goal) const;
  double shape_weight(std::uint32_t shape);
  // Of the actions that are mentioned and bring about what an item says, or the contrary.
  double best_deed(const ItemSet::Item& item, bool contrary) const;
  double deed_of_choices(const ItemSet::Item& item) const;
  double in_so_many_words(const ItemSet::Item& item) const;
  bool is_rare(const ItemSet::Item& item) const;
  bool is_said_of_the_way(const ItemSet::Item& item) const;
  bool is_denied(const ItemSet::Item& item) const;
  bool asks_for_what_is_denied(const ItemSet::Item& item) const;
  bool has_word(std::uint32_t shape) const;
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

  std::vector<std::string> words_;  // of the instruction, in small letters
  std::vector<bool> marks_before_;  // is there a comma or its like before this word?
  std::vector<std::string> free_;   // those that are not of an object's name
  std::vector<bool> named_;         // is this word of one?
  const ItemSet& items_;
  std::vector<ObjectId> mentioned_;                     // once for each time
  std::vector<std::size_t> places_;                     // where each of them is
  std::vector<std::size_t> clauses_;                    // in which each of them is
  std::vector<std::vector<std::string>> clause_words_;  // of each clause, those that are free
  std::vector<bool> denied_;                            // those that say "not" of what they are about
  std::vector<const ItemSet::Class*> counted_;          // of which the instruction says how many
  std::set<std::string> all_of_;                        // those that it says so of by "the" alone
  std::vector<std::string> predicates_;                 // that are mentioned
  std::vector<SaidDeed> deeds_;
  std::vector<std::set<std::size_t>> shape_clauses_;  // in which there is a word of its predicates
  std::vector<std::pair<const ItemSet::Deed*, std::vector<std::string>>> verbs_;  // words of actions that no name has
  std::vector<Order> orders_;
  bool orders_forbid_ = false;
  // By fact and order: what it is worth as the earlier thing, and as the later one. A fact is in many pairs.
  std::map<std::pair<ActionId, std::size_t>, std::array<double, 2>> sides_;
  std::vector<double> item_weights_;  // but for its objects
};

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_MENTIONS_H_
