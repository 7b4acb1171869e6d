// Tasks for the table of a trained surrogate (lookahead/hmm_table.h): random small ones with brute force over all their
// plans, and a family of large ones. Without GoogleTest.
#ifndef METACTRL_TESTS_SUPPORT_HMM_TABLE_CASE_H_
#define METACTRL_TESTS_SUPPORT_HMM_TABLE_CASE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lookahead/space.h"
#include "lookahead/surrogate.h"
#include "metactrl/hmm.h"
#include "support/id_list.h"
#include "support/naive_hmm.h"
#include "support/random_definition.h"
#include "task/compile.h"

namespace metactrl::testing {

// Actions with shared names and 0 to 3 arguments, so that their letters form tries of different depths.
inline task::Definition task_with_tries(std::uint64_t seed) {
  task::Definition definition = random_definition(seed);
  definition.objects = {"o0", "o1", "o2"};
  definition.action_names.clear();
  for (const ActionId id : definition.actions.all()) {
    const std::uint32_t a = internal::index(id);
    const std::uint32_t name = a / 4;
    const std::uint32_t arity = (name + static_cast<std::uint32_t>(seed)) % 4;
    if (definition.action_names.size() <= name) {
      std::string text = "n";
      definition.action_names.push_back({text += std::to_string(name), arity});
    }
    definition.actions.change(id, [&](task::ActionDefinition& action) {
      action.symbol = {ActionNameId{name}, {}};
      for (std::uint32_t i = 0; i < arity; ++i) action.symbol.arguments.push_back(ObjectId{(a >> i) % 3});
    });
  }
  return definition;
}

inline std::vector<std::string> action_names(const task::Definition& definition) {
  std::vector<std::string> names;
  for (const task::ActionName& name : definition.action_names) names.push_back(name.name);
  return names;
}

// A model that knows all action names and objects, or leaves some of both to UNK.
inline Hmm hmm_for(const task::Definition& definition, std::size_t hidden, std::uint64_t seed) {
  std::vector<std::string> names = action_names(definition);
  for (std::uint64_t unknown = seed % 3; unknown > 0 && names.size() > 1; --unknown) names.pop_back();
  return Hmm::random(Alphabet::meta(names, seed % 2 == 0 ? definition.objects.size() : 1), hidden, seed);
}

// How a model's symbols spell actions, and the probability of what they spell, walk by walk.
class PlainSurrogate {
 public:
  PlainSurrogate(const task::Definition& definition, const Hmm& hmm)
      : definition_(&definition), alphabet_(hmm.alphabet()), naive_(hmm) {}

  struct Text {
    std::vector<SymbolId> symbols;
    double share = 1;  // what several unknown ones get of UNK, multiplied
  };
  void spell(ActionId action, Text& text) const {
    const task::ActionSymbol symbol = definition_->actions.symbol(action);
    text.symbols.push_back(alphabet_.action(definition_->action_names[symbol.name].name));
    if (text.symbols.back() == alphabet_.unknown()) text.share /= unknown_names();
    for (const ObjectId object : symbol.arguments) {
      text.symbols.push_back(alphabet_.slot(taken_before(object)));
      if (text.symbols.back() == alphabet_.unknown()) {
        text.share /= static_cast<double>(taken_before(definition_->objects.next_id()) - alphabet_.num_slots);
      }
    }
  }
  // p(a plan begins like this)
  double begins(const Text& text) const { return text.share * naive_.probability(text.symbols); }
  // p(this is the whole plan)
  double ends(Text text) const {
    text.symbols.push_back(alphabet_.end);
    return begins(text);
  }

 private:
  // How many objects before this one are some action's argument.
  std::size_t taken_before(ObjectId object) const {
    std::set<ObjectId> taken;
    for (const ActionId action : definition_->actions.all()) {
      for (const ObjectId argument : definition_->actions.arguments(action)) {
        if (argument < object) taken.insert(argument);
      }
    }
    return taken.size();
  }
  double unknown_names() const {
    return static_cast<double>(
        std::count_if(definition_->action_names.begin(), definition_->action_names.end(),
                      [this](const auto& name) { return alphabet_.action(name.name) == alphabet_.unknown(); }));
  }

  const task::Definition* definition_;
  Alphabet alphabet_;
  NaiveHmm naive_;
};

// A task with its space and a model.
struct HmmTableCase {
  HmmTableCase(task::Definition definition, std::size_t hidden, std::uint64_t seed)
      : program(task::compile(std::move(definition))),
        hmm(hmm_for(program->definition(), hidden, seed)),
        plain(program->definition(), hmm),
        surrogate(*program, hmm) {
    lookahead::SpaceResult result = lookahead::Space::enumerate(*program, Budget{});
    space.emplace(*std::move(result.space));
  }

  // p(the text so far, then some plan from `state` to the goal of at most `left` actions, then the end)
  double plans(lookahead::StateId state, unsigned left, const PlainSurrogate::Text& so_far) const {
    double sum = space->is_goal(state) ? plain.ends(so_far) : 0;
    for (std::size_t e = 0; left > 0 && e < space->targets(state).size(); ++e) {
      PlainSurrogate::Text longer = so_far;
      plain.spell(space->actions(state)[e], longer);
      sum += plans(space->targets(state)[e], left - 1, longer);
    }
    return sum;
  }

  std::shared_ptr<const task::Program> program;
  Hmm hmm;
  PlainSurrogate plain;
  lookahead::Surrogate surrogate;
  std::optional<lookahead::Space> space;
};

// Lamps that must all be on, and a place that must be the first, with the bell rung: 2^(lamps + 1) * places states, in
// all of which `(on l)`, `(off l)`, `(go p q)` and `(ring)` are possible or not; with `trade` also `(trade p l m)`,
// which switches off l and on m, the only one with three arguments. All start in the last place with every other lamp
// on.
inline task::Definition lamps(std::uint32_t num_lamps, std::uint32_t num_places, bool trade) {
  using task::FactId;
  using task::Formula;
  task::Definition d;
  d.name = "lamps";
  d.predicate_names = {"lit", "at", "rung"};
  d.action_names = {{"on", 1}, {"off", 1}, {"go", 2}, {"ring", 0}, {"trade", 3}};
  for (std::uint32_t i = 0; i < num_lamps; ++i) d.objects.push_back("l" + std::to_string(i));
  for (std::uint32_t i = 0; i < num_places; ++i) d.objects.push_back("p" + std::to_string(i));
  const auto fact = [&d](std::uint32_t name, const std::vector<std::uint32_t>& arguments, bool init) {
    d.facts.push_back({task::PredicateId{name}, id_list<ObjectId>(arguments)});
    d.fact_layer.push_back(-1);
    d.init.push_back(init);
  };
  for (std::uint32_t i = 0; i < num_lamps; ++i) fact(0, {i}, i % 2 == 1);
  for (std::uint32_t i = 0; i < num_places; ++i) fact(1, {num_lamps + i}, i + 1 == num_places);
  fact(2, {}, false);
  const auto lit = [](std::uint32_t lamp, bool negated) { return Formula::literal(FactId{lamp}, negated); };
  const auto at = [&](std::uint32_t place) { return Formula::literal(FactId{num_lamps + place}, false); };
  const std::uint32_t rung = num_lamps + num_places;
  const auto action = [&d](std::uint32_t name, const std::vector<std::uint32_t>& arguments, Formula when,
                           const std::vector<std::uint32_t>& add, const std::vector<std::uint32_t>& del) {
    d.actions.push_back({{ActionNameId{name}, id_list<ObjectId>(arguments)},
                         std::move(when),
                         {{Formula::constant(true), id_list<FactId>(add), id_list<FactId>(del)}},
                         1});
  };
  for (std::uint32_t i = 0; i < num_lamps; ++i) action(0, {i}, lit(i, true), {i}, {});
  for (std::uint32_t i = 0; i < num_lamps; ++i) action(1, {i}, lit(i, false), {}, {i});
  for (std::uint32_t p = 0; p < num_places; ++p) {
    for (std::uint32_t q = 0; q < num_places; ++q) {
      if (p != q) action(2, {num_lamps + p, num_lamps + q}, at(p), {num_lamps + q}, {num_lamps + p});
    }
  }
  action(3, {}, Formula::literal(FactId{rung}, true), {rung}, {});
  for (std::uint32_t p = 0; trade && p < num_places; ++p) {
    for (std::uint32_t i = 0; i < num_lamps; ++i) {
      for (std::uint32_t j = 0; j < num_lamps; ++j) {
        if (i != j) {
          action(4, {num_lamps + p, i, j}, task::make_and({at(p), lit(i, false), lit(j, true)}), {j}, {i});
        }
      }
    }
  }
  for (std::uint32_t i = 0; i < num_lamps; ++i) d.goals.push_back({lit(i, false), "lit"});
  d.goals.push_back({at(0), "at"});
  d.goals.push_back({Formula::literal(FactId{rung}, false), "rung"});
  return d;
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_HMM_TABLE_CASE_H_
