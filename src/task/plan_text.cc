// Plans as text. A line is, with blanks anywhere between its parts,
//
//     [number:] ( name argument ... ) [ '[' number ']' ] [; comment]
//
// or empty. The numbers are the time stamps and durations that planners print; parse_plan drops them. Every line that is
// none of this is reported, not only the first; but a text that begins with nothing else is no plan, and that
// is said once.
#include <algorithm>
#include <limits>
#include <string>

#include "metactrl/error.h"
#include "metactrl/schedule.h"
#include "metactrl/task.h"
#include "support/lower_case.h"
#include "support/str_cat.h"

namespace metactrl {

using internal::str_cat;

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

// What a name may consist of: everything that is visible and has no meaning of its own. That is what the reader of PDDL
// takes, and bytes beyond ASCII, which names of SAS files may have. The bracket of a duration only stands behind a
// step.
bool is_name_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f && c != '(' && c != ')' && c != ';';
}

// Sums of a few times fit, too.
constexpr std::int64_t kMostTime = std::numeric_limits<std::int64_t>::max() / 100;

bool is_number_character(char c) { return (c >= '0' && c <= '9') || c == '.'; }

// "'x'", or "byte 0x07" where printing it would not help.
std::string in_quotes(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte > 0x20 && byte < 0x7f) return str_cat('\'', c, '\'');
  constexpr const char* kDigits = "0123456789abcdef";
  return str_cat("byte 0x", kDigits[byte >> 4], kDigits[byte & 15]);
}

class LineReader {
 public:
  LineReader(std::string_view line, std::uint32_t number, const std::string& file, Diagnostics& diagnostics)
      : line_(line), number_(number), file_(file), diagnostics_(diagnostics) {}

  // Appends the line's step, if it has one and is well formed. `next`: when one without a time stamp begins.
  void read(TimedPlan& plan, std::int64_t& next) {
    skip_blanks();
    if (at_end()) return;
    TimedStep step;
    step.start = next;
    const bool timed = is_number_character(line_[position_]);
    step.takes_time = false;
    if (!read_time(step.start) || !read_step(step.step) || !read_duration(step) || !read_end()) return;
    plan.is_timed = plan.is_timed || timed;
    next = std::min(std::max(next, step.start + step.duration + kSeparation), kMostTime);
    plan.schedule.push_back(std::move(step));
  }

 private:
  bool at_end() const { return position_ == line_.size() || line_[position_] == ';'; }
  bool at(char c) const { return position_ < line_.size() && line_[position_] == c; }
  void skip_blanks() {
    while (position_ < line_.size() && is_blank(line_[position_])) ++position_;
  }
  bool fail(const std::string& message, const std::string& hint) {
    diagnostics_.error({file_, number_, static_cast<std::uint32_t>(position_ + 1)}, message, hint);
    return false;
  }
  std::string found() const { return at_end() ? "the line ends" : "found " + in_quotes(line_[position_]); }

  // A number of the domain's units, in ours; what is behind the sixth digit is rounded.
  bool read_number(std::int64_t& out) {
    const std::size_t begin = position_;
    while (position_ < line_.size() && is_number_character(line_[position_])) ++position_;
    const std::string_view text = line_.substr(begin, position_ - begin);
    std::int64_t value = 0;
    int places = -1;  // behind the point; -1: there was none
    bool digits = false;
    for (const char c : text) {
      if (c == '.') {
        if (places >= 0) return fail(str_cat("'", text, "' is no number"), "write digits with one '.' among them");
        places = 0;
        continue;
      }
      digits = true;
      if (places >= 6) {
        if (places++ == 6 && c >= '5') ++value;
        continue;
      }
      if (places >= 0) ++places;
      value = value * 10 + (c - '0');
      if (value > kMostTime) return fail(str_cat("'", text, "' is too large a time"), "");
    }
    if (!digits) return fail(str_cat("'", text, "' is no number"), "write digits with one '.' among them");
    for (int i = std::max(places, 0); i < 6; ++i) {
      if (value > kMostTime / 10) return fail(str_cat("'", text, "' is too large a time"), "");
      value *= 10;
    }
    out = value;
    return true;
  }

  bool read_time(std::int64_t& start) {
    if (position_ == line_.size() || !is_number_character(line_[position_])) return true;
    if (!read_number(start)) return false;
    skip_blanks();
    if (!at(':'))
      return fail(str_cat("expected ':' after the time stamp, ", found()), "write steps as (action object ...)");
    ++position_;
    skip_blanks();
    return true;
  }

  bool read_step(PlanStep& step) {
    if (!at('(')) return fail(str_cat("expected '(', ", found()), "write one step per line, as (action object ...)");
    ++position_;
    while (true) {
      skip_blanks();
      if (at(')')) break;
      const std::size_t begin = position_;
      while (position_ < line_.size() && is_name_character(line_[position_])) ++position_;
      if (position_ == begin) return fail(str_cat("expected a name or ')', ", found()), "close the step with ')'");
      std::string name = internal::lower_case(line_.substr(begin, position_ - begin));
      if (step.action.empty()) {
        step.action = std::move(name);
      } else {
        step.arguments.push_back(std::move(name));
      }
    }
    if (step.action.empty()) return fail("the step has no action name", "write (action object ...)");
    ++position_;
    skip_blanks();
    return true;
  }

  bool read_duration(TimedStep& step) {
    if (!at('[')) return true;
    ++position_;
    skip_blanks();
    if (position_ == line_.size() || !is_number_character(line_[position_]))
      return fail(str_cat("expected a number after '[', ", found()), "remove the bracket");
    if (!read_number(step.duration)) return false;
    step.takes_time = true;
    skip_blanks();
    if (!at(']')) return fail(str_cat("expected ']', ", found()), "close the duration with ']'");
    ++position_;
    skip_blanks();
    return true;
  }

  bool read_end() {
    return at_end() || fail(str_cat("expected the end of the line, ", found()), "write one step per line");
  }

  std::string_view line_;
  std::size_t position_ = 0;
  std::uint32_t number_;
  const std::string& file_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::string to_string(const PlanStep& step) {
  std::string out = "(" + step.action;
  for (const std::string& argument : step.arguments) out += " " + argument;
  return out + ")";
}

std::vector<PlanStep> parse_plan(std::string_view text, const std::string& file_name) {
  std::vector<PlanStep> plan;
  for (TimedStep& step : parse_schedule(text, file_name).schedule) plan.push_back(std::move(step.step));
  return plan;
}

TimedPlan parse_schedule(std::string_view text, const std::string& file_name) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  constexpr std::size_t kGiveUpAfter = 4;
  TimedPlan plan;
  std::int64_t next = 0;
  Diagnostics diagnostics;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    LineReader(text.substr(0, end), number, file_name, diagnostics).read(plan, next);
    if (plan.schedule.empty() && diagnostics.num_errors() == kGiveUpAfter) {
      const Diagnostic& first = diagnostics.items()[0];
      Diagnostics once;
      once.error(first.where, "this is not a plan: " + first.message, first.hint);
      throw InputError(std::move(once));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (diagnostics.has_errors()) throw InputError(std::move(diagnostics));
  return plan;
}

}  // namespace metactrl
