// Writing a goal: which conditions there are (items.h), the text that holds them (a token automaton, as for plans), the
// likeliest conjunctions that can be reached (writer.h). A conjunction is judged as a whole: the problem gets it as its goal,
// is read and grounded like any other, and the lookahead says whether there is a plan. While a goal is being written, a state
// that is known to be reached and satisfies it will do (reached.h), or the knowledge of all states; whole goals are always
// searched for.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "decode/plan_request.h"
#include "goals/items.h"
#include "goals/mentions.h"
#include "goals/phrases.h"
#include "goals/problem_text.h"
#include "goals/reached.h"
#include "goals/stage.h"
#include "goals/task_words.h"
#include "goals/words.h"
#include "goals/writer.h"
#include "metactrl/generate.h"
#include "metactrl/goal.h"
#include "pddl/ground.h"
#include "pddl/hosts.h"
#include "pddl/parse.h"
#include "support/files.h"
#include "support/list_some.h"
#include "support/meter.h"
#include "support/words.h"

namespace metactrl {

namespace {

using goals::Conjunction;
using goals::ItemSet;

constexpr std::size_t kMostTold = 5;
// A proof is one of many, and most are easy.
constexpr Budget kProofExact{50'000, std::size_t{128} << 20, 2'000'000'000};
constexpr Budget kProofSearch{50'000, std::size_t{256} << 20, 2'000'000'000};
// Of the work that a plan may take. The rest, which is more than any proof takes, is the plan's.
constexpr std::uint64_t kGoalsShare = 2;

Budget smaller(const Budget& a, const Budget& b) {
  return {std::min(a.states, b.states), std::min(a.bytes, b.bytes), std::min(a.work, b.work)};
}

}  // namespace

class GoalProblem::Impl {
 public:
  Impl(pddl::Source domain, pddl::Source problem, const LoadOptions& options)
      : domain_name_(std::move(domain.name)),
        domain_(domain.text),
        problem_name_(std::move(problem.name)),
        problem_(problem.text),
        loading_(options) {
    loading_.diagnostics = nullptr;
    loading_.stop = {};
    const goals::Composed open = goals::with_goal(problem_, {"(and)", {}});
    Diagnostics found;
    ast_ = pddl::parse({domain_name_, domain_}, {problem_name_, open.text}, found);
    forget_hosts(ast_, "goals speak of facts alone");  // what runs is none that can be wanted
    // What the empty goal that was put in has caused is nobody's mistake.
    const Diagnostics own = goals::without_goal(found, problem_name_, open.first_line);
    if (options.diagnostics != nullptr) {
      for (const Diagnostic& item : own.items()) {
        if (item.severity == Diagnostic::Severity::kWarning)
          options.diagnostics->warning(item.where, item.message, item.hint);
      }
    }
    if (found.has_errors()) throw InputError(own.has_errors() ? own : found);
  }

  goals::Composed compose(std::string_view goal) const {
    const std::optional<goals::GoalParts> parts =
        goals::split_goal(goal, [this](std::string_view name) { return is_predicate(name); });
    if (!parts) {
      throw InputError("goal", "is not one condition in parentheses", "write for example (and (p a) (not (q b)))");
    }
    return goals::with_goal(problem_, *parts);
  }

  bool looks_back(std::string_view goal) const {
    const std::optional<goals::GoalParts> parts =
        goals::split_goal(goal, [this](std::string_view name) { return is_predicate(name); });
    return parts && goals::looks_back(*parts);
  }

  Task task(std::string_view goal, const LoadOptions& options) const {
    const goals::Composed text = compose(goal);
    Diagnostics local;
    LoadOptions loading = options;
    loading.diagnostics = &local;
    try {
      return load_pddl_text(domain_, text.text, loading);
    } catch (const TaskTooLarge&) {
      throw;
    } catch (const InputError& error) {
      throw InputError(as_goal(error.diagnostics(), text.first_line));
    }
  }

  Prompt prompt(const std::string& instruction) const {
    std::vector<std::string> predicates;
    for (const pddl::Predicate& predicate : ast_.predicates) {
      std::string text = "(" + predicate.name;
      for (const pddl::Variable& parameter : predicate.parameters) text += " " + typed(parameter.name, parameter.types);
      predicates.push_back(text + ")");
    }
    std::vector<std::string> objects;
    for (const pddl::Object& object : ast_.objects) objects.push_back(typed(object.name, object.types));
    std::vector<std::string> facts;
    for (const pddl::GroundAtom& atom : ast_.init) facts.push_back(to_string(ast_, atom));
    Prompt out;
    out.user = str_cat("Task: ", instruction, "\nPredicates: ", join(predicates, ", "),
                       "\nObjects: ", join(objects, ", "), "\nFacts: ", join(facts, ", "),
                       "\nWrite what holds when the task is done, as a PDDL goal.\nFormat: (and (p a) (not (q b c)))\n"
                       "Goal:\n");
    return out;
  }

  // The limits that the problem was read with hold for everything that is made of it.
  LoadOptions loading(const Stop& stop) const {
    LoadOptions out = loading_;
    out.stop = stop;
    return out;
  }

  ItemSet items(const ItemSet::Options& options, const Stop& stop) const {
    internal::Meter meter(stop, {loading_.max_work, 0});
    const pddl::GroundLimits limits{loading_.max_ground_actions, loading_.max_ground_facts};
    return {ast_, pddl::ground(ast_, limits, meter), options, meter};
  }

  goals::TaskWords words() const { return goals::TaskWords(ast_); }

 private:
  bool is_predicate(std::string_view name) const {
    return std::any_of(ast_.predicates.begin(), ast_.predicates.end(),
                       [&](const pddl::Predicate& predicate) { return predicate.name == name; });
  }

  std::string typed(const std::string& name, const std::vector<pddl::TypeId>& types) const {
    if (ast_.types.size() == 1) return name;
    std::vector<std::string> names;
    for (const pddl::TypeId type : types) names.push_back(ast_.types[type].name);
    return str_cat(name, " - ", join(names, "|"));
  }

  // load_pddl_text calls the files "domain" and "problem".
  Diagnostics as_goal(const Diagnostics& all, std::size_t first_line) const {
    Diagnostics out;
    const Diagnostics placed = goals::about_goal(all, "problem", first_line);
    for (const Diagnostic& item : placed.items()) {
      if (item.severity != Diagnostic::Severity::kError) continue;
      Diagnostic::Position where = item.where;
      if (where.file == "domain") where.file = domain_name_;
      if (where.file == "problem") where.file = problem_name_;
      out.error(where, item.message, item.hint);
    }
    return out;
  }

  std::string domain_name_;
  std::string domain_;
  std::string problem_name_;
  std::string problem_;
  LoadOptions loading_;
  pddl::Ast ast_;
};

namespace {

std::string conjunction_text(const ItemSet& items, const Conjunction& all) {
  std::vector<std::string> texts;
  for (const ActionId item : all) texts.push_back(items.text(item));
  return str_cat("(and ", join(texts, " "), ")");
}

// Proves of conjunctions that they can be reached.
class Prover {
 public:
  Prover(const GoalProblem& problem, const ItemSet& items, const GoalProblem::Options& options,
         const LoadOptions& loading)
      : problem_(problem), items_(items), options_(options), loading_(loading) {
    lookahead_ = options.lookahead;
    lookahead_.hmm.reset();
    lookahead_.device.reset();
    lookahead_.weights = false;
    lookahead_.costs = false;
    lookahead_.improve = 0;
    lookahead_.exact = smaller(lookahead_.exact, kProofExact);
    left_ = lookahead_.search.work / kGoalsShare;
    lookahead_.search = smaller(lookahead_.search, kProofSearch);
  }

  bool can_be_reached(const Conjunction& all) {
    if (items_.item(all.back()).impossible) return false;
    if (!reached_) {
      reached_.emplace(problem_.task("(and)", loading_), items_, lookahead_.horizon, loading_.stop);
    }
    if (const Answer known = reached_->together(all); known != Answer::kUnknown) return known == Answer::kYes;
    return has_plan(all);
  }

  // By a search, for what no state at hand shows, and for whole goals.
  bool has_plan(const Conjunction& all) {
    if (proofs_ == options_.max_proofs) return give_up(all);
    ++proofs_;
    return prove(all);
  }

  bool prove(const Conjunction& all) {
    const auto [known, is_new] = proved_.try_emplace({all.begin(), all.end()}, false);
    if (!is_new) return known->second;
    if (left_ == 0) return give_up(all);
    const Task task = problem_.task(conjunction_text(items_, all), loading_);
    if (task.initially_violated()) return false;
    // States are enumerated, and plans searched for, a little at first and then as far as it goes.
    const std::uint64_t most = (left_ + 3) / 4;
    lookahead_.exact.work = std::min(lookahead_.exact.work, most);
    lookahead_.search.work = std::min(lookahead_.search.work, most);
    const auto lookahead = Lookahead::compile(task, lookahead_, loading_.stop);
    const Verdict verdict = lookahead->verdict();
    work_ += lookahead->work();
    left_ -= std::min(left_, lookahead->work());
    if (verdict == Verdict::kUndecided) give_up(all);
    known->second = verdict == Verdict::kSolvable;
    return known->second;
  }

  GoalProblem::Refused refusal(const Conjunction& all) const {
    GoalProblem::Refused out{items_.text(all.back()), items_.words(all.back()), "cannot be reached"};
    if (undecided_.contains({all.begin(), all.end()})) out.reason = "could not be proved to be reachable";
    if (items_.item(all.back()).impossible || all.size() == 1) return out;
    std::vector<std::string> others;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) others.push_back(items_.text(all[i]));
    out.reason += " together with " + internal::list_some(others);
    return out;
  }

  std::size_t proofs() const { return proofs_; }
  std::uint64_t work() const { return work_; }
  bool was_undecided() const { return !undecided_.empty(); }
  // Was there something to be proved for which nothing was left, or not enough?
  bool has_given_up() const { return gave_up_; }

 private:
  bool give_up(const Conjunction& all) {
    gave_up_ = true;
    undecided_.insert({all.begin(), all.end()});
    return false;
  }

  const GoalProblem& problem_;
  const ItemSet& items_;
  const GoalProblem::Options& options_;
  const LoadOptions& loading_;
  LookaheadOptions lookahead_;
  std::size_t proofs_ = 0;
  std::uint64_t work_ = 0;
  std::uint64_t left_ = 0;  // for all of them
  bool gave_up_ = false;
  std::optional<goals::Reached> reached_;
  std::map<std::set<ActionId>, bool> proved_;
  std::set<std::set<ActionId>> undecided_;
};

// One goal from words.
class Writing {
 public:
  Writing(const GoalProblem& problem, LanguageModel& model, const std::shared_ptr<const Vocabulary>& vocabulary,
          const GoalProblem::Options& options, const LoadOptions& loading)
      : problem_(problem),
        options_(options),
        loading_(loading),
        stage_(model, vocabulary, {options.think, free(options)}, loading.stop) {}

  GoalProblem::Written freely(const Prompt& prompt) {
    goals::Stage::Result result = stage_.freely(prompt);
    take(result);
    written_.text = result.free.text;
    const std::string text(trim(result.free.text));
    try {
      const Task task = problem_.task(text, loading_);
      if (decode::asks_for_nothing(task)) throw InputError("goal", "asks for nothing");
      written_.goals.push_back({text, spoken(task), 1, task.is_goal(task.initial_state())});
      written_.reason = "guidance none: the model wrote what it liked";
    } catch (const InputError& error) {
      written_.reason = str_cat("guidance none: what the model wrote is no goal of this problem: ", first_of(error));
    }
    return std::move(written_);
  }

  GoalProblem::Written held(const Prompt& prompt, const std::string& instruction, const ItemSet& items) {
    written_.left_out = items.left_out();
    if (items.size() == 0) {
      written_.reason = "no action of the domain changes anything, so there is nothing to ask for";
      return std::move(written_);
    }
    const bool certify = options_.guidance != Guidance::kSyntax;
    const PlanSpelling spelling(items.format(), items.task());
    Prover prover(problem_, items, options_, loading_);
    goals::Writer::Judge judge;
    if (certify) judge = [&](const Conjunction& all) { return prover.can_be_reached(all); };
    goals::Writer::Options writing;
    writing.width = options_.hypotheses;
    writing.max_items = options_.max_conditions;
    const goals::Mentions mentions(instruction, items);
    if (certify && options_.guidance != Guidance::kMask) {
      writing.weigh = [&](const Conjunction& before, ActionId item) { return mentions.weight(before, item); };
    }
    writing.impossible = [&](ActionId item) { return items.item(item).impossible; };
    writing.opposite = [&](ActionId item) { return items.item(item).opposite; };
    goals::Stage::Result result = stage_.held(prompt, spelling, judge, writing);
    take(result);
    std::vector<goals::Writer::Hypothesis>& found = result.found;
    if (certify) std::erase_if(found, [&](const auto& one) { return !prover.prove(one.items); });
    written_.proofs = prover.proofs();
    written_.work = prover.work();
    written_.budget_ended = prover.has_given_up();
    written_.certified = certify && !found.empty();
    add_goals(items, found);
    std::set<ActionId> told;
    for (const Conjunction& all : result.refused) {
      if (written_.refused.size() < kMostTold && told.insert(all.back()).second) {
        written_.refused.push_back(prover.refusal(all));
      }
    }
    if (!found.empty() && mentions.orders_are_wishes() && is_but_an_order(items, found[0])) {
      written_.doubt = "the goal puts things in an order and asks for none of them, so that doing nothing will do";
    }
    if (!found.empty() && written_.doubt.empty()) written_.doubt = said_otherwise(mentions, found[0].items);
    written_.undecided = found.empty() && prover.was_undecided();
    if (found.empty()) {
      written_.reason = written_.undecided
                            ? "nothing that the model wanted could be proved to be reachable within the budget"
                            : "nothing that can be asked for here can be reached";
    } else {
      written_.reason = certify ? "well typed, and a plan for all of it is known"
                                : "guidance syntax: well typed, and nothing else was enforced";
    }
    if (written_.budget_ended) written_.reason += "; the budget of proofs ended before all that was tried was decided";
    return std::move(written_);
  }

 private:
  static GenerateOptions free(const GoalProblem::Options& options) {
    GenerateOptions out;
    out.seed = options.seed;
    out.max_tokens = options.max_tokens;
    return out;
  }

  void take(goals::Stage::Result& result) {
    written_.thought = std::move(result.thought);
    written_.prompt_text = std::move(result.prompt_text);
    written_.prompt_tokens = result.prompt_tokens;
    written_.model_calls = result.model_calls;
  }

  static std::string said_otherwise(const goals::Mentions& mentions, const Conjunction& goal) {
    if (const std::string name = mentions.unnamed_in(goal); !name.empty()) {
      return str_cat("the goal is about ", name, ", of which the instruction says nothing");
    }
    const std::string kind = mentions.uncounted_in(goal);
    return kind.empty() ? ""
                        : str_cat("the instruction says of how many it speaks (", kind, "), and the goal does not");
  }

  static bool is_but_an_order(const ItemSet& items, const goals::Writer::Hypothesis& goal) {
    return std::all_of(goal.items.begin(), goal.items.end(),
                       [&](ActionId item) { return items.kind(items.item(item).shape) == ItemSet::Kind::kBefore; });
  }

  void add_goals(const ItemSet& items, const std::vector<goals::Writer::Hypothesis>& found) {
    double sum = 0;
    for (const goals::Writer::Hypothesis& one : found) sum += std::exp(one.log_probability - found[0].log_probability);
    for (const goals::Writer::Hypothesis& one : found) {
      GoalProblem::Goal goal;
      goal.pddl = conjunction_text(items, one.items);
      for (const ActionId item : one.items) goal.words.push_back(items.words(item));
      goal.probability = std::exp(one.log_probability - found[0].log_probability) / sum;
      const Task task = problem_.task(goal.pddl, loading_);
      goal.holds_already = !task.initially_violated() && task.is_goal(task.initial_state());
      written_.goals.push_back(std::move(goal));
    }
  }

  static std::vector<std::string> spoken(const Task& task) {
    std::vector<std::string> out;
    for (const GoalId goal : internal::ids<GoalId>(task.num_goals())) out.push_back(task.goal_text(goal));
    return out;
  }

  static std::string first_of(const InputError& error) {
    const std::vector<Diagnostic>& items = error.diagnostics().items();
    return items.empty() ? error.what() : items[0].message;
  }

  const GoalProblem& problem_;
  const GoalProblem::Options& options_;
  const LoadOptions& loading_;
  goals::Stage stage_;
  GoalProblem::Written written_;
};

}  // namespace

GoalProblem GoalProblem::load(const std::string& domain_file, const std::string& problem_file,
                              const LoadOptions& options) {
  const std::string domain = internal::read_file(domain_file);
  const std::string problem = internal::read_file(problem_file);
  return GoalProblem(
      std::make_shared<const Impl>(pddl::Source{domain_file, domain}, pddl::Source{problem_file, problem}, options));
}

GoalProblem GoalProblem::parse(std::string_view domain, std::string_view problem, const LoadOptions& options) {
  return GoalProblem(
      std::make_shared<const Impl>(pddl::Source{"domain", domain}, pddl::Source{"problem", problem}, options));
}

bool GoalProblem::states_goal(std::string_view problem) { return goals::states_goal(problem); }

bool GoalProblem::asks_for_something(std::string_view problem) { return goals::asks_for_something(problem); }

void GoalProblem::Written::take_from(PlanOptions& options) const {
  LookaheadOptions& lookahead = options.lookahead;
  std::uint64_t& left = lookahead.search.work;
  left -= std::min(left, work);
  lookahead.exact.work = std::min(lookahead.exact.work, left);
  options.support.candidates.work = std::min(options.support.candidates.work, left);
}

Task GoalProblem::task(std::string_view goal, const LoadOptions& options) const { return impl_->task(goal, options); }

std::string GoalProblem::problem_text(std::string_view goal) const { return impl_->compose(goal).text; }

Prompt GoalProblem::prompt(const std::string& instruction) const { return impl_->prompt(instruction); }

namespace {

// Why somebody should look at the first goal, by what the instruction says; empty where nothing speaks against it.
std::string doubt_about(const GoalProblem::Written& written, const goals::TaskWords::Heard& heard,
                        const std::vector<std::string>& words, bool may_look_back) {
  const bool has_goal = !written.goals.empty();
  if (has_goal && !written.goals[0].mentioned) return "no word of the instruction is about the goal";
  if (heard.foreign)
    return "most words of the instruction mean nothing here (English is read, and the names of the task)";
  if (!heard.missing.empty()) return str_cat("the instruction names what is not there: ", join(heard.missing, ", "));
  if (const std::string said = goals::beyond_goals(words); !said.empty())
    return str_cat("the instruction says '", said, "', and no condition of a goal can");
  if (!has_goal) return {};
  if (const std::string unsaid = goals::unsaid_in(written.goals[0].pddl, words); !unsaid.empty())
    return str_cat("the instruction says '", unsaid, "', and the goal does not");
  if (const std::string back = may_look_back ? "" : goals::looking_back(words); !back.empty())
    return str_cat("the instruction says '", back, "', and a goal that is pursued step by step cannot");
  return {};
}

}  // namespace

GoalProblem::Written GoalProblem::write(const std::string& instruction, LanguageModel& model,
                                        const std::shared_ptr<const Vocabulary>& vocabulary, const Options& options,
                                        const Stop& stop) const {
  if (trim(instruction).empty()) {
    throw InputError("instruction", "is empty", "say what is to be done, or state a goal");
  }
  if (options.guidance == Guidance::kSearch) {
    throw InputError("guidance search", "has no model that could read an instruction",
                     "use another guidance, or state a goal");
  }
  const LoadOptions loading = impl_->loading(stop);
  Writing writing(*this, model, vocabulary, options, loading);
  Written written;
  if (options.guidance == Guidance::kNone) {
    written = writing.freely(prompt(instruction));
    if (!options.may_look_back && !written.goals.empty() && impl_->looks_back(written.goals[0].pddl)) {
      written.goals.clear();
      written.reason = str_cat("guidance none: what the model wrote looks back at what happened: ", trim(written.text));
    }
  } else {
    written =
        writing.held(prompt(instruction), instruction, impl_->items({options.max_items, options.may_look_back}, stop));
  }
  const goals::TaskWords words = impl_->words();
  goals::TaskWords::Heard heard = words.hear(instruction, kMostTold);
  for (Goal& goal : written.goals) goal.mentioned = words.speaks_of(instruction, goal.pddl);
  // Where nothing speaks against the goal, what its writing has found stays.
  std::string doubt = doubt_about(written, heard, goals::words_of(instruction), options.may_look_back);
  if (!doubt.empty()) {
    written.doubt = std::move(doubt);
  } else if (!written.goals.empty() && written.doubt.empty()) {
    const std::string left = words.passed_over(instruction, written.goals[0].pddl);
    if (!left.empty()) written.doubt = str_cat("the instruction says '", left, "', and the goal has nothing about it");
  }
  written.unknown_names = std::move(heard.unknown);
  return written;
}

}  // namespace metactrl
