// The goal-relevant part of a task as literals: what each action needs, and what it makes true.
//
// A literal is its code (task::Literal::code), so that twice as many as there are relevant facts stand for all of them. What
// is said of states here is said of more states than there are: conditions other than conjunctions of stored facts are taken to
// hold.
#ifndef METACTRL_SRC_LOOKAHEAD_LITERAL_ACTIONS_H_
#define METACTRL_SRC_LOOKAHEAD_LITERAL_ACTIONS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "task/program.h"

namespace metactrl::lookahead {

using LiteralCode = std::uint32_t;
constexpr LiteralCode opposite(LiteralCode literal) { return literal ^ 1; }

struct LiteralAction {
  // Literals that hold together become true where others did.
  struct Change {
    std::vector<LiteralCode> when;  // besides what the action needs
    std::vector<LiteralCode> made;
  };
  std::vector<LiteralCode> needs;
  std::vector<LiteralCode> made;    // always
  std::vector<LiteralCode> undone;  // their opposites, but for those that a conditional change may set all the same
  std::vector<Change> conditional;
};

struct LiteralTask {
  explicit LiteralTask(const task::Program& program);

  std::size_t num_literals = 0;
  std::vector<LiteralCode> initial;
  std::vector<LiteralAction> actions;
  // By goal: the literals that it asks for; empty where it asks for something else.
  std::vector<std::vector<LiteralCode>> goals;
};

// A set of literals.
class LiteralSet {
 public:
  explicit LiteralSet(std::size_t num_literals = 0) : words_((num_literals + 63) / 64, 0) {}
  bool contains(LiteralCode literal) const { return task::test_bit(words_.data(), literal); }
  void insert(LiteralCode literal) { task::set_bit(words_.data(), literal, true); }
  void erase(LiteralCode literal) { task::set_bit(words_.data(), literal, false); }
  bool contains_all(std::span<const LiteralCode> literals) const {
    for (const LiteralCode literal : literals) {
      if (!contains(literal)) return false;
    }
    return true;
  }
  LiteralSet& operator|=(const LiteralSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }
  LiteralSet& operator&=(const LiteralSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
    return *this;
  }
  LiteralSet& operator-=(const LiteralSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
    return *this;
  }
  bool operator==(const LiteralSet&) const = default;
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (task::Word rest = words_[w]; rest != 0; rest &= rest - 1) {
        visit(static_cast<LiteralCode>(64 * w + static_cast<std::size_t>(std::countr_zero(rest))));
      }
    }
  }
  std::size_t num_words() const { return words_.size(); }

 private:
  std::vector<task::Word> words_;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_LITERAL_ACTIONS_H_
