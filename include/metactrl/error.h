// Errors: what the library says about bad input.
//
// Reading a file never stops at its first mistake and never aborts the program. A reader collects `Diagnostics`, each
// with the place, what is wrong there and what would mend it, and throws one `InputError` that carries all of them:
//
//     try {
//       metactrl::Task task = metactrl::load_pddl("domain.pddl", "problem.pddl");
//     } catch (const metactrl::InputError& error) {
//       for (const metactrl::Diagnostic& d : error.diagnostics().items()) std::cerr << metactrl::to_string(d) << '\n';
//     }
//
// prints, for example,
//
//     domain.pddl:41:18: error: object 'wrench' is not declared; add it to (:constants ...) or to (:objects ...)
//
// Warnings do not throw: pass a `Diagnostics*` to the loader to see them.
#ifndef METACTRL_ERROR_H_
#define METACTRL_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace metactrl {

struct Diagnostic {
  enum class Severity { kWarning, kError };

  // A place in a text file. Lines and columns count from 1; line 0 means "the file as a whole", column 0 the whole line.
  struct Position {
    std::string file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };

  Severity severity = Severity::kError;
  Position where;
  std::string message;  // what is wrong, one sentence, names the offending thing
  std::string hint;     // what to do about it; may be empty
};

// "file:line:column: error: message; hint"
std::string to_string(const Diagnostic& diagnostic);

// An ordered list of diagnostics. Keeps the first `kMaxItems` and counts the rest, so that ten megabytes of garbage do
// not produce ten megabytes of messages.
class Diagnostics {
 public:
  static constexpr std::size_t kMaxItems = 50;

  void error(Diagnostic::Position where, std::string message, std::string hint = {});
  void warning(Diagnostic::Position where, std::string message, std::string hint = {});

  bool has_errors() const { return num_errors_ > 0; }
  std::size_t num_errors() const { return num_errors_; }
  std::size_t num_warnings() const { return num_warnings_; }
  // How many diagnostics were counted but not kept.
  std::size_t num_dropped() const { return num_errors_ + num_warnings_ - items_.size(); }
  const std::vector<Diagnostic>& items() const { return items_; }

 private:
  void add(Diagnostic::Severity severity, Diagnostic::Position where, std::string message, std::string hint);

  std::vector<Diagnostic> items_;
  std::size_t num_errors_ = 0;
  std::size_t num_warnings_ = 0;
};

// Thrown once per load, with everything that was found. `what()` is all diagnostics, one per line.
class InputError : public std::runtime_error {
 public:
  explicit InputError(Diagnostics diagnostics);
  // One error without a position inside a file (a file that cannot be opened, for example).
  explicit InputError(const std::string& file, const std::string& message, const std::string& hint = {});

  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  Diagnostics diagnostics_;
};

// Asked now and then by what takes long, at least every few milliseconds; true ends it, whatever it has by then, with
// Stopped. The way to set a time limit, or to notice that nobody waits any more: a computation that is stopped has no
// result, so that a clock can end an answer and never change one. May be empty.
//
// It is a part of the options of what is done once (LoadOptions, ModelOptions, TrainOptions), and of the Observer of a
// plan that is made. Where the options say what a result is, and results are kept by them (Lookahead, Constraint), it
// comes beside them. Nothing that was compiled keeps one.
using Stop = std::function<bool()>;

class Stopped : public std::runtime_error {
 public:
  enum Reason {
    kCancelled,  // a Stop said so
    kLimit,      // what the options allow of work or memory was not enough
  };
  explicit Stopped(Reason reason);
  // With one sentence for a person.
  Stopped(Reason reason, const std::string& what) : std::runtime_error(what), reason_(reason) {}
  Reason reason() const { return reason_; }

 private:
  Reason reason_;
};

}  // namespace metactrl

#endif  // METACTRL_ERROR_H_
