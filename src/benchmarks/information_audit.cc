// The domain is parsed with an empty problem, for its actions alone; arguments are names, so that a step may speak of a
// thing that the prompt does not list. A precondition is taken apart at "and", "or" and "not".
#include "benchmarks/information_audit.h"

#include <algorithm>
#include <set>
#include <utility>

#include "benchmarks/behavior/taxonomy.h"
#include "metactrl/error.h"
#include "pddl/ast.h"
#include "pddl/parse.h"
#include "support/lower_case.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

using pddl::Condition;

class Auditor {
 public:
  explicit Auditor(const OwnPddl& own) : own_(own) {
    const std::string& domain = own.domain();
    const std::size_t begin = domain.find("(domain");
    const std::string name(trim(std::string_view(domain).substr(begin + 7, domain.find(')', begin) - begin - 7)));
    const std::string problem = str_cat("(define (problem none) (:domain ", name, ") (:init) (:goal (and)))");
    Diagnostics diagnostics;
    ast_ = pddl::parse({"domain", domain}, {"problem", problem}, diagnostics);
    if (diagnostics.has_errors()) throw InputError(std::move(diagnostics));
  }

  InformationAudit run() {
    for (const OwnProblem& problem : own_.problems()) {
      ++audit_.tasks;
      audit_.foreign_steps += problem.foreign_steps;
      audit_.tags_per_prompt += static_cast<double>(problem.tags);
      for (const PlanStep& step : problem.reference) take(problem, step);
    }
    if (audit_.tasks > 0) audit_.tags_per_prompt /= static_cast<double>(audit_.tasks);
    return audit_;
  }

 private:
  // The objects of an action's variables by name; empty where a quantifier binds them.
  using Names = std::vector<std::string>;

  void take(const OwnProblem& problem, const PlanStep& step) {
    const auto action = std::find_if(ast_.actions.begin(), ast_.actions.end(),
                                     [&](const pddl::Action& a) { return a.name == step.action; });
    if (action == ast_.actions.end()) {
      ++audit_.foreign_steps;
      return;
    }
    ++audit_.steps;
    Names names(action->variables.size());
    for (std::size_t i = 0; i < action->num_parameters && i < step.arguments.size(); ++i) names[i] = step.arguments[i];
    std::set<std::string> counted;
    take_apart(action->precondition, [&](const Condition& part) {
      if (!counted.insert(text_of(part, names)).second) return;
      const bool derivable = is_derivable(problem, part, names);
      add(audit_.all, derivable);
      if (!about_robot(part)) add(audit_.of_things, derivable);
    });
  }

  static void add(InformationAudit::Count& count, bool derivable) {
    ++count.declared;
    count.derivable += derivable ? 1 : 0;
  }

  template <typename Use>
  static void take_apart(const Condition& condition, const Use& use) {
    switch (condition.kind) {
      case Condition::Kind::kTrue:
      case Condition::Kind::kFalse:
        return;
      case Condition::Kind::kNot:
      case Condition::Kind::kAnd:
      case Condition::Kind::kOr:
        for (const Condition& child : condition.children) take_apart(child, use);
        return;
      default:
        use(condition);
    }
  }

  template <typename Use>
  static void each_atom(const Condition& condition, const Use& use) {
    if (condition.kind == Condition::Kind::kAtom) use(condition.atom);
    for (const Condition& child : condition.children) each_atom(child, use);
  }

  std::vector<std::string> words_of(const pddl::Atom& atom, const Names& names) const {
    std::vector<std::string> words = {ast_.predicates[atom.predicate].name};
    for (const pddl::Term& term : atom.arguments) {
      words.push_back(term.is_variable() ? names[static_cast<std::size_t>(term.variable())]
                                         : ast_.objects[term.object()].name);
    }
    return words;
  }

  std::string text_of(const Condition& part, const Names& names) const {
    std::string text = part.kind == Condition::Kind::kAtom ? "" : "some:";
    each_atom(part, [&](const pddl::Atom& atom) { text += join(words_of(atom, names), " ") + ";"; });
    return text;
  }

  bool about_robot(const Condition& part) const {
    bool found = false;
    each_atom(part, [&](const pddl::Atom& atom) {
      found = found || own_.robot_predicates().contains(ast_.predicates[atom.predicate].name);
    });
    return found;
  }

  bool is_derivable(const OwnProblem& problem, const Condition& part, const Names& names) const {
    bool found = false;
    const bool quantified = part.kind != Condition::Kind::kAtom;
    each_atom(part, [&](const pddl::Atom& atom) {
      const std::vector<std::string> words = words_of(atom, names);
      found = found || (quantified ? states_some(problem, words) : can_be_read(problem, words));
    });
    return found;
  }

  bool can_be_read(const OwnProblem& problem, const std::vector<std::string>& words) const {
    if (problem.stated.contains(words)) return true;
    if (words.size() != 2) return false;
    if (own_.state_predicates().contains(words[0])) return problem.with_states.contains(words[1]);
    return !own_.robot_predicates().contains(words[0]) && problem.with_properties.contains(words[1]);
  }

  // A relation of the one thing that is named with some other.
  static bool states_some(const OwnProblem& problem, const std::vector<std::string>& words) {
    if (words.size() < 3 || std::all_of(words.begin() + 1, words.end(), [](const auto& w) { return w.empty(); })) {
      return false;
    }
    return std::any_of(problem.stated.begin(), problem.stated.end(), [&](const std::vector<std::string>& stated) {
      return stated.size() == words.size() && std::equal(words.begin(), words.end(), stated.begin(),
                                                         [](const std::string& wanted, const std::string& found) {
                                                           return wanted.empty() || wanted == found;
                                                         });
    });
  }

  const OwnPddl& own_;
  pddl::Ast ast_;
  InformationAudit audit_;
};

// "jar_n_01_2" is of the synset "jar.n.01".
std::string synset_of(std::string_view object) {
  const std::size_t number = object.rfind('_');
  if (number == std::string_view::npos) return {};
  std::string synset(object.substr(0, number));
  const std::size_t sense = synset.rfind("_n_");
  if (sense == std::string::npos) return {};
  synset[sense] = synset[sense + 2] = '.';
  return synset;
}

// Abilities that an action of the benchmark asks for.
bool is_able(const behavior::Taxonomy::Class& entry) {
  const std::vector<std::string_view> abilities = {"openable", "toggleable", "waterSource", "sliceable",
                                                   "cookable", "freezable",  "cleaningTool"};
  return std::any_of(abilities.begin(), abilities.end(), [&](std::string_view a) { return entry.all.contains(a); });
}

void count_names(const OwnPddl& own, InformationAudit& audit) {
  std::set<std::string> synsets;
  for (const OwnProblem& problem : own.problems()) {
    for (const PlanStep& step : problem.reference) {
      for (const std::string& argument : step.arguments) {
        const std::string synset = synset_of(argument);
        if (!synset.empty() && !synset.starts_with("agent.")) synsets.insert(synset);
      }
    }
  }
  audit.names = synsets.size();
  for (const std::string& synset : synsets) {
    const behavior::Taxonomy::Class* entry = behavior::Taxonomy::builtin().of_synset(synset);
    audit.able_names += entry != nullptr && is_able(*entry) ? 1 : 0;
  }
}

}  // namespace

InformationAudit audit_information(const OwnPddl& own, std::string_view benchmark) {
  InformationAudit audit = Auditor(own).run();
  audit.benchmark = benchmark;
  return audit;
}

std::vector<InformationAudit> information_audits(const std::string& data) {
  std::vector<InformationAudit> audits;
  if (const auto own = OwnPddl::open(*find_module("vh-as"), data)) {
    audits.push_back(audit_information(*own, "VirtualHome"));
    audits.back().paper_derivable = "82 %";
    audits.back().paper_tags = "about 11";
  }
  if (const auto own = OwnPddl::open(*find_module("beh-as"), data)) {
    audits.push_back(audit_information(*own, "BEHAVIOR"));
    count_names(*own, audits.back());
    audits.back().paper_derivable = "24 %";
    audits.back().paper_tags = "0";
  }
  return audits;
}

}  // namespace metactrl::benchmarks
