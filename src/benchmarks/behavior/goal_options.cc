// The expansion is recursive over the goal: a node's options come from those of its children, a quantifier having one
// child per object. `and` takes the full product; `or` and `exists` concatenate; `not` picks one literal to negate from
// every option. forall, forn and the pairs take the truncated product: combinations in order of the sum of their
// positions, at most 20 tries, of which those that point behind the end of a child's list are lost.
#include "benchmarks/behavior/goal_options.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "support/words.h"

namespace metactrl::benchmarks::behavior {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxTries = 20;
constexpr std::size_t kMaxPermutations = 10;
// Bounds that no task of the benchmark comes near; beyond them a goal is not read.
constexpr int kMaxGoalDepth = 32;
constexpr std::size_t kMaxOptions = 100000;

GoalOption joined(const std::vector<const GoalOption*>& parts) {
  GoalOption all;
  for (const GoalOption* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

void limit(std::size_t count) {
  if (count > kMaxOptions) throw GoalError(str_cat("it expands to more than ", kMaxOptions, " options"));
}

using Picks = std::vector<const GoalOption*>;

// Every way to take one option of each child, the last child changing fastest.
std::vector<Picks> full_product(const std::vector<GoalOptions>& children) {
  std::vector<Picks> product = {{}};
  for (const GoalOptions& child : children) {
    std::vector<Picks> longer;
    limit(product.size() * child.size());
    for (const Picks& picks : product) {
      for (const GoalOption& option : child) {
        longer.push_back(picks);
        longer.back().push_back(&option);
      }
    }
    product = std::move(longer);
  }
  return product;
}

// Calls `visit` with every way to write `sum` as a sum of positions.size() numbers, in lexicographic order, until it
// returns false.
template <typename Visit>
bool each_partition(std::size_t sum, std::size_t index, std::vector<std::size_t>& positions, const Visit& visit) {
  if (index + 1 == positions.size()) {
    positions[index] = sum;
    return visit(positions);
  }
  for (std::size_t value = 0; value <= sum; ++value) {
    positions[index] = value;
    if (!each_partition(sum - value, index + 1, positions, visit)) return false;
  }
  return true;
}

std::vector<Picks> truncated_product(const std::vector<GoalOptions>& children) {
  if (children.empty()) return {{}};
  std::size_t last_sum = 0;
  Picks last;
  for (const GoalOptions& child : children) {
    if (child.empty()) return {};
    last_sum += child.size() - 1;
    last.push_back(&child.back());
  }
  std::vector<Picks> product;
  std::size_t tries = 0;
  std::vector<std::size_t> positions(children.size());
  const auto take = [&](const std::vector<std::size_t>& at) {
    if (tries == kMaxTries) return false;
    ++tries;
    Picks picks;
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i] >= children[i].size()) return true;
      picks.push_back(&children[i][at[i]]);
    }
    product.push_back(std::move(picks));
    return true;
  };
  for (std::size_t sum = 0; sum < last_sum; ++sum) {
    if (!each_partition(sum, 0, positions, take)) break;
  }
  if (tries < kMaxTries) product.push_back(last);
  return product;
}

// The first kMaxPermutations arrangements of `r` of 0..n-1 in lexicographic order.
std::vector<std::vector<std::size_t>> permutations(std::size_t n, std::size_t r) {
  std::vector<std::vector<std::size_t>> found;
  std::vector<std::size_t> current;
  std::vector<bool> used(n, false);
  const auto extend = [&](const auto& self) -> void {
    if (found.size() == kMaxPermutations) return;
    if (current.size() == r) {
      found.push_back(current);
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (used[i]) continue;
      used[i] = true;
      current.push_back(i);
      self(self);
      current.pop_back();
      used[i] = false;
    }
  };
  if (r <= n) extend(extend);
  return found;
}

class Expander {
 public:
  explicit Expander(const Scene& scene) : scene_(&scene) {}

  GoalOptions expand(const json& goal, int depth) {
    if (depth > kMaxGoalDepth) throw GoalError("it is nested too deeply");
    if (!goal.is_array() || goal.empty() || !goal[0].is_string()) {
      throw GoalError(str_cat("'", goal_text(goal), "' is not a condition"));
    }
    const std::string& head = goal[0].get_ref<const std::string&>();
    if (head == "and" || head == "or") {
      std::vector<GoalOptions> children;
      for (std::size_t i = 1; i < goal.size(); ++i) children.push_back(expand(goal[i], depth + 1));
      return head == "and" ? flattened(full_product(children)) : concatenated(children);
    }
    if (head == "not") {
      need(goal, 2);
      return negated(expand(goal[1], depth + 1));
    }
    if (head == "imply") {
      need(goal, 3);
      return concatenated({negated(expand(goal[1], depth + 1)), expand(goal[2], depth + 1)});
    }
    if (head == "forall" || head == "exists") {
      need(goal, 3);
      const std::vector<GoalOptions> children = instances(goal[1], goal[2], depth);
      return head == "forall" ? flattened(truncated_product(children)) : concatenated(children);
    }
    if (head == "forn") {
      need(goal, 4);
      return at_least(number(goal[1]), instances(goal[2], goal[3], depth));
    }
    if (head == "forpairs") {
      need(goal, 4);
      return pairs(goal[1], goal[2], goal[3], std::nullopt, depth);
    }
    if (head == "fornpairs") {
      need(goal, 5);
      return pairs(goal[2], goal[3], goal[4], number(goal[1]), depth);
    }
    return {{literal(goal)}};
  }

  // A literal in the form of the goal, ["inside", "a", "b"].
  Literal literal(const json& words) const {
    Literal result;
    const std::string& predicate = words[0].get_ref<const std::string&>();
    if (words.size() == 2) {
      const auto property = property_of_name(predicate);
      if (!property) throw GoalError(str_cat("'", predicate, "' is not a property of an object"));
      result.property = *property;
      result.object = object(words[1]);
      return result;
    }
    need(words, 3);
    result.object = object(words[1]);
    result.target = object(words[2]);
    if (predicate == "inside" || predicate == "ontop") {
      result.kind = LiteralKind::kHolding;
      result.holding = predicate == "inside" ? Holding::kInside : Holding::kOnTop;
      return result;
    }
    const std::optional<Relation> relation = relation_of_name(predicate);
    if (!relation) throw GoalError(str_cat("'", predicate, "' is not a relation of two objects"));
    result.kind = LiteralKind::kRelation;
    result.relation = *relation;
    return result;
  }

 private:
  static void need(const json& goal, std::size_t size) {
    if (goal.size() != size) {
      throw GoalError(str_cat("'", goal_text(goal), "' has ", goal.size() - 1, " arguments; it needs ", size - 1));
    }
  }

  // ["2"]
  static std::size_t number(const json& words) {
    if (words.is_array() && words.size() == 1 && words[0].is_string()) {
      const std::string& digits = words[0].get_ref<const std::string&>();
      if (!digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string::npos) {
        return static_cast<std::size_t>(std::stoi(digits));
      }
    }
    throw GoalError(str_cat("'", goal_text(words), "' is not a number"));
  }

  ObjectId object(const json& word) const {
    if (!word.is_string()) throw GoalError(str_cat("'", goal_text(word), "' is not the name of an object"));
    const std::string& name = word.get_ref<const std::string&>();
    if (const auto bound = variables_.find(name); bound != variables_.end()) return bound->second;
    const ObjectId id = scene_->find(name);
    if (id == kNothing) throw GoalError(str_cat("there is no object '", name, "'"));
    return id;
  }

  struct Range {
    std::string variable;
    std::vector<ObjectId> objects;
  };

  // ["jar.n.01", "-", "jar.n.01"]
  Range range(const json& words) const {
    if (!words.is_array() || words.size() != 3 || !words[0].is_string() || !words[2].is_string()) {
      throw GoalError(str_cat("'", goal_text(words), "' does not declare a variable"));
    }
    Range result{words[0].get<std::string>(), {}};
    for (ObjectId id = 0; id < static_cast<ObjectId>(scene_->size()); ++id) {
      if ((*scene_)[id].synset == words[2].get_ref<const std::string&>()) result.objects.push_back(id);
    }
    return result;
  }

  GoalOptions with(const std::vector<std::pair<std::string, ObjectId>>& bindings, const json& body, int depth) {
    const auto outer = variables_;
    for (const auto& [variable, id] : bindings) variables_[variable] = id;
    GoalOptions options = expand(body, depth + 1);
    variables_ = outer;
    return options;
  }

  std::vector<GoalOptions> instances(const json& declaration, const json& body, int depth) {
    const Range r = range(declaration);
    std::vector<GoalOptions> children;
    for (const ObjectId id : r.objects) children.push_back(with({{r.variable, id}}, body, depth));
    return children;
  }

  static GoalOptions flattened(const std::vector<Picks>& product) {
    GoalOptions options;
    for (const Picks& picks : product) options.push_back(joined(picks));
    return options;
  }

  static GoalOptions concatenated(const std::vector<GoalOptions>& children) {
    GoalOptions options;
    for (const GoalOptions& child : children) options.insert(options.end(), child.begin(), child.end());
    limit(options.size());
    return options;
  }

  static GoalOptions negated(const GoalOptions& options) {
    std::vector<GoalOptions> alternatives;
    for (const GoalOption& option : options) {
      alternatives.emplace_back();
      for (Literal literal : option) {
        literal.negated = !literal.negated;
        alternatives.back().push_back({literal});
      }
    }
    return flattened(full_product(alternatives));
  }

  // All ways to choose `n` of the children, within every combination that was kept.
  static GoalOptions at_least(std::size_t n, const std::vector<GoalOptions>& children) {
    GoalOptions options;
    if (n > children.size()) return options;
    for (const Picks& picks : truncated_product(children)) {
      std::vector<bool> chosen(picks.size(), false);
      std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(n), true);
      do {
        Picks some;
        for (std::size_t i = 0; i < picks.size(); ++i) {
          if (chosen[i]) some.push_back(picks[i]);
        }
        options.push_back(joined(some));
        limit(options.size());
      } while (std::prev_permutation(chosen.begin(), chosen.end()));
    }
    return options;
  }

  // The smaller side in its own order against the first arrangements of the larger one; with a number, the first so
  // many of the first side against arrangements of the second.
  GoalOptions pairs(const json& first, const json& second, const json& body, std::optional<std::size_t> n, int depth) {
    const Range a = range(first);
    const Range b = range(second);
    std::vector<std::vector<GoalOptions>> table;
    for (const ObjectId id_a : a.objects) {
      table.emplace_back();
      for (const ObjectId id_b : b.objects) {
        if (id_a != id_b) table.back().push_back(with({{a.variable, id_a}, {b.variable, id_b}}, body, depth));
      }
    }
    if (table.empty()) return {};
    const std::size_t rows = table.size();
    const std::size_t columns = table[0].size();
    const bool rows_fixed = n.has_value() || rows < columns;
    const std::size_t count = n.value_or(std::min(rows, columns));
    if (count > std::min(rows, columns)) return {};
    GoalOptions options;
    for (const std::vector<std::size_t>& choice : permutations(rows_fixed ? columns : rows, count)) {
      std::vector<GoalOptions> children;
      for (std::size_t i = 0; i < count; ++i) {
        children.push_back(rows_fixed ? table[i].at(choice[i]) : table[choice[i]].at(i));
      }
      const GoalOptions some = flattened(truncated_product(children));
      options.insert(options.end(), some.begin(), some.end());
    }
    return options;
  }

  const Scene* scene_;
  std::map<std::string, ObjectId, std::less<>> variables_;
};

// A sliced object counts through its halves.
std::vector<ObjectId> bearers(const Scene& scene, const State& state, ObjectId object) {
  if (!state.is(object, Property::kSliced) || scene.name(object).find("_part_") != std::string::npos) return {object};
  return {scene.find(scene.name(object) + "_part_0"), scene.find(scene.name(object) + "_part_1")};
}

bool bears(const State& state, const Literal& literal, ObjectId object) {
  switch (literal.kind) {
    case LiteralKind::kProperty:
      return state.is(object, literal.property);
    case LiteralKind::kHolding:
      return state.parent(object) == literal.target && state.holding(object) == literal.holding;
    case LiteralKind::kRelation:
      break;
  }
  return state.edge(object, literal.target) == literal.relation;
}

void append_text(const json& goal, int depth, std::string& out) {
  if (goal.is_string()) {
    out += goal.get_ref<const std::string&>();
  } else if (!goal.is_array() || depth > kMaxGoalDepth) {
    out += goal.is_array() ? "(...)" : goal.dump();
  } else {
    out += '(';
    for (std::size_t i = 0; i < goal.size(); ++i) {
      if (i > 0) out += ' ';
      append_text(goal[i], depth + 1, out);
    }
    out += ')';
  }
}

}  // namespace

GoalOptions expand_goal(const json& goal, const Scene& scene) { return Expander(scene).expand(goal, 0); }

GoalOptions read_goal_options(const json& options, const Scene& scene) {
  if (!options.is_array()) throw GoalError("it is not a list of options");
  const Expander reader(scene);
  GoalOptions result;
  for (const json& option : options) {
    if (!option.is_array()) throw GoalError(str_cat("'", goal_text(option), "' is not a list of literals"));
    result.emplace_back();
    for (const json& words : option) {
      const bool is_list = words.is_array() && !words.empty() && words[0].is_string();
      const bool negated = is_list && words[0] == "not";
      const json positive = negated ? json(words.begin() + 1, words.end()) : words;
      if (!is_list || positive.empty() || !positive[0].is_string()) {
        throw GoalError(str_cat("'", goal_text(words), "' is not a literal"));
      }
      result.back().push_back(reader.literal(positive));
      result.back().back().negated = negated;
    }
  }
  return result;
}

GoalTruth goal_truth(const Scene& scene, const State& state, const GoalOptions& options) {
  for (const GoalOption& option : options) {
    bool all = true;
    for (const Literal& literal : option) {
      // The evaluator asserts that an object can have the property it is asked about.
      if (literal.kind == LiteralKind::kProperty && !state.has(literal.object, literal.property)) {
        return GoalTruth::kCrash;
      }
      const std::vector<ObjectId> objects = bearers(scene, state, literal.object);
      const bool holds = std::all_of(objects.begin(), objects.end(),
                                     [&](ObjectId id) { return id != kNothing && bears(state, literal, id); });
      if (holds == literal.negated) {
        all = false;
        break;
      }
    }
    if (all) return GoalTruth::kTrue;
  }
  return GoalTruth::kFalse;
}

bool goal_test_crashes(const Scene& scene, const State& state) {
  for (ObjectId id = 0; id < static_cast<ObjectId>(scene.size()); ++id) {
    if (!state.ancestors(id)) return true;
    const std::vector<ObjectId> objects = bearers(scene, state, id);
    if (std::find(objects.begin(), objects.end(), kNothing) != objects.end()) return true;
  }
  return false;
}

std::string goal_text(const json& goal) {
  std::string out;
  append_text(goal, 0, out);
  return out;
}

}  // namespace metactrl::benchmarks::behavior
