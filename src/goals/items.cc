// Conditions come in shapes: a text with holes, "(not (open " _ "))". What fills the holes are objects of the right types,
// counted before they are listed, so that a kind that is too large costs nothing.
//
// Predicates that no action changes are no goals. They say what objects are, though, where a domain has no types: "all
// balls" is then (forall (?x) (imply (ball ?x) ...)).
#include "goals/items.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "support/str_cat.h"
#include "task/compile.h"

namespace metactrl::goals {

using internal::ids;
using internal::index;
using internal::str_cat;
using internal::to_id;

namespace {

constexpr std::uint32_t kMostCounted = 4;

// "on-table" and "on_table" as people write it.
std::string spoken(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = c == '-' || c == '_' ? ' ' : c;
  return out;
}

// In a template of a format a brace must not open a field.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '{' ? std::string("{{") : std::string(1, c);
  return out;
}

}  // namespace

class ItemBuilder {
 public:
  ItemBuilder(const pddl::Ast& ast, const task::Definition& definition, std::size_t max_items, internal::Meter& meter,
              ItemSet& out)
      : ast_(ast), definition_(definition), max_items_(max_items), meter_(meter), out_(out) {}

  void run() {
    for (const pddl::Object& object : ast_.objects) out_.objects_.push_back(object.name);
    find_changes();
    find_classes();
    add_facts();
    add_kind("all, none, some and at least n of a kind", [this] { quantify(); });
    add_kind("what must hold throughout or at some time", [this] { without_durations([this] { add_on_the_way(); }); });
    add_kind("one of two facts", [this] { add_either(); });
    add_kind("one thing before another", [this] { without_durations([this] { add_before(); }); });
    finish();
  }

 private:
  using Kind = ItemSet::Kind;
  using Objects = std::vector<ObjectId>;
  struct Predicate {
    bool changes = false;
    std::vector<Objects> ranges;  // by argument
  };
  // Objects that people have one word for: a type, or those for which a predicate holds.
  struct Class {
    std::string binder;  // "(?x - ball)", "(?x)"
    std::string before;  // of a condition about all of them: "", "(imply (ball ?x) "
    std::string within;  // of a condition about some of them: "", "(and (ball ?x) "
    std::string after;   // ")"
    std::string name;    // "ball"
    Objects members;
  };
  struct Fact {
    pddl::PredicateId predicate{};
    Objects objects;
    bool reached = false;
    bool init = false;
    bool can_end = false;  // be false at some time
  };

  void find_changes() {
    std::set<task::FactId> deleted;
    for (const task::ActionDefinition& action : definition_.actions) {
      for (const task::EffectDefinition& effect : action.effects) deleted.insert(effect.del.begin(), effect.del.end());
    }
    predicates_.resize(ast_.predicates.size());
    for (const pddl::PredicateId id : ast_.predicates.all()) {
      predicates_[index(id)].changes = ast_.predicates[id].derived;
      for (const pddl::Variable& parameter : ast_.predicates[id].parameters) {
        predicates_[index(id)].ranges.push_back(ast_.objects_of(parameter.types));
      }
    }
    const auto changes = [this](const std::vector<pddl::Effect>& effects) {
      for (const pddl::Effect& effect : effects) predicates_[index(effect.atom.predicate)].changes = true;
    };
    for (const pddl::Action& action : ast_.actions) {
      changes(action.effects);
      if (action.durative) changes(action.durative->end_effects);
    }
    for (const task::FactId fact : definition_.facts.all()) {
      const task::FactSymbol& symbol = definition_.facts[fact];
      if (index(symbol.name) >= predicates_.size()) continue;  // a number's
      const bool derived = definition_.fact_layer[fact] >= 0;
      reached_[{symbol.name, symbol.arguments}] = {symbol.name, symbol.arguments, true, definition_.init[fact],
                                                   derived || !definition_.init[fact] || deleted.contains(fact)};
    }
  }

  void find_classes() {
    for (const pddl::TypeId type : ast_.types.all()) {
      const Objects members = ast_.objects_of({type});
      if (members.size() < 2 || (type == pddl::kObjectType && ast_.types.size() > 1)) continue;
      const std::string& name = ast_.types[type].name;
      const bool all = type == pddl::kObjectType;
      classes_.push_back({all ? "(?x)" : str_cat("(?x - ", name, ")"), "", "", "", all ? "thing" : name, members});
    }
    for (const pddl::PredicateId id : ast_.predicates.all()) {
      if (predicates_[index(id)].changes || predicates_[index(id)].ranges.size() != 1) continue;
      Objects members;
      for (const pddl::GroundAtom& atom : ast_.init) {
        if (atom.predicate == id) members.push_back(atom.arguments[0]);
      }
      std::sort(members.begin(), members.end());
      if (members.size() < 2) continue;
      const std::string& name = ast_.predicates[id].name;
      classes_.push_back(
          {"(?x)", str_cat("(imply (", name, " ?x) "), str_cat("(and (", name, " ?x) "), ")", name, members});
    }
  }

  // --- shapes --------------------------------------------------------------------------------------------------------

  // "(at " "" " ?x)" around the arguments; `bound` is the one that is a variable, if any.
  std::vector<std::string> atom_parts(pddl::PredicateId id, std::optional<std::size_t> bound) const {
    std::vector<std::string> parts = {"(" + name(id)};
    for (std::size_t i = 0; i < predicates_[index(id)].ranges.size(); ++i) {
      if (bound == i) {
        parts.back() += " ?x";
      } else {
        parts.back() += " ";
        parts.emplace_back();
      }
    }
    parts.back() += ")";
    return parts;
  }

  // The first argument, the predicate, the other arguments: "sample at lab", "door locked".
  std::vector<std::string> spoken_parts(pddl::PredicateId id, std::optional<std::size_t> bound) const {
    const std::size_t arity = predicates_[index(id)].ranges.size();
    const std::string name = spoken(ast_.predicates[id].name);
    if (arity == 0) return {name};
    std::vector<std::string> parts = {""};
    for (std::size_t i = 0; i < arity; ++i) {
      if (i > 0) parts.back() += " ";
      if (bound == i) {
        parts.back() += "it";
      } else {
        parts.emplace_back();
      }
      if (i == 0) parts.back() += " " + name;
    }
    return parts;
  }

  static void surround(std::vector<std::string>& parts, const std::string& before, const std::string& after) {
    parts.front().insert(0, before);
    parts.back() += after;
  }

  std::uint32_t shape(Kind kind, const std::string& predicates, std::vector<std::string> parts,
                      std::vector<std::string> word_parts) {
    out_.shapes_.push_back({std::move(parts), std::move(word_parts), kind, predicates});
    return static_cast<std::uint32_t>(out_.shapes_.size() - 1);
  }

  const std::string& name(pddl::PredicateId id) const { return ast_.predicates[id].name; }

  ActionId add(std::uint32_t shape, Objects objects, bool impossible = false, bool holds_already = false) {
    meter_.piece();
    out_.items_.push_back({shape, std::move(objects), impossible, holds_already, {}});
    return ActionId{static_cast<std::uint32_t>(out_.items_.size() - 1)};
  }

  // A kind as a whole, or nothing of it.
  void add_kind(const std::string& name, const std::function<void()>& add_all) {
    const std::size_t shapes = out_.shapes_.size();
    const std::size_t items = out_.items_.size();
    full_ = false;
    add_all();
    if (!full_) return;
    out_.shapes_.resize(shapes);
    while (out_.items_.size() > items) out_.items_.pop_back();
    out_.left_out_.push_back(name);
  }
  // No task has trajectory constraints beside actions that take time.
  void without_durations(const std::function<void()>& add_all) {
    full_ = ast_.has_durations;
    if (!full_) add_all();
  }
  bool is_full() {
    full_ = full_ || out_.items_.size() > max_items_;
    return full_;
  }

  // Calls visit(objects) for all ways to choose one of each range.
  template <typename Visit>
  void choose(const std::vector<Objects>& ranges, std::optional<std::size_t> without, const Visit& visit) {
    std::vector<const Objects*> open;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (without != i) open.push_back(&ranges[i]);
    }
    if (std::any_of(open.begin(), open.end(), [](const Objects* range) { return range->empty(); })) return;
    std::vector<std::size_t> at(open.size(), 0);
    while (!is_full()) {
      Objects objects;
      for (std::size_t i = 0; i < open.size(); ++i) objects.push_back((*open[i])[at[i]]);
      visit(std::move(objects));
      std::size_t i = open.size();
      while (i > 0 && ++at[i - 1] == open[i - 1]->size()) at[--i] = 0;
      if (i == 0) return;
    }
  }

  // --- kinds ---------------------------------------------------------------------------------------------------------

  void add_facts() {
    std::size_t typed = 0;
    for (const Predicate& predicate : predicates_) {
      if (!predicate.changes) continue;
      std::size_t count = 1;
      for (const Objects& range : predicate.ranges) count = std::min(count * range.size(), max_items_ + 1);
      typed += count;
    }
    const bool all = 2 * typed <= max_items_;
    for (const pddl::PredicateId id : ast_.predicates.all()) {
      if (!predicates_[index(id)].changes) continue;
      std::vector<Fact> facts;
      if (all) {
        choose(predicates_[index(id)].ranges, {}, [&](Objects objects) {
          const auto known = reached_.find({id, objects});
          facts.push_back(known == reached_.end() ? Fact{id, std::move(objects), false, false, true} : known->second);
        });
      } else {
        const auto first = reached_.lower_bound({id, {}});
        for (auto i = first; i != reached_.end() && i->first.first == id; ++i) facts.push_back(i->second);
      }
      add_facts_of(id, facts);
    }
  }

  void add_facts_of(pddl::PredicateId id, const std::vector<Fact>& facts) {
    const std::uint32_t yes = shape(Kind::kFact, name(id), atom_parts(id, {}), spoken_parts(id, {}));
    const auto first = out_.items_.size();
    for (const Fact& fact : facts) add(yes, fact.objects, !fact.reached, fact.init);
    std::vector<std::string> parts = atom_parts(id, {});
    surround(parts, "(not ", ")");
    std::vector<std::string> words = spoken_parts(id, {});
    surround(words, "not: ", "");
    const std::uint32_t no = shape(Kind::kNot, name(id), std::move(parts), std::move(words));
    for (std::size_t i = 0; i < facts.size(); ++i) {
      // What can never be true need not be asked to be false.
      if (!facts[i].reached) continue;
      const ActionId negative = add(no, facts[i].objects, !facts[i].can_end, !facts[i].init);
      const ActionId positive{static_cast<std::uint32_t>(first + i)};
      out_.items_[negative].opposite = positive;
      out_.items_[positive].opposite = negative;
    }
    for (const Fact& fact : facts) {
      if (fact.reached) facts_.push_back(fact);
    }
  }

  void quantify() {
    for (const pddl::PredicateId id : ast_.predicates.all()) {
      const Predicate& predicate = predicates_[index(id)];
      if (!predicate.changes) continue;
      for (std::size_t bound = 0; bound < predicate.ranges.size(); ++bound) {
        for (const Class& one : classes_) {
          if (is_full()) return;
          const Objects& range = predicate.ranges[bound];
          if (!std::includes(range.begin(), range.end(), one.members.begin(), one.members.end())) continue;
          quantify(id, bound, one);
        }
      }
    }
  }

  void quantify(pddl::PredicateId id, std::size_t bound, const Class& one) {
    const std::vector<Objects>& ranges = predicates_[index(id)].ranges;
    const auto add_form = [&](Kind kind, const std::string& open, const std::string& close, const std::string& said) {
      std::vector<std::string> parts = atom_parts(id, bound);
      surround(parts, open, close);
      std::vector<std::string> words = spoken_parts(id, bound);
      surround(words, said, "");
      const std::uint32_t form = shape(kind, name(id), std::move(parts), std::move(words));
      out_.shapes_.back().quantified = one.name;
      choose(ranges, bound, [&](Objects objects) { add(form, std::move(objects)); });
    };
    const std::string all = str_cat("(forall ", one.binder, " ", one.before);
    const std::string some = str_cat(one.binder, " ", one.within);
    add_form(Kind::kAll, all, one.after + ")", str_cat("every ", spoken(one.name), ": "));
    add_form(Kind::kNone, all + "(not ", ")" + one.after + ")", str_cat("no ", spoken(one.name), ": "));
    add_form(Kind::kSome, "(exists " + some, one.after + ")", str_cat("some ", spoken(one.name), ": "));
    for (std::uint32_t n = 2; n <= kMostCounted && n < one.members.size(); ++n) {
      add_form(Kind::kAtLeast, str_cat("(forn (", n, ") ", some), one.after + ")",
               str_cat("at least ", n, " of ", spoken(one.name), ": "));
    }
  }

  // Throughout: what is so at the start; or what may never come about. At some time: anything.
  void add_on_the_way() {
    std::map<pddl::PredicateId, std::vector<const Fact*>> by_predicate;
    for (const Fact& fact : facts_) by_predicate[fact.predicate].push_back(&fact);
    for (const auto& [id, facts] : by_predicate) {
      const auto form = [&, id = id](Kind kind, const char* open, const char* close, const char* said) {
        std::vector<std::string> parts = atom_parts(id, {});
        surround(parts, open, close);
        std::vector<std::string> words = spoken_parts(id, {});
        surround(words, said, "");
        return shape(kind, name(id), std::move(parts), std::move(words));
      };
      const std::uint32_t always = form(Kind::kAlways, "(always ", ")", "always: ");
      const std::uint32_t never = form(Kind::kAlways, "(always (not ", "))", "never: ");
      const std::uint32_t sometime = form(Kind::kSometime, "(sometime ", ")", "at some time: ");
      for (const Fact* fact : facts) {
        if (is_full()) return;
        add(fact->init ? always : never, fact->objects);
        if (!fact->init) add(sometime, fact->objects);
      }
    }
  }

  // (or (at sample lab) (at sample ward)): the same but for one argument.
  void add_either() {
    for (const pddl::PredicateId id : ast_.predicates.all()) {
      std::vector<const Fact*> facts;
      for (const Fact& fact : facts_) {
        if (fact.predicate == id) facts.push_back(&fact);
      }
      if (facts.size() < 2) continue;
      const std::uint32_t form = shape_of_two(Kind::kEither, id, id, "(or ", "either ", " or ");
      for (std::size_t i = 0; i < facts.size(); ++i) {
        for (std::size_t j = i + 1; j < facts.size(); ++j) {
          if (is_full()) return;
          if (differences(facts[i]->objects, facts[j]->objects) == 1) add_two(form, *facts[i], *facts[j]);
        }
      }
    }
  }

  // (sometime-before (cut bread) (washed bread)): the second comes first.
  void add_before() {
    if (facts_.size() * facts_.size() > max_items_) {
      full_ = true;
      return;
    }
    std::map<std::pair<pddl::PredicateId, pddl::PredicateId>, std::uint32_t> forms;
    std::map<std::uint32_t, std::vector<std::pair<const Fact*, const Fact*>>> pairs;
    for (const Fact& later : facts_) {
      if (later.init) continue;  // too late from the start
      for (const Fact& earlier : facts_) {
        if (&later == &earlier || is_full()) continue;
        const auto [form, is_new] = forms.try_emplace({later.predicate, earlier.predicate}, 0);
        if (is_new) {
          form->second = shape_of_two(Kind::kBefore, later.predicate, earlier.predicate, "(sometime-before ", "before ",
                                      ": first ");
        }
        pairs[form->second].emplace_back(&later, &earlier);
      }
    }
    for (const auto& [form, all] : pairs) {
      for (const auto& [later, earlier] : all) {
        if (is_full()) return;
        add_two(form, *later, *earlier);
      }
    }
  }

  std::uint32_t shape_of_two(Kind kind, pddl::PredicateId first, pddl::PredicateId second, const char* open,
                             const char* said, const char* between) {
    return shape(kind, name(first) + " " + name(second),
                 joined(atom_parts(first, {}), atom_parts(second, {}), open, " ", ")"),
                 joined(spoken_parts(first, {}), spoken_parts(second, {}), said, between, ""));
  }
  static std::vector<std::string> joined(std::vector<std::string> first, std::vector<std::string> second,
                                         const char* open, const char* between, const char* close) {
    surround(first, open, between);
    surround(second, "", close);
    first.back() += second.front();
    first.insert(first.end(), second.begin() + 1, second.end());
    return first;
  }
  void add_two(std::uint32_t form, const Fact& first, const Fact& second) {
    Objects objects = first.objects;
    objects.insert(objects.end(), second.objects.begin(), second.objects.end());
    add(form, std::move(objects));
  }
  static std::size_t differences(const Objects& a, const Objects& b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
    return count;
  }

  // --- the task that spells them -------------------------------------------------------------------------------------

  void finish() {
    task::Definition definition;
    definition.name = "goal";
    for (const std::string& object : out_.objects_) definition.objects.push_back(object);
    PlanFormat& format = out_.format_;
    format.name = "goal";
    format.open = "(and ";
    format.close = ")";
    format.separators = {" "};
    format.empty = "(and)";
    for (std::size_t i = 0; i < out_.shapes_.size(); ++i) {
      const ItemSet::Shape& shape = out_.shapes_[i];
      const std::string name = str_cat("shape", i);
      definition.action_names.push_back({name, static_cast<std::uint32_t>(shape.parts.size() - 1)});
      std::string item = plain(shape.parts[0]);
      for (std::size_t k = 1; k < shape.parts.size(); ++k) item += str_cat("{", k, "}") + plain(shape.parts[k]);
      format.items[name] = std::move(item);
    }
    for (const ItemSet::Item& item : out_.items_) {
      task::ActionDefinition action;
      action.symbol = {to_id<ActionNameId>(item.shape), item.objects};
      action.precondition = task::Formula::constant(true);
      definition.actions.push_back(std::move(action));
    }
    out_.task_.emplace(task::compile(std::move(definition), meter_), nullptr);
  }

  const pddl::Ast& ast_;
  const task::Definition& definition_;
  std::size_t max_items_;
  internal::Meter& meter_;
  ItemSet& out_;
  std::vector<Predicate> predicates_;
  std::vector<Class> classes_;
  std::map<std::pair<pddl::PredicateId, Objects>, Fact> reached_;
  std::vector<Fact> facts_;  // that can be reached, of predicates that change
  bool full_ = false;
};

ItemSet::ItemSet(const pddl::Ast& ast, const task::Definition& definition, std::size_t max_items,
                 internal::Meter& meter) {
  ItemBuilder(ast, definition, max_items, meter, *this).run();
}

std::string ItemSet::text(ActionId id) const {
  const Item& item = items_[id];
  const Shape& shape = shapes_[item.shape];
  std::string out = shape.parts[0];
  for (std::size_t i = 1; i < shape.parts.size(); ++i) out += objects_[index(item.objects[i - 1])] + shape.parts[i];
  return out;
}

std::string ItemSet::words(ActionId id) const {
  const Item& item = items_[id];
  const Shape& shape = shapes_[item.shape];
  std::string out = shape.word_parts[0];
  for (std::size_t i = 1; i < shape.word_parts.size(); ++i) {
    out += objects_[index(item.objects[i - 1])] + shape.word_parts[i];
  }
  return out;
}

}  // namespace metactrl::goals
