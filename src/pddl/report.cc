#include "pddl/report.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "support/utf8.h"

namespace metactrl::pddl {

using internal::str_cat;

Reporter::Reporter(std::string domain_file, std::string problem_file)
    : files_{std::move(domain_file), std::move(problem_file)} {}

void Reporter::error(Position where, std::string message, std::string hint) {
  ++num_errors_;
  if (errors_.size() >= Diagnostics::kMaxItems) return;
  errors_.push_back({Diagnostic::Severity::kError, where, std::move(message), std::move(hint)});
}

void Reporter::warning(Position where, std::string message, std::string hint) {
  ++num_warnings_;
  if (warnings_.size() >= Diagnostics::kMaxItems) return;
  warnings_.push_back({Diagnostic::Severity::kWarning, where, std::move(message), std::move(hint)});
}

bool Reporter::first(std::string_view kind, std::string_view name) {
  if (exhausted()) return false;
  return seen_.emplace(std::string(kind), std::string(name)).second;
}

void Reporter::flush(Diagnostics& out) const {
  // Errors have the first claim on the places there are.
  std::vector<const Item*> kept;
  for (const Item& item : errors_) kept.push_back(&item);
  for (const Item& item : warnings_) {
    if (kept.size() >= Diagnostics::kMaxItems) break;
    kept.push_back(&item);
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Item* a, const Item* b) {
    return std::tie(a->where.file, a->where.line, a->where.column) <
           std::tie(b->where.file, b->where.line, b->where.column);
  });
  std::size_t errors_left = num_errors_;
  std::size_t warnings_left = num_warnings_;
  for (const Item* item : kept) {
    Diagnostic::Position where{files_[item->where.file], item->where.line, item->where.column};
    if (item->severity == Diagnostic::Severity::kError) {
      out.error(std::move(where), item->message, item->hint);
      --errors_left;
    } else {
      out.warning(std::move(where), item->message, item->hint);
      --warnings_left;
    }
  }
  // The rest is only counted. Unless the list was flushed into one that already held something it is full by now.
  for (; errors_left > 0; --errors_left) out.error({}, "more errors of this kind");
  for (; warnings_left > 0; --warnings_left) out.warning({}, "more warnings of this kind");
}

std::string_view cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && internal::is_continuation(text[limit])) --limit;
  return text.substr(0, limit);
}

std::string in_quotes(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  if (name.size() > kLongest) return str_cat('\'', cut(name, kLongest), "...'");
  return str_cat('\'', name, '\'');
}

std::string counted(std::size_t count, std::string_view noun) {
  return str_cat(count, ' ', noun, count == 1 ? "" : "s");
}

ClosestName::ClosestName(std::string_view name) : name_(name), best_distance_(0), budget_(3000) {
  constexpr std::size_t kLongest = 60;
  if (name.size() < 3 || name.size() > kLongest) return;  // nothing is near
  best_distance_ = name.size() < 6 ? 2 : 3;
}

void ClosestName::offer(std::string_view candidate) {
  if (best_distance_ == 0 || budget_ == 0) return;
  --budget_;
  const std::size_t longer = std::max(name_.size(), candidate.size());
  if (longer - std::min(name_.size(), candidate.size()) >= best_distance_) return;
  const std::size_t distance = internal::edit_distance(name_, candidate);
  if (distance >= best_distance_) return;
  best_ = candidate;
  best_distance_ = distance;
}

std::string ClosestName::hint(std::string otherwise) const {
  if (best_.empty()) return otherwise;
  return str_cat("did you mean ", in_quotes(best_), '?');
}

}  // namespace metactrl::pddl
