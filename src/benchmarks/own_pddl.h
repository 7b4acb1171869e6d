// The benchmarks' own PDDL: the domain that a benchmark states its actions in, a problem for each task, its reference plan
// in the words of that domain, and the answer that a plan of that domain makes.
//
//     std::unique_ptr<OwnPddl> own = OwnPddl::open(*find_module("beh-as"), "data");
//     const OwnProblem* problem = own->find("bottling_fruit_0_Wainscott_0_int_0_2021-05-24_19-46-46");
//     Task task = load_pddl_text(own->domain(), problem->text);
//     std::string output = own->answer(*problem, plan);      // what the benchmark's evaluator reads
//
// BEHAVIOR has a problem for each task. VirtualHome's are written here from what the prompt shows, in the predicates of its
// domain; action goals, for which that has no word, are left out. Only action sequencing has such a domain: in subgoal
// decomposition answers are conditions, not actions.
//
// Reference plans are answers: they serve to count (information_audit.h), nothing else reads them.
//
// Thread safety: immutable.
#ifndef METACTRL_SRC_BENCHMARKS_OWN_PDDL_H_
#define METACTRL_SRC_BENCHMARKS_OWN_PDDL_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/module.h"
#include "metactrl/task.h"

namespace metactrl::benchmarks {

struct OwnProblem {
  std::string identifier;
  std::string text;                                       // PDDL
  std::map<std::string, std::string, std::less<>> names;  // from its objects to those of answers
  std::vector<PlanStep> reference;
  std::size_t foreign_steps = 0;  // of the reference plan, those that the domain has no action for

  // What the prompt states of the task's start, in the predicates and objects of the domain. An atom is its predicate and
  // its arguments, with either sign.
  std::set<std::vector<std::string>> stated;
  std::set<std::string> with_properties;  // objects whose properties are listed
  std::set<std::string> with_states;      // objects whose states are shown
  std::size_t tags = 0;                   // properties listed, of all objects
};

class OwnPddl {
 public:
  virtual ~OwnPddl() = default;
  // Null where the module has none, or the data folder lacks its files. Throws InputError about one that cannot be read.
  static std::unique_ptr<OwnPddl> open(const Module& module, const std::string& data);

  const std::string& domain() const { return domain_; }
  const std::vector<OwnProblem>& problems() const { return problems_; }
  // Null when there is none.
  const OwnProblem* find(std::string_view identifier) const;
  virtual std::string answer(const OwnProblem& problem, std::span<const PlanStep> plan) const = 0;

  // Predicates about the robot itself: where it is, what it holds, how it stands.
  virtual const std::set<std::string, std::less<>>& robot_predicates() const = 0;
  // Predicates of one thing that change; the others of one thing are its properties.
  virtual const std::set<std::string, std::less<>>& state_predicates() const = 0;

 protected:
  std::string domain_;
  std::vector<OwnProblem> problems_;
};

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_OWN_PDDL_H_
