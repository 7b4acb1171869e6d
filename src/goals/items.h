// The conditions that a goal can be made of, over one problem, as something that a token automaton can spell: a task whose
// actions are these conditions, and a format that writes a sequence of them as a conjunction.
#ifndef METACTRL_SRC_GOALS_ITEMS_H_
#define METACTRL_SRC_GOALS_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metactrl/format.h"
#include "metactrl/task.h"
#include "pddl/ast.h"
#include "support/meter.h"
#include "task/definition.h"

namespace metactrl::goals {

class ItemSet {
 public:
  enum class Kind : std::uint8_t {
    kFact,
    kNot,
    kAll,
    kNone,
    kSome,
    kAtLeast,
    kAtMost,
    kExactly,
    kAlways,  // of a fact, or of all of a kind
    kSometime,
    kEither,
    kBefore
  };
  struct Item {
    std::uint32_t shape = 0;
    std::vector<ObjectId> objects;
    bool impossible = false;                // no reachable state, even if nothing ever became false again
    bool holds_already = false;             // of facts and their negations: in the initial state
    std::optional<ActionId> opposite = {};  // the item that says the contrary
    // Of kBefore: the facts, as items of their own, in the order in which they come about.
    std::optional<ActionId> earlier = {};
    std::optional<ActionId> later = {};
    // Of kEither about two different things: what it asks for one of, as items of their own.
    std::vector<ActionId> choices = {};
  };
  // An action of the domain that makes facts of a predicate true, or false, and of which objects, by argument.
  struct Deed {
    std::string action;
    task::PredicateId predicate{};
    bool adds = true;
    std::vector<std::vector<ObjectId>> ranges;  // each ascending
  };

  // Objects that people have one word for: a type, or those of which a predicate always holds. At least two.
  struct Class {
    std::string name;
    std::vector<ObjectId> members;  // ascending
  };

  struct Options {
    // Kinds of conditions of which there would be more, with those before them, are left out; facts come first, and where even
    // they are too many, those that cannot be reached are not among them.
    std::size_t max_items = 20'000;
    // Without: nothing that is about how a state was reached.
    bool may_look_back = true;
  };

  // `definition` is the ground task of `ast`, not simplified.
  ItemSet(const pddl::Ast& ast, const task::Definition& definition, const Options& options, internal::Meter& meter);

  // Ids are those of the task's actions.
  std::size_t size() const { return items_.size(); }
  const Item& item(ActionId id) const { return items_[id]; }
  const Task& task() const { return *task_; }
  const PlanFormat& format() const { return format_; }
  // "(not (open door))"
  std::string text(ActionId id) const;
  // "not: door open"
  std::string words(ActionId id) const;
  const std::vector<std::string>& objects() const { return objects_; }
  std::size_t num_shapes() const { return shapes_.size(); }
  Kind kind(std::uint32_t shape) const { return shapes_[shape].kind; }
  // The names of the predicates of a shape, and of the objects that it quantifies over.
  const std::string& predicates(std::uint32_t shape) const { return shapes_[shape].predicates; }
  const std::string& quantified(std::uint32_t shape) const { return shapes_[shape].quantified; }
  // Of kAlways: is it that a fact never holds?
  bool is_never(std::uint32_t shape) const { return kind(shape) == Kind::kAlways && shapes_[shape].about[0].adds; }
  // Of kAtLeast, kAtMost and kExactly: how many.
  std::uint32_t count(std::uint32_t shape) const { return shapes_[shape].count; }
  const std::vector<Deed>& deeds() const { return deeds_; }
  const std::vector<Class>& classes() const { return classes_; }
  // Can it bring about what an item asks for, or what an item forbids? With `contrary`: can it undo that?
  bool is_about(const Deed& deed, const Item& item, bool contrary = false) const;
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  friend class ItemBuilder;

  // A predicate in a shape. Its arguments are the next holes but for the one that is a variable, if any.
  struct Part {
    task::PredicateId predicate{};
    std::optional<std::size_t> bound{};
    bool adds = true;  // whether what makes it true is what the shape asks for, or forbids
    std::size_t holes = 0;
  };
  // Text with holes for objects: parts[0] object parts[1] object ...; for programs and for people. Where there are more holes
  // than objects, these come once more.
  struct Shape {
    std::vector<std::string> parts;
    std::vector<std::string> word_parts;
    Kind kind = Kind::kFact;
    std::string predicates{};
    std::string quantified{};
    std::uint32_t count = 0;
    std::vector<Part> about{};
    std::size_t num_objects() const { return word_parts.size() - 1; }
  };

  std::vector<Shape> shapes_;
  std::vector<Deed> deeds_;
  std::vector<Class> classes_;
  internal::IdVector<ActionId, Item> items_;
  std::vector<std::string> objects_;
  std::optional<Task> task_;
  PlanFormat format_;
  std::vector<std::string> left_out_;
};

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_ITEMS_H_
