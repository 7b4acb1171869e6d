// Conditions come in shapes: a text with holes, "(not (open " _ "))". What fills the holes are objects of the right types,
// counted before they are listed, so that a kind that is too large costs nothing.
// Facts come first, of which everything else is made; each further kind of conditions is there as a whole, or left out.
#include "goals/items.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "goals/shape_text.h"
#include "goals/subjects.h"
#include "support/str_cat.h"
#include "support/words.h"
#include "task/compile.h"

namespace metactrl::goals {

using internal::index;
using internal::str_cat;
using internal::to_id;

namespace {

// "At least so many". What people speak of are mostly few, and many are the first to go where there are too many conditions.
constexpr std::uint32_t kFew = 4;
constexpr std::uint32_t kMostCounted = 10;

// In a template of a format a brace must not open a field.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '{' ? std::string("{{") : std::string(1, c);
  return out;
}

}  // namespace

class ItemBuilder {
 public:
  ItemBuilder(const pddl::Ast& ast, const task::Definition& definition, const ItemSet::Options& options,
              internal::Meter& meter, ItemSet& out)
      : ast_(ast), options_(options), meter_(meter), out_(out), subjects_(find_subjects(ast, definition, meter)) {}

  void run() {
    for (const pddl::Object& object : ast_.objects) out_.objects_.push_back(object.name);
    out_.deeds_ = subjects_.deeds;
    for (const Class& one : subjects_.classes) out_.classes_.push_back({one.name, one.members});
    add_facts();
    add_kind("all, none and some of a kind", [this] {
      quantify(
          [this](pddl::PredicateId id, std::size_t bound, const Class& one) { add_all_none_some(id, bound, one); });
    });
    add_kind("at least two, three or four of a kind", [this] {
      quantify(
          [this](pddl::PredicateId id, std::size_t bound, const Class& one) { add_at_least(2, kFew, id, bound, one); });
    });
    add_kind(options_.may_look_back ? "what must hold throughout or at some time" : "what must hold throughout",
             [this] { add_on_the_way(); });
    if (!options_.may_look_back) out_.left_out_.emplace_back("what must hold at some time");
    add_kind("what must hold throughout of all or none of a kind", [this] {
      quantify([this](pddl::PredicateId id, std::size_t bound, const Class& one) { add_always(id, bound, one); });
    });
    add_kind("one of two facts", [this] { add_either(); });
    add_kind("one thing before another", [this] { add_before(); });
    add_kind("at most and exactly so many of a kind", [this] {
      quantify(
          [this](pddl::PredicateId id, std::size_t bound, const Class& one) { add_at_most(1, kFew, id, bound, one); });
    });
    add_kind("one of two different things", [this] { add_either_of_different(); });
    add_kind("at least five or more of a kind", [this] {
      quantify([this](pddl::PredicateId id, std::size_t bound, const Class& one) {
        add_at_least(kFew + 1, kMostCounted, id, bound, one);
      });
    });
    add_kind("at most and exactly five or more of a kind", [this] {
      quantify([this](pddl::PredicateId id, std::size_t bound, const Class& one) {
        add_at_most(kFew + 1, kMostCounted - 1, id, bound, one);
      });
    });
    finish();
  }

 private:
  using Kind = ItemSet::Kind;
  using Objects = Subjects::Objects;
  using Class = Subjects::Class;
  struct Fact : Subjects::Fact {
    ActionId item{};  // that asks for it
  };

  // --- shapes --------------------------------------------------------------------------------------------------------

  std::uint32_t shape(Kind kind, std::vector<ItemSet::Part> about, std::vector<std::string> parts,
                      std::vector<std::string> word_parts) {
    std::vector<std::string> names;
    for (ItemSet::Part& part : about) {
      names.push_back(name(part.predicate));
      part.holes = subjects_.predicates[index(part.predicate)].ranges.size() - (part.bound ? 1 : 0);
    }
    out_.shapes_.push_back({std::move(parts), std::move(word_parts), kind, internal::join(names, " ")});
    out_.shapes_.back().about = std::move(about);
    return static_cast<std::uint32_t>(out_.shapes_.size() - 1);
  }

  const std::string& name(pddl::PredicateId id) const { return ast_.predicates[id].name; }

  ActionId add(std::uint32_t shape, Objects objects, bool impossible = false, bool holds_already = false) {
    meter_.piece();
    out_.items_.push_back({shape, std::move(objects), impossible, holds_already});
    return ActionId{static_cast<std::uint32_t>(out_.items_.size() - 1)};
  }

  // A kind as a whole, or nothing of it.
  void add_kind(const std::string& name, const std::function<void()>& add_all) {
    const std::size_t shapes = out_.shapes_.size();
    const std::size_t items = out_.items_.size();
    full_ = false;
    add_all();
    if (!is_full()) return;
    out_.shapes_.resize(shapes);
    while (out_.items_.size() > items) out_.items_.pop_back();
    out_.left_out_.push_back(name);
  }
  bool is_full() {
    full_ = full_ || out_.items_.size() > options_.max_items;
    return full_;
  }

  // Beside actions that take time no constraint is about what is derived.
  bool may_constrain(pddl::PredicateId id) const { return !ast_.has_durations || !ast_.predicates[id].derived; }

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
    for (const Subjects::Predicate& predicate : subjects_.predicates) {
      if (!predicate.changes) continue;
      std::size_t count = 1;
      for (const Objects& range : predicate.ranges) count = std::min(count * range.size(), options_.max_items + 1);
      typed += count;
    }
    const bool all = 2 * typed <= options_.max_items;
    for (const pddl::PredicateId id : ast_.predicates.all()) {
      if (!subjects_.predicates[index(id)].changes) continue;
      std::vector<Subjects::Fact> facts;
      if (all) {
        choose(subjects_.predicates[index(id)].ranges, {}, [&](Objects objects) {
          const auto known = subjects_.reached.find({id, objects});
          facts.push_back(known == subjects_.reached.end() ? Subjects::Fact{id, std::move(objects), false, false, true}
                                                           : known->second);
        });
      } else {
        const auto first = subjects_.reached.lower_bound({id, {}});
        for (auto i = first; i != subjects_.reached.end() && i->first.first == id; ++i) facts.push_back(i->second);
      }
      add_facts_of(id, facts);
    }
  }

  void add_facts_of(pddl::PredicateId id, const std::vector<Subjects::Fact>& facts) {
    const std::uint32_t yes =
        shape(Kind::kFact, {{id, {}, true}}, atom_parts(ast_, id, {}), spoken_parts(ast_, id, {}));
    const auto first = out_.items_.size();
    for (const Subjects::Fact& fact : facts) add(yes, fact.objects, !fact.reached, fact.init);
    std::vector<std::string> parts = atom_parts(ast_, id, {});
    surround(parts, "(not ", ")");
    std::vector<std::string> words = spoken_parts(ast_, id, {});
    surround(words, "not: ", "");
    const std::uint32_t no = shape(Kind::kNot, {{id, {}, false}}, std::move(parts), std::move(words));
    for (std::size_t i = 0; i < facts.size(); ++i) {
      // What can never be true need not be asked to be false.
      if (!facts[i].reached) continue;
      const ActionId negative = add(no, facts[i].objects, !facts[i].can_end, !facts[i].init);
      const ActionId positive{static_cast<std::uint32_t>(first + i)};
      out_.items_[negative].opposite = positive;
      out_.items_[positive].opposite = negative;
    }
    for (std::size_t i = 0; i < facts.size(); ++i) {
      if (!facts[i].reached) continue;
      facts_.push_back({facts[i], ActionId{static_cast<std::uint32_t>(first + i)}});
    }
  }

  // Calls add(predicate, argument, class) for all arguments that a class of objects may take the place of.
  template <typename Add>
  void quantify(const Add& add) {
    for (const pddl::PredicateId id : ast_.predicates.all()) {
      const Subjects::Predicate& predicate = subjects_.predicates[index(id)];
      if (!predicate.changes) continue;
      for (std::size_t bound = 0; bound < predicate.ranges.size(); ++bound) {
        for (const Class& one : subjects_.classes) {
          if (is_full()) return;
          const Objects& range = predicate.ranges[bound];
          if (!std::includes(range.begin(), range.end(), one.members.begin(), one.members.end())) continue;
          add(id, bound, one);
        }
      }
    }
  }

  void add_all_none_some(pddl::PredicateId id, std::size_t bound, const Class& one) {
    const std::string all = str_cat("(forall ", one.binder, " ", one.before);
    const std::string some = str_cat("(exists ", one.binder, " ", one.within);
    add_quantified(Kind::kAll, id, bound, one, {all, one.after + ")", str_cat("every ", spoken(one.name), ": ")});
    add_quantified(Kind::kNone, id, bound, one,
                   {all + "(not ", ")" + one.after + ")", str_cat("no ", spoken(one.name), ": ")});
    add_quantified(Kind::kSome, id, bound, one, {some, one.after + ")", str_cat("some ", spoken(one.name), ": ")});
  }

  // All of two are at least two: who says the number means it. What people speak of is there although there are not so many,
  // so that it can be told.
  void add_at_least(std::uint32_t least, std::uint32_t most, pddl::PredicateId id, std::size_t bound,
                    const Class& one) {
    for (std::uint32_t n = least; n <= most && (n <= kFew || n <= one.members.size()); ++n) {
      add_quantified(Kind::kAtLeast, id, bound, one,
                     {str_cat("(forn (", n, ") ", one.binder, " ", one.within), one.after + ")",
                      str_cat("at least ", n, " of ", spoken(one.name), ": "), n});
    }
  }

  // Not more than n; exactly n, which is both. Of all of them "at most" would say nothing.
  void add_at_most(std::uint32_t least, std::uint32_t most, pddl::PredicateId id, std::size_t bound, const Class& one) {
    const auto at_least = [&](std::uint32_t n) {
      return n == 1 ? str_cat("(exists ", one.binder, " ", one.within)
                    : str_cat("(forn (", n, ") ", one.binder, " ", one.within);
    };
    for (std::uint32_t n = least; n <= most && n < one.members.size(); ++n) {
      const std::string more = "(not " + at_least(n + 1);
      add_quantified(Kind::kAtMost, id, bound, one,
                     {more, one.after + "))", str_cat("at most ", n, " of ", spoken(one.name), ": "), n});
      std::vector<std::string> middle = atom_parts(ast_, id, bound);
      surround(middle, str_cat("(and ", at_least(n)), str_cat(one.after, ") ", more));
      add_quantified(Kind::kExactly, id, bound, one,
                     {"", one.after + ")))", str_cat("exactly ", n, " of ", spoken(one.name), ": "), n, middle});
    }
  }

  struct Around {
    std::string open;
    std::string close;
    std::string said;
    std::uint32_t count = 0;
    std::vector<std::string> before = {};  // with the same holes
  };
  void add_quantified(Kind kind, pddl::PredicateId id, std::size_t bound, const Class& one, const Around& around) {
    std::vector<std::string> parts = atom_parts(ast_, id, bound);
    surround(parts, around.open, around.close);
    if (!around.before.empty()) parts = joined(around.before, std::move(parts), "", "", "");
    std::vector<std::string> words = spoken_parts(ast_, id, bound);
    surround(words, around.said, "");
    const std::uint32_t form = shape(kind, {{id, bound, kind != Kind::kNone}}, std::move(parts), std::move(words));
    out_.shapes_.back().quantified = one.name;
    out_.shapes_.back().count = around.count;
    const bool limits = kind == Kind::kNone || kind == Kind::kAtMost;
    const std::size_t least = kind == Kind::kAll ? one.members.size() : kind == Kind::kSome ? 1 : around.count;
    choose(subjects_.predicates[index(id)].ranges, bound, [&](Objects objects) {
      const std::size_t reached = subjects_.count_of(id, bound, one, objects).reached;
      if (limits && reached == 0) return;
      add(form, std::move(objects), !limits && reached < least);
    });
  }

  // "Never enter any bedroom", where the robot is in none; "keep all doors locked", where they are.
  void add_always(pddl::PredicateId id, std::size_t bound, const Class& one) {
    if (!may_constrain(id)) return;
    const std::string all = str_cat("(always (forall ", one.binder, " ", one.before);
    const auto form = [&](bool never) {
      std::vector<std::string> parts = atom_parts(ast_, id, bound);
      surround(parts, never ? all + "(not " : all, (never ? ")" : "") + one.after + "))");
      std::vector<std::string> words = spoken_parts(ast_, id, bound);
      surround(words, str_cat(never ? "never any " : "always every ", spoken(one.name), ": "), "");
      const std::uint32_t out = shape(Kind::kAlways, {{id, bound, never}}, std::move(parts), std::move(words));
      out_.shapes_.back().quantified = one.name;
      return out;
    };
    const std::uint32_t never = form(true);
    const std::uint32_t always = form(false);
    choose(subjects_.predicates[index(id)].ranges, bound, [&](Objects objects) {
      const Subjects::Count count = subjects_.count_of(id, bound, one, objects);
      if (count.reached == 0) return;
      if (count.init == 0) {
        add(never, std::move(objects));
      } else if (count.init == one.members.size()) {
        add(always, std::move(objects));
      }
    });
  }

  // Throughout: what is so at the start; or what may never come about. At some time: anything.
  void add_on_the_way() {
    std::map<pddl::PredicateId, std::vector<const Fact*>> by_predicate;
    for (const Fact& fact : facts_) by_predicate[fact.predicate].push_back(&fact);
    for (const auto& [id, facts] : by_predicate) {
      if (!may_constrain(id)) continue;
      const auto form = [&, id = id](Kind kind, bool adds, const char* open, const char* close, const char* said) {
        std::vector<std::string> parts = atom_parts(ast_, id, {});
        surround(parts, open, close);
        std::vector<std::string> words = spoken_parts(ast_, id, {});
        surround(words, said, "");
        return shape(kind, {{id, {}, adds}}, std::move(parts), std::move(words));
      };
      const std::uint32_t always = form(Kind::kAlways, false, "(always ", ")", "always: ");
      const std::uint32_t never = form(Kind::kAlways, true, "(always (not ", "))", "never: ");
      const std::uint32_t sometime = form(Kind::kSometime, true, "(sometime ", ")", "at some time: ");
      for (const Fact* fact : facts) {
        if (is_full()) return;
        add(fact->init ? always : never, fact->objects);
        if (!fact->init && options_.may_look_back) add(sometime, fact->objects);
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

  // (or (locked lab_door) (not (open window))): two things that actions can bring about, and that are not so yet.
  void add_either_of_different() {
    std::vector<const Fact*> open;
    for (const Fact& fact : facts_) {
      if (!fact.init || fact.can_end) open.push_back(&fact);
    }
    if (open.size() * (open.size() - 1) / 2 + out_.items_.size() > options_.max_items) {
      full_ = true;
      return;
    }
    struct Literal {
      pddl::PredicateId predicate{};
      bool positive = true;
      auto operator<=>(const Literal&) const = default;
    };
    const auto literal = [](const Fact& fact) { return Literal{fact.predicate, !fact.init}; };
    const auto of = [this](const Literal& one) {
      std::vector<std::string> parts = atom_parts(ast_, one.predicate, {});
      if (!one.positive) surround(parts, "(not ", ")");
      std::vector<std::string> words = spoken_parts(ast_, one.predicate, {});
      if (!one.positive) surround(words, "not: ", "");
      return std::pair{parts, words};
    };
    std::map<std::pair<Literal, Literal>, std::vector<std::pair<const Fact*, const Fact*>>> pairs;
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (std::size_t j = i + 1; j < open.size(); ++j) {
        const Fact& first = *open[i];
        const Fact& second = *open[j];
        const bool same = first.predicate == second.predicate && !first.init && !second.init;
        if (same && differences(first.objects, second.objects) == 1) continue;  // add_either
        pairs[{literal(first), literal(second)}].emplace_back(&first, &second);
      }
    }
    for (const auto& [kind, all] : pairs) {
      const auto& [first, second] = kind;
      const std::uint32_t form =
          shape(Kind::kEither, {{first.predicate, {}, first.positive}, {second.predicate, {}, second.positive}},
                joined(of(first).first, of(second).first, "(or ", " ", ")"),
                joined(of(first).second, of(second).second, "either ", " or ", ""));
      for (const auto& [one, other] : all) {
        const ActionId item = add_two(form, *one, *other);
        for (const Fact* fact : {one, other}) {
          out_.items_[item].choices.push_back(fact->init ? out_.items_[fact->item].opposite.value() : fact->item);
        }
      }
    }
  }

  // (sometime-before (cut bread) (washed bread)): the second comes first.
  void add_before() {
    if (!options_.may_look_back || facts_.size() * facts_.size() > options_.max_items) {
      full_ = true;
      return;
    }
    std::map<std::pair<pddl::PredicateId, pddl::PredicateId>, std::uint32_t> forms;
    std::map<std::uint32_t, std::vector<std::pair<const Fact*, const Fact*>>> pairs;
    for (const Fact& later : facts_) {
      if (later.init || !may_constrain(later.predicate)) continue;  // too late from the start
      for (const Fact& earlier : facts_) {
        if (&later == &earlier || !may_constrain(earlier.predicate) || is_full()) continue;
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
        const ActionId item = add_two(form, *later, *earlier);
        out_.items_[item].later = later->item;
        out_.items_[item].earlier = earlier->item;
      }
    }
  }

  std::uint32_t shape_of_two(Kind kind, pddl::PredicateId first, pddl::PredicateId second, const char* open,
                             const char* said, const char* between) {
    return shape(kind, {{first, {}, true}, {second, {}, true}},
                 joined(atom_parts(ast_, first, {}), atom_parts(ast_, second, {}), open, " ", ")"),
                 joined(spoken_parts(ast_, first, {}), spoken_parts(ast_, second, {}), said, between, ""));
  }
  ActionId add_two(std::uint32_t form, const Fact& first, const Fact& second) {
    Objects objects = first.objects;
    objects.insert(objects.end(), second.objects.begin(), second.objects.end());
    return add(form, std::move(objects));
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
      const std::size_t objects = shape.num_objects();
      definition.action_names.push_back({name, static_cast<std::uint32_t>(objects)});
      std::string item = plain(shape.parts[0]);
      for (std::size_t k = 1; k < shape.parts.size(); ++k) {
        item += str_cat("{", (k - 1) % objects + 1, "}") + plain(shape.parts[k]);
      }
      format.items[name] = std::move(item);
    }
    for (const ItemSet::Item& item : out_.items_) {
      task::ActionDefinition action;
      action.symbol = {to_id<ActionNameId>(item.shape), item.objects};
      action.precondition = task::Formula::constant(true);
      definition.actions.push_back(action);
    }
    out_.task_.emplace(task::compile(std::move(definition), meter_), nullptr);
  }

  const pddl::Ast& ast_;
  const ItemSet::Options& options_;
  internal::Meter& meter_;
  ItemSet& out_;
  const Subjects subjects_;
  std::vector<Fact> facts_;  // that can be reached, of predicates that change
  bool full_ = false;
};

ItemSet::ItemSet(const pddl::Ast& ast, const task::Definition& definition, const Options& options,
                 internal::Meter& meter) {
  ItemBuilder(ast, definition, options, meter, *this).run();
}

bool ItemSet::is_about(const Deed& deed, const Item& item, bool contrary) const {
  std::size_t first = 0;
  for (const Part& part : shapes_[item.shape].about) {
    bool fits = part.predicate == deed.predicate && (part.adds == deed.adds) != contrary;
    std::size_t hole = first;
    for (std::size_t i = 0; fits && i < deed.ranges.size(); ++i) {
      if (part.bound == i) continue;
      fits = std::binary_search(deed.ranges[i].begin(), deed.ranges[i].end(), item.objects[hole++]);
    }
    if (fits) return true;
    first += part.holes;
  }
  return false;
}

std::string ItemSet::text(ActionId id) const {
  const Item& item = items_[id];
  const Shape& shape = shapes_[item.shape];
  std::string out = shape.parts[0];
  for (std::size_t i = 1; i < shape.parts.size(); ++i) {
    out += objects_[index(item.objects[(i - 1) % item.objects.size()])] + shape.parts[i];
  }
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
