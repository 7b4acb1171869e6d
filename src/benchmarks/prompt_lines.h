// The lines of a prompt, with their numbers, and small readers for what stands on them.
#ifndef METACTRL_SRC_BENCHMARKS_PROMPT_LINES_H_
#define METACTRL_SRC_BENCHMARKS_PROMPT_LINES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/words.h"

namespace metactrl::benchmarks {

class PromptLines {
 public:
  explicit PromptLines(std::string_view text);

  bool at_end() const { return next_ >= lines_.size(); }
  // Without line break and without blanks at its ends.
  std::string_view peek() const { return lines_[next_]; }
  std::string_view take() { return lines_[next_++]; }
  // Of the line taken last, from 1.
  std::size_t line() const { return next_; }

  // Goes behind the last line that reads `header`; an InputError if there is none: the constant part of a prompt may
  // hold examples in the same form.
  void skip_past_last(std::string_view header);
  // Goes behind the next line that reads `header`.
  void skip_past(std::string_view header);

  // Throws an InputError about the line taken last. Of a long message, only the ends are kept.
  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const;
  [[noreturn]] static void fail_at(std::size_t line, const std::string& message, const std::string& hint = {});

 private:
  std::vector<std::string_view> lines_;
  std::size_t next_ = 0;
};

// The words between quotes of a list like ['A', 'B']; no value if it is not such a list.
bool read_word_list(std::string_view text, std::vector<std::string>& words);
// What stands between `open` and `close`; nothing when they do not occur in this order.
std::string_view between(std::string_view text, std::string_view open, std::string_view close);
// A name that is spelled the same in the prompt, in PDDL and in the plan.
bool is_plain_name(std::string_view name);
// Letters, digits, underscores and hyphens; not empty.
bool is_word(std::string_view text);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_PROMPT_LINES_H_
