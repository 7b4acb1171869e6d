// Collecting what the PDDL reader has to say. Private to src/pddl.
//
// Messages come up in the order in which sections are resolved (types before predicates before actions), which is not
// the order of the text, and a file with hundreds of warnings must not crowd out its errors. So the reporter keeps a
// bounded number of each, and `flush` hands them over sorted by position, errors first where not all fit.
//
// Not thread safe; one reporter belongs to one call of `parse`.
#ifndef METACTRL_SRC_PDDL_REPORT_H_
#define METACTRL_SRC_PDDL_REPORT_H_

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metactrl/error.h"
#include "pddl/ast.h"

namespace metactrl::pddl {

class Reporter {
 public:
  Reporter(std::string domain_file, std::string problem_file);

  void error(Position where, std::string message, std::string hint = {});
  void warning(Position where, std::string message, std::string hint = {});

  // True the first time it is asked about this pair: an undefined name is reported where it first occurs, not at each
  // use.
  bool first(std::string_view kind, std::string_view name);

  bool has_errors() const { return num_errors_ > 0; }
  // So many errors that reading on helps nobody: the reader gives up.
  bool exhausted() const { return num_errors_ >= kGiveUpAfter; }
  // Whether another warning would be kept. A caller with many similar warnings asks before it builds the text.
  bool wants_warnings() const { return warnings_.size() < Diagnostics::kMaxItems; }
  // Counts a warning whose text was not built because wants_warnings() said no.
  void count_warning() { ++num_warnings_; }

  // Hands everything to `out`, by file, line and column.
  void flush(Diagnostics& out) const;

 private:
  static constexpr std::size_t kGiveUpAfter = 200;

  struct Item {
    Diagnostic::Severity severity;
    Position where;
    std::string message;
    std::string hint;
  };

  std::string files_[2];
  std::vector<Item> errors_;
  std::vector<Item> warnings_;
  std::size_t num_errors_ = 0;
  std::size_t num_warnings_ = 0;
  std::set<std::pair<std::string, std::string>> seen_;
};

// The beginning of a text, at most `limit` bytes, and no part of a character.
std::string_view cut(std::string_view text, std::size_t limit);

// 'name', cut short when it is very long.
std::string in_quotes(std::string_view name);

// "1 argument", "2 arguments"
std::string counted(std::size_t count, std::string_view noun);

// Finds the declared name most like a misspelt one:
//
//     ClosestName closest("tabel");
//     for (const Type& type : types) closest.offer(type.name);
//     closest.hint("declare it in (:types ...)")  // "did you mean 'table'?"
//
// Looks at no more than a few thousand candidates; short names need to be nearer than long ones.
class ClosestName {
 public:
  explicit ClosestName(std::string_view name);

  void offer(std::string_view candidate);
  bool found() const { return !best_.empty(); }
  // "did you mean 'x'?", or `otherwise` when nothing is near.
  std::string hint(std::string otherwise) const;

 private:
  std::string_view name_;
  std::string best_;
  std::size_t best_distance_;  // only candidates nearer than this count
  std::size_t budget_;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_REPORT_H_
