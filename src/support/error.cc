#include "metactrl/error.h"

#include <utility>

#include "support/str_cat.h"

namespace metactrl {

using internal::str_cat;

std::string to_string(const Diagnostic& diagnostic) {
  std::string out = diagnostic.where.file;
  if (diagnostic.where.line > 0) out += str_cat(':', diagnostic.where.line);
  if (diagnostic.where.line > 0 && diagnostic.where.column > 0) out += str_cat(':', diagnostic.where.column);
  if (!out.empty()) out += ": ";
  out += diagnostic.severity == Diagnostic::Severity::kError ? "error: " : "warning: ";
  out += diagnostic.message;
  if (!diagnostic.hint.empty()) out += "; " + diagnostic.hint;
  return out;
}

void Diagnostics::error(Diagnostic::Position where, std::string message, std::string hint) {
  add(Diagnostic::Severity::kError, std::move(where), std::move(message), std::move(hint));
}

void Diagnostics::warning(Diagnostic::Position where, std::string message, std::string hint) {
  add(Diagnostic::Severity::kWarning, std::move(where), std::move(message), std::move(hint));
}

void Diagnostics::add(Diagnostic::Severity severity, Diagnostic::Position where, std::string message,
                      std::string hint) {
  ++(severity == Diagnostic::Severity::kError ? num_errors_ : num_warnings_);
  // The first error is always kept, however many warnings came before it.
  const bool first_error = severity == Diagnostic::Severity::kError && num_errors_ == 1;
  if (items_.size() >= kMaxItems && !first_error) return;
  items_.push_back({severity, std::move(where), std::move(message), std::move(hint)});
}

namespace {

std::string join(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.items()) {
    if (!out.empty()) out += '\n';
    out += to_string(diagnostic);
  }
  if (diagnostics.num_dropped() > 0) out += str_cat("\n(and ", diagnostics.num_dropped(), " more)");
  return out;
}

Diagnostics single(const std::string& file, const std::string& message, const std::string& hint) {
  Diagnostics diagnostics;
  diagnostics.error({file, 0, 0}, message, hint);
  return diagnostics;
}

}  // namespace

InputError::InputError(Diagnostics diagnostics)
    : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

InputError::InputError(const std::string& file, const std::string& message, const std::string& hint)
    : InputError(single(file, message, hint)) {}

Stopped::Stopped(Reason reason)
    : std::runtime_error(reason == kCancelled ? "cancelled" : "the limit on work and memory ended"), reason_(reason) {}

}  // namespace metactrl
