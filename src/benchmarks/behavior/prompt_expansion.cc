// The evaluator's expansion of a goal into options:
//   and            every combination of one option of each part
//   or, exists     the options of all parts
//   not            every choice of one atom from each option, negated
//   forall         combinations by increasing sum of their indices; 20 attempts, of which those that run out of a
//                  part's range are lost
//   forn           those combinations, and of each one every choice of n parts
//   forpairs       the smaller side in its order (the second one when they are equal), and 10 ways to assign to it
//                  objects of the larger side, in lexicographic order
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "benchmarks/behavior/prompt_goal.h"

namespace metactrl::benchmarks::behavior::prompt {

namespace {

using Option = std::vector<Atom>;
using Options = std::vector<Option>;
using Binding = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t kForallAttempts = 20;
constexpr std::size_t kAssignments = 10;

std::vector<std::string> objects_of(const Kinds& kinds, const std::string& kind) {
  const auto it = kinds.find(kind);
  return it == kinds.end() ? std::vector<std::string>{} : it->second;
}

Atom bound(const Atom& atom, const Binding& binding) {
  Atom out = atom;
  for (std::string& argument : out.arguments) {
    const auto it = binding.find(argument);
    if (it != binding.end()) argument = it->second;
  }
  return out;
}

// Calls f with the binding for every choice of the goal's variables.
template <typename Function>
void for_each_binding(const Goal& goal, const Kinds& kinds, Binding& binding, Function f, std::size_t depth = 0) {
  if (depth == goal.variables.size()) {
    f();
    return;
  }
  for (const std::string& object : objects_of(kinds, goal.kinds[depth])) {
    binding[goal.variables[depth]] = object;
    for_each_binding(goal, kinds, binding, f, depth + 1);
  }
  binding.erase(goal.variables[depth]);
}

void collect(const Goal& goal, const Kinds& kinds, Binding& binding, bool negated, std::set<Atom>& out) {
  if (goal.kind == Goal::Kind::kAtom) {
    Atom atom = bound(goal.atom, binding);
    atom.negated = negated;
    out.insert(std::move(atom));
    return;
  }
  const bool inner = negated != (goal.kind == Goal::Kind::kNot);
  for_each_binding(goal, kinds, binding, [&] {
    for (const Goal& child : goal.children) collect(child, kinds, binding, inner, out);
  });
}

class Expander {
 public:
  Expander(const Kinds& kinds, std::size_t limit) : kinds_(kinds), limit_(limit) {}

  Options run(const Goal& goal) { return expand(goal); }
  bool cut() const { return cut_; }
  // There were more than `limit` options somewhere; those returned are not all.
  bool too_large() const { return too_large_; }

 private:
  using Kind = Goal::Kind;

  Options expand(const Goal& goal) {
    switch (goal.kind) {
      case Kind::kAtom:
        return {{bound(goal.atom, binding_)}};
      case Kind::kNot:
        return negate(expand(goal.children[0]));
      case Kind::kAnd:
        return product(parts(goal));
      case Kind::kOr:
      case Kind::kExists:
        return concatenate(parts(goal));
      case Kind::kForall:
        return forall(parts(goal));
      case Kind::kForN:
        return for_n(parts(goal), goal.count);
      case Kind::kForPairs:
      case Kind::kForNPairs:
        return for_pairs(goal);
    }
    return {};
  }

  // The options of each child under each binding.
  std::vector<Options> parts(const Goal& goal) {
    std::vector<Options> out;
    for_each_binding(goal, kinds_, binding_, [&] {
      for (const Goal& child : goal.children) out.push_back(expand(child));
    });
    return out;
  }

  // Whether so many options are too many; then nothing that is returned counts any more.
  bool exceeds(std::size_t size) {
    too_large_ = too_large_ || size > limit_;
    return too_large_;
  }

  Options concatenate(const std::vector<Options>& parts) {
    Options out;
    for (const Options& part : parts) {
      if (exceeds(out.size() + part.size())) return {};
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }

  Options product(const std::vector<Options>& parts) {
    Options out{{}};
    for (const Options& part : parts) {
      if (exceeds(out.size() * part.size())) return {};
      Options longer;
      for (const Option& before : out) {
        for (const Option& option : part) {
          longer.push_back(before);
          longer.back().insert(longer.back().end(), option.begin(), option.end());
        }
      }
      out = std::move(longer);
    }
    return out;
  }

  Options negate(const Options& options) {
    std::vector<Options> parts;
    for (const Option& option : options) {
      Options choices;
      for (Atom atom : option) {
        atom.negated = !atom.negated;
        choices.push_back({std::move(atom)});
      }
      parts.push_back(std::move(choices));
    }
    return product(parts);
  }

  // The combinations that are kept, each as the parts' options it consists of.
  std::vector<std::vector<Option>> combinations(const std::vector<Options>& parts) {
    std::vector<std::vector<Option>> kept;
    double all = 1;
    std::size_t largest = 0;
    for (const Options& part : parts) {
      all *= static_cast<double>(part.size());
      if (!part.empty()) largest += part.size() - 1;
    }
    if (all == 0) return kept;
    std::size_t attempts = 0;
    std::vector<std::size_t> chosen(parts.size(), 0);
    for (std::size_t sum = 0; sum <= largest && attempts < kForallAttempts; ++sum) {
      compose(parts, chosen, 0, sum, attempts, kept);
    }
    if (static_cast<double>(kept.size()) < all) cut_ = true;
    return kept;
  }

  // All ways to write `sum` as indices of the parts from `part` on.
  void compose(const std::vector<Options>& parts, std::vector<std::size_t>& chosen, std::size_t part, std::size_t sum,
               std::size_t& attempts, std::vector<std::vector<Option>>& kept) const {
    if (attempts >= kForallAttempts) return;
    if (part + 1 >= parts.size()) {
      if (!parts.empty()) chosen[part] = sum;
      ++attempts;
      std::vector<Option> combination;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (chosen[i] >= parts[i].size()) return;
        combination.push_back(parts[i][chosen[i]]);
      }
      kept.push_back(std::move(combination));
      return;
    }
    for (std::size_t index = 0; index <= sum; ++index) {
      chosen[part] = index;
      compose(parts, chosen, part + 1, sum - index, attempts, kept);
    }
  }

  static void append(Option& option, const Option& more) { option.insert(option.end(), more.begin(), more.end()); }

  Options forall(const std::vector<Options>& parts) {
    Options out;
    for (const std::vector<Option>& combination : combinations(parts)) {
      Option& option = out.emplace_back();
      for (const Option& part : combination) append(option, part);
    }
    return out;
  }

  Options for_n(const std::vector<Options>& parts, std::size_t count) {
    Options out;
    if (count > parts.size()) return out;
    for (const std::vector<Option>& combination : combinations(parts)) {
      std::vector<bool> chosen(parts.size(), false);
      std::fill_n(chosen.begin(), count, true);
      do {
        Option& option = out.emplace_back();
        for (std::size_t i = 0; i < parts.size(); ++i) {
          if (chosen[i]) append(option, combination[i]);
        }
        if (exceeds(out.size())) return {};
      } while (std::prev_permutation(chosen.begin(), chosen.end()));
    }
    return out;
  }

  Options for_pairs(const Goal& goal) {
    const std::vector<std::string> first = objects_of(kinds_, goal.kinds[0]);
    const std::vector<std::string> second = objects_of(kinds_, goal.kinds[1]);
    const bool fix_first = first.size() < second.size();
    const std::vector<std::string>& fixed = fix_first ? first : second;
    const std::vector<std::string>& larger = fix_first ? second : first;
    std::size_t size = fixed.size();
    if (goal.kind == Kind::kForNPairs) {
      if (goal.count > size) return {};
      cut_ = cut_ || goal.count < size;
      size = goal.count;
    }
    Options out;
    std::vector<std::size_t> order(larger.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t n = 0;; ++n) {
      std::vector<Options> parts;
      for (std::size_t i = 0; i < size; ++i) {
        binding_[goal.variables[fix_first ? 0 : 1]] = fixed[i];
        binding_[goal.variables[fix_first ? 1 : 0]] = larger[order[i]];
        parts.push_back(expand(goal.children[0]));
      }
      for (const std::string& variable : goal.variables) binding_.erase(variable);
      const Options more = product(parts);
      if (exceeds(out.size() + more.size())) return {};
      out.insert(out.end(), more.begin(), more.end());
      // The next choice of the first `size`: what follows them in the largest order.
      std::sort(order.begin() + static_cast<std::ptrdiff_t>(size), order.end(), std::greater<>());
      if (!std::next_permutation(order.begin(), order.end())) return out;
      if (n + 1 == kAssignments) {
        cut_ = true;
        return out;
      }
    }
  }

  const Kinds& kinds_;
  std::size_t limit_;
  Binding binding_;
  bool cut_ = false;
  bool too_large_ = false;
};

}  // namespace

std::vector<Atom> ground_atoms(const Goal& goal, const Kinds& kinds) {
  std::set<Atom> out;
  Binding binding;
  collect(goal, kinds, binding, false, out);
  return {out.begin(), out.end()};
}

std::optional<Expansion> expand(const Goal& goal, const Kinds& kinds, std::size_t limit) {
  Expander expander(kinds, limit);
  Expansion out;
  out.options = expander.run(goal);
  out.cut = expander.cut();
  if (expander.too_large()) return std::nullopt;
  return out;
}

}  // namespace metactrl::benchmarks::behavior::prompt
