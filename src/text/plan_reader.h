// PlanReader: a plan's text read piece by piece.
#ifndef METACTRL_SRC_TEXT_PLAN_READER_H_
#define METACTRL_SRC_TEXT_PLAN_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/format.h"

namespace metactrl::text {

// The parser piece by piece, for text that arrives in parts: the result is that of `parse` on all of it. Each byte is
// looked at once. One reader per text; the spelling must outlive it.
//
//     PlanReader reader(spelling);
//     while (reader.read(next_part())) show(reader.result().actions);
class PlanReader {
 public:
  explicit PlanReader(const PlanSpelling& spelling);
  explicit PlanReader(PlanSpelling&&) = delete;

  // False when the text is no longer the beginning of a plan; later parts are then ignored.
  bool read(std::string_view part);
  const PlanSpelling::Parsed& result() const { return result_; }

 private:
  // One way in which the text can go on.
  struct Way {
    enum class In : std::uint8_t { kOpening, kEmpty, kPrefix, kItem, kEnd } in = In::kItem;
    std::uint32_t node = 0;    // kItem: node of the trie; kEnd: action
    std::uint32_t end = 0;     // kEnd: which separator, or the closing
    std::uint32_t offset = 0;  // bytes read of the literal, or of the item
  };

  bool step(char byte);
  void advance(const Way& way, char byte);
  void enter_items();
  void add_item(std::uint32_t node, std::uint32_t depth);
  void begin_item(std::size_t index);
  void finish_action(const Way& way);
  bool take(char byte);
  void settle(bool was_ended);
  std::string_view literal(const Way& way) const;
  std::string expectation() const;
  void fail(std::string_view rest);

  const PlanSpelling* spelling_;
  PlanSpelling::Parsed result_;
  std::string prefix_;     // of the current item
  std::vector<Way> ways_;  // that agree with the text so far
  std::vector<Way> next_;
  bool closed_ = false;
  // With an empty closing: the text so far is a plan, perhaps with blanks behind it, of so many actions and with this
  // last one. `assumed_` when the last one is among the results although the text may still go on inside it.
  bool ended_ = false;
  bool assumed_ = false;
  std::size_t ended_size_ = 0;
  ActionId ended_action_{};
};

}  // namespace metactrl::text

#endif  // METACTRL_SRC_TEXT_PLAN_READER_H_
