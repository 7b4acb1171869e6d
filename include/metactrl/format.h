// PlanFormat: how a plan is spelled.
//
// A plan's text is an opening, items joined by separators, and a closing:
//
//     {"WALK": ["soap", "1002"], "GRAB": ["soap", "1002"]}          one JSON object (VirtualHome actions)
//     {"output": ["ON(light.411)", "OFF(tv.3)"]}                     atoms in a list (subgoals)
//     {"output": ["a(x) and b(y)", "c(z)"]}                          two separators
//     [{"action": "OPEN", "object": "jar_0"}]                        one object per action (BEHAVIOR)
//     (open dishwasher)\n(grab cup);                                  PDDL plan lines
//     1. pick up the red block\n2. stack it on the blue one.         numbered sentences
//
// All of them are data: a small text file each (domains/formats/*.format, docs/formats.md). An item is a template over
// the action's name and arguments; how names and objects are written can be changed one by one.
//
//     PlanFormat format = PlanFormat::builtin("pddl");
//     PlanSpelling spelling(format, task);      // proves that every plan has its own text, or throws InputError that
//                                               // names two actions which collide
//     std::string text = spelling.render(plan);
//     auto read = spelling.parse(text);         // and back: the parser, tau in the paper
#ifndef METACTRL_FORMAT_H_
#define METACTRL_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/task.h"

namespace metactrl {

namespace text {
class PlanReader;
}

// The declaration, as read from a file. Plain data; build one in code if you like.
struct PlanFormat {
  std::string name;
  std::string open;                     // before the first item
  std::string close;                    // after the last item; "": only the end of the text ends a plan
  std::vector<std::string> separators;  // between items; at least one, none empty
  std::string empty;                    // the text of a plan without actions; "" means open + close
  std::string prefix;                   // before every item; "{index}" is the item's number, from 1 (numbered lists)
  // Item templates. {action} is the action's name, {1} {2} ... are its arguments, {arguments} is all of them joined by
  // `argument_separator`, {duration} is how long it takes and {cost} what it costs. Keyed by action name, or by "/N" for all actions with N arguments, or "*" for all; the most
  // specific one counts. "{{" is a brace; so is every "{" that does not begin a {word}.
  std::map<std::string, std::string> items;
  std::string argument = "{object}";  // how one argument is written: {object}, or {name} and {id}
  std::string argument_separator = ", ";
  std::string id_separator;  // the last occurrence splits an object's name into {name} and {id}
  enum class Case { kAsIs, kUpper, kLower } action_case = Case::kAsIs;
  std::string hyphen = "-";                                   // written for each '-' of an action's name
  enum class Escape { kNone, kJson } escape = Escape::kNone;  // how names are made safe for what surrounds them
  // Written instead of the action's own name, as they are; and instead of the object's own name. Names of actions and
  // objects are compared without regard to case.
  std::map<std::string, std::string> action_names;
  std::map<std::string, std::string> object_names;

  // Reads a declaration (docs/formats.md). Throws InputError with the line and column of every mistake.
  static PlanFormat parse(std::string_view text, const std::string& file_name);
  static PlanFormat load(const std::string& file);
  // "behavior-actions", "behavior-subgoals", "json", "pddl", "sentences", "virtualhome-actions",
  // "virtualhome-subgoals"; they are part of the library. Throws InputError that lists them for another name.
  static PlanFormat builtin(const std::string& name);
  static std::vector<std::string> builtin_names();
  // The declaration that `builtin` reads: a start for one's own.
  static std::string_view builtin_text(const std::string& name);
};

// A format applied to a task's actions. Immutable, shareable between threads.
//
// At construction it proves that the text of an item followed by a separator or by the closing is never the beginning
// of another such text (a prefix-free code), and that the text of the empty plan is never the beginning of a plan with
// actions as far as its first separator or closing, nor the other way round. So every plan has exactly one text and
// every text at most one plan, no plan's text is the beginning of another's, and a reader knows an action, without
// looking ahead, as soon as it has read the separator or closing behind it.
//
// With an empty closing the end of the text (the end of the turn, for a model) takes its place in all of this. A plan's
// text may then well be the beginning of another's.
//
// Cost: linear in the length of all items, times the logarithm of their number (40,000 actions: some 20 ms).
class PlanSpelling {
 public:
  // One item's text in pieces: literal text and arguments alternate, in the order in which they are written. pieces[0] is
  // literal (perhaps empty), pieces[1] an argument, and so on; the last is literal. pieces[2 * i + 1] is the action's
  // argument number arguments[i], from 0.
  struct Item {
    std::vector<std::string> pieces;
    std::vector<std::uint32_t> arguments;
    std::string text() const;
  };

  // Throws InputError that names the two colliding actions, or the action that has no template.
  PlanSpelling(PlanFormat format, const Task& task);
  PlanSpelling(PlanSpelling&&) noexcept;
  ~PlanSpelling();

  // With `empty` filled in.
  const PlanFormat& format() const { return format_; }
  std::size_t num_actions() const { return actions_.size(); }
  const Item& action(ActionId action) const { return actions_[static_cast<std::size_t>(action)]; }
  // The text right before item number `index` (from 1); empty for most formats.
  std::string prefix(std::size_t index) const;

  // `separators[i]` joins actions i and i + 1; zero where left out. Throws InputError for an action or separator that
  // does not exist.
  std::string render(std::span<const ActionId> plan, std::span<const std::uint32_t> separators = {}) const;

  struct Parsed {
    // Those whose separator or closing was read. With an empty closing also the last one, where `complete`.
    std::vector<ActionId> actions;
    std::vector<std::uint32_t> separators;  // those that were read
    bool complete = false;                  // the closing was read and nothing follows but blanks
    std::size_t bytes_read = 0;             // how far the text is the beginning of a plan
    // Empty when the text is a plan or the beginning of one. Otherwise what was expected and what was found:
    // "byte 18: expected "cup" or "dishwasher", found "dishwaser)"; read 2 actions". Bytes count from 1.
    std::string error;
  };
  // Reads as much as is a plan. Linear in the text.
  Parsed parse(std::string_view text) const;

  std::size_t memory_bytes() const;

 private:
  friend class text::PlanReader;
  struct Tables;

  PlanFormat format_;
  std::vector<Item> actions_;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace metactrl

#endif  // METACTRL_FORMAT_H_
