// Constraint: everything about (task, format, vocabulary) that is worked out before the first token.
//
//     auto constraint = metactrl::Constraint::compile(task, PlanFormat::builtin("pddl"), vocabulary, {});
//     if (constraint->lookahead().verdict() != Verdict::kSolvable) ...   // said before anything is decoded
//     metactrl::Decoder decoder(constraint, {});
//
// Three levels of lifetime: a Vocabulary per model, a Constraint per task, a Decoder (decoder.h) per request. The first
// two are immutable and shared between threads.
#ifndef METACTRL_CONSTRAINT_H_
#define METACTRL_CONSTRAINT_H_

#include <cstddef>
#include <memory>
#include <string>

#include "metactrl/format.h"
#include "metactrl/lookahead.h"
#include "metactrl/task.h"
#include "metactrl/vocabulary.h"

namespace metactrl {

struct ConstraintOptions {
  LookaheadOptions lookahead;
  // The end of the prompt's text: the plan's first token is the one the tokenizer would choose there. With kAny it does
  // not matter: the plan begins with a new token.
  std::string context;
  Tokenization tokenization = Tokenization::kCanonical;
  // Longest plan in actions: numbered formats spell out so many numbers. The lookahead's horizon, where that is more.
  unsigned max_actions = 256;
};

// The automaton over tokens that a decoder walks; no concern of the library's users.
class TokenAutomaton;

class Constraint {
 public:
  // Throws InputError as Lookahead::compile does, and Stopped when `stop` says so.
  static std::shared_ptr<const Constraint> compile(const Task& task, const PlanFormat& format,
                                                   std::shared_ptr<const Vocabulary> vocabulary,
                                                   const ConstraintOptions& options, const Stop& stop = {});

  const Task& task() const { return task_; }
  const PlanSpelling& spelling() const { return spelling_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const std::shared_ptr<const Lookahead>& lookahead() const { return lookahead_; }
  const TokenAutomaton& automaton() const;
  std::size_t memory_bytes() const;

  // What decoders need besides (decode/constraint_parts.h).
  struct Parts;
  const Parts& parts() const { return *parts_; }

 private:
  Constraint(Task task, PlanSpelling spelling, std::shared_ptr<const Vocabulary> vocabulary);
  Task task_;
  PlanSpelling spelling_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const Lookahead> lookahead_;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace metactrl

#endif  // METACTRL_CONSTRAINT_H_
