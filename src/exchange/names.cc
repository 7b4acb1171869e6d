#include "exchange/names.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "metactrl/error.h"
#include "support/json_text.h"
#include "support/lower_case.h"
#include "support/utf8.h"
#include "support/words.h"

namespace metactrl::exchange {

using internal::hex;

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
using internal::is_digit;
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// The words of conditions, effects and constraints; a predicate or object of that name would be read as one of them, by
// VAL wherever it stands.
constexpr std::array<std::string_view, 36> kPddlWords = {"and",
                                                         "or",
                                                         "not",
                                                         "imply",
                                                         "forall",
                                                         "exists",
                                                         "when",
                                                         "either",
                                                         "define",
                                                         "increase",
                                                         "assign",
                                                         "number",
                                                         "object",
                                                         "decrease",
                                                         "domain",
                                                         "problem",
                                                         "name",
                                                         "after",
                                                         "within",
                                                         "always",
                                                         "sometime",
                                                         "preference",
                                                         "duration",
                                                         "total-time",
                                                         "minimize",
                                                         "maximize",
                                                         "is-violated",
                                                         "scale-up",
                                                         "scale-down",
                                                         "at-most-once",
                                                         "sometime-after",
                                                         "sometime-before",
                                                         "always-within",
                                                         "hold-during",
                                                         "hold-after",
                                                         "supply-demand"};

// What is registered in a fresh BehaviorTreeFactory, what its XML reader treats in a special way, and our own leaf.
constexpr std::array<std::string_view, 57> kTreeWords = {
    "Action",
    "AlwaysFailure",
    "AlwaysSuccess",
    "AsyncFallback",
    "AsyncSequence",
    "BehaviorTree",
    "Condition",
    "ConsumeQueue",
    "Control",
    "Decorator",
    "Delay",
    "EntryUpdated",
    "Fallback",
    "FallbackStar",
    "ForceFailure",
    "ForceSuccess",
    "Holds",
    "IfThenElse",
    "Inverter",
    "KeepRunningUntilFailure",
    "LoopBool",
    "LoopDouble",
    "LoopInt",
    "LoopString",
    "ManualSelector",
    "MetadataFields",
    "Parallel",
    "ParallelAll",
    "Precondition",
    "ReactiveFallback",
    "ReactiveSequence",
    "Repeat",
    "RetryUntilSuccesful",
    "RetryUntilSuccessful",
    "Root",
    "RunOnce",
    "Script",
    "ScriptCondition",
    "Sequence",
    "SequenceStar",
    "SequenceWithMemory",
    "SetBlackboard",
    "SkipUnlessUpdated",
    "Sleep",
    "SubTree",
    "SubTreePlus",
    "Switch2",
    "Switch3",
    "Switch4",
    "Switch5",
    "Switch6",
    "TestNode",
    "Timeout",
    "TreeNodesModel",
    "UnsetBlackboard",
    "WaitValueUpdate",
    "WhileDoElse",
};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string UniqueNames::make(const std::string& wanted) {
  std::string name = wanted;
  for (std::size_t number = 2; !reserve(name); ++number) name = str_cat(wanted, separator_, number);
  return name;
}

std::string pddl_name(std::string_view name, std::string_view prefix) {
  std::string out;
  for (const char c : name) out += is_letter(c) || is_digit(c) || c == '-' || c == '_' ? c : '_';
  if (out.empty() || !is_letter(out[0]) || contains(kPddlWords, internal::lower_case(out)))
    out = std::string(prefix) + out;
  return out;
}

std::string class_name(std::string_view name) {
  std::string out;
  bool capital = true;
  for (const char c : name) {
    if (is_letter(c) || is_digit(c)) {
      out += capital ? upper(c) : c;
      capital = is_digit(c);
    } else {
      capital = true;
    }
  }
  if (out.empty() || is_digit(out[0])) out = "Do" + out;
  if (contains(kTreeWords, out)) out += "Action";
  return out;
}

void reserve_tree_words(UniqueNames& names) {
  for (const std::string_view word : kTreeWords) names.reserve(std::string(word));
}

std::string port_name(std::string_view name) {
  if (name.starts_with('?')) name.remove_prefix(1);
  std::string out;
  for (const char c : name) out += is_letter(c) || is_digit(c) ? c : '_';
  if (out.empty() || !is_letter(out[0])) out = "p" + out;
  // Attributes with a meaning of their own.
  if (out == "name" || out == "ID" || out == "id") out += "_";
  return out;
}

std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = is_letter(c) || is_digit(c) || byte >= 0x80 || c == '_' || c == '-' || c == '=' || c == ',' ||
                       c == '(' || c == ')';
    if (plain) {
      out += c;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += '_';
    }
  }
  return out;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = internal::first_character(text.substr(i)).length;
    const char c = text[i];
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    if (length == 0 || control || c == 0x7f) {
      throw InputError("export", str_cat("byte 0x", hex(static_cast<unsigned char>(c)), " cannot be written in XML"),
                       "rename what has it in its name");
    }
    if (const std::string_view entity = internal::markup_entity(c); !entity.empty()) {
      out += entity;
    } else if (c == '\'') {
      out += "&apos;";
    } else if (c == '\t' || c == '\n' || c == '\r') {
      out += str_cat("&#", static_cast<int>(c), ';');
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

}  // namespace metactrl::exchange
