// What the prompt hides is assumed as sparingly as possible. The problem is grounded without assumptions first, then with
// one kind more at a time, until all goals can be reached together; assumptions only add facts that make more actions
// legal, so the first level that suffices is the most careful one. Of its facts only those stay that are needed: a plan is
// looked at, what speaks of other objects goes, and then each fact that the goals can be reached without. So a model is
// never offered an action whose outcome hangs on something unseen while there is a way without it.
//
// Where no level suffices and some search ended undecided within its budget, all are tried again with a larger one before
// anything is given up. When that does not help, goals have to be dropped (where the options allow it), and the first level that drops the
// fewest is taken. What holds of a dropped goal from the start becomes a goal of its own, behind all others: it is kept
// where that costs none of them.
//
// Where the goals that remain hold from the start, the plan could be empty; benchmarks take an empty answer for an
// unreadable one, so it is asked for an action then.
#include "benchmarks/ground_prompt.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "lookahead/drop_goals.h"
#include "metactrl/domain.h"
#include "support/stopwatch.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

bool uses_lookahead(Guidance guidance) { return guidance != Guidance::kNone && guidance != Guidance::kSyntax; }

// Whether a level suffices is asked of a search, unless the state space is small: one plan is found sooner than all
// states. The planner enumerates them for the level that is taken.
constexpr std::size_t kProbeStates = 500;
// How many times the states of a search before it counts as lost. Seconds, on prompts of some thirty things.
constexpr std::size_t kPatience = 50;

struct Assumed {
  std::string fact;   // "(standing)"
  std::size_t level;  // of the assumption that it belongs to
};

// The atoms of "(a x) (b x y)".
std::vector<std::string_view> atoms_of(std::string_view facts) {
  std::vector<std::string_view> out;
  for (std::size_t begin = facts.find('('); begin != std::string_view::npos; begin = facts.find('(', begin)) {
    const std::size_t end = facts.find(')', begin);
    out.push_back(facts.substr(begin, end - begin + 1));
    begin = end;
  }
  return out;
}

class PromptGrounder {
 public:
  PromptGrounder(const PromptTask& prompt, std::string_view domain, const PlanOptions& options, const Stop& stop,
                 GroundTimes& times)
      : prompt_(prompt), domain_(domain), options_(options), stop_(stop), times_(times), lookahead_(options.lookahead) {
    lookahead_.weights = false;
    lookahead_.hmm.reset();
    lookahead_.exact.states = std::min(lookahead_.exact.states, kProbeStates);
  }

  GroundedPrompt ground() {
    const std::size_t most = prompt_.assumptions.size();
    // Where there is nothing to choose, the planner's own lookahead will do.
    const bool one_way = most == 0 && prompt_.nonempty.empty() && prompt_.keep.empty();
    if (one_way || !uses_lookahead(options_.guidance)) return finish(up_to(most), {});
    for (const bool patient : {false, true}) {
      if (patient) {
        if (!undecided_) break;
        lookahead_.search.states *= kPatience;
      }
      for (std::size_t level = std::min(prompt_.fewest_assumptions, most); level <= most; ++level) {
        const std::vector<Assumed> facts = up_to(level);
        const Task task = load(facts, {});
        const std::shared_ptr<const Lookahead> found = compile(task);
        if (found->verdict() == Verdict::kSolvable) {
          patient_ = patient;
          return with_an_action(needed(facts, {}, task, *found), {}, {});
        }
        undecided_ = undecided_ || found->verdict() == Verdict::kUndecided;
      }
    }
    lookahead_.search = options_.lookahead.search;
    if (options_.on_infeasible != PlanOptions::OnInfeasible::kDropGoals) return finish(up_to(most), {});
    return drop_fewest();
  }

 private:
  // The facts of the first `level` assumptions.
  std::vector<Assumed> up_to(std::size_t level) const {
    std::vector<Assumed> facts;
    for (std::size_t i = 0; i < level; ++i) {
      for (const std::string_view fact : atoms_of(prompt_.assumptions[i].facts)) {
        facts.push_back({std::string(fact), i});
      }
    }
    return facts;
  }

  Task load(const std::vector<Assumed>& facts, const std::vector<std::string>& goals) {
    watch_.lap();
    std::string init;
    for (const Assumed& assumed : facts) init += "\n    " + assumed.fact;
    std::string more;
    for (const std::string& goal : goals) more += "\n    " + goal;
    Task task = load_pddl_text(domain_, prompt_.problem_with(init, more));
    times_.ground += watch_.lap();
    return task;
  }

  std::shared_ptr<const Lookahead> compile(const Task& task) {
    watch_.lap();
    std::shared_ptr<const Lookahead> lookahead = Lookahead::compile(task, lookahead_, stop_);
    times_.lookahead += watch_.lap();
    return lookahead;
  }

  // The facts without which the goals that are not dropped are out of reach. Later ones go first: they are the bolder.
  std::vector<Assumed> needed(std::vector<Assumed> facts, std::span<const GoalId> dropped, const Task& task,
                              const Lookahead& found) {
    const auto fixed = [&](const Assumed& assumed) { return assumed.level < prompt_.fewest_assumptions; };
    const auto enough = [&](const std::vector<Assumed>& fewer) {
      return compile(load(fewer, {}).without_goals(dropped))->verdict() == Verdict::kSolvable;
    };
    std::set<std::string_view> touched;
    for (const ActionId action : found.plan()) {
      for (const ObjectId object : task.arguments(action)) touched.insert(task.object_name(object));
    }
    std::vector<Assumed> fewer = facts;
    std::erase_if(fewer, [&](const Assumed& assumed) {
      const std::vector<std::string_view> words = split(std::string_view(assumed.fact), " ");
      return !fixed(assumed) && std::none_of(words.begin() + 1, words.end(), [&](std::string_view word) {
        if (word.back() == ')') word.remove_suffix(1);
        return touched.contains(word);
      });
    });
    if (fewer.size() < facts.size() && enough(fewer)) facts = std::move(fewer);
    for (std::size_t i = facts.size(); i-- > 0;) {
      if (fixed(facts[i])) continue;
      fewer = facts;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (enough(fewer)) facts = std::move(fewer);
    }
    return facts;
  }

  GroundedPrompt drop_fewest() {
    std::optional<ReducedTask> reduced;
    std::vector<Assumed> facts;
    for (std::size_t level = std::min(prompt_.fewest_assumptions, prompt_.assumptions.size());
         level <= prompt_.assumptions.size(); ++level) {
      const Task task = load(up_to(level), {});
      watch_.lap();
      ReducedTask kept = drop_unreachable_goals(task, lookahead_, stop_);
      times_.lookahead += watch_.lap();
      if (reduced && kept.dropped.size() >= reduced->dropped.size()) continue;
      reduced = std::move(kept);
      facts = up_to(level);
    }
    if (reduced->lookahead->verdict() == Verdict::kSolvable) {
      facts = needed(std::move(facts), reduced->dropped, reduced->task, *reduced->lookahead);
    }
    return with_an_action(facts, reduced->dropped, what_holds(facts, reduced->dropped));
  }

  // What is true from the start of the goals that are dropped.
  std::vector<std::string> what_holds(const std::vector<Assumed>& facts, const std::vector<GoalId>& dropped) {
    std::set<std::string> parts;
    for (const GoalId goal : dropped) {
      const auto i = static_cast<std::size_t>(goal);
      if (i < prompt_.keep.size()) parts.insert(prompt_.keep[i].begin(), prompt_.keep[i].end());
    }
    if (parts.empty()) return {};
    const std::vector<std::string> all(parts.begin(), parts.end());
    const std::size_t first = load(facts, {}).num_goals();
    const Task task = load(facts, all);
    const std::vector<GoalId> unmet = task.unmet_goals(task.initial_state());
    std::vector<std::string> held;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const GoalId goal{static_cast<std::uint32_t>(first + i)};
      if (std::find(unmet.begin(), unmet.end(), goal) == unmet.end()) held.push_back(all[i]);
    }
    return held;
  }

  // With a further goal where what will be pursued holds from the start.
  GroundedPrompt with_an_action(const std::vector<Assumed>& facts, const std::vector<GoalId>& dropped,
                                std::vector<std::string> goals) {
    if (!prompt_.nonempty.empty()) {
      const Task pursued = load(facts, goals).without_goals(dropped);
      if (pursued.unmet_goals(pursued.initial_state()).empty()) goals.push_back(prompt_.nonempty);
    }
    return finish(facts, goals);
  }

  GroundedPrompt finish(const std::vector<Assumed>& facts, const std::vector<std::string>& goals) {
    GroundedPrompt out{load(facts, goals), {}, 0, options_.lookahead.search};
    out.num_goals = out.task.num_goals() - goals.size();
    if (patient_) out.search = lookahead_.search;
    for (std::size_t i = 0; i < prompt_.assumptions.size(); ++i) {
      const auto of_level = [&](const Assumed& assumed) { return assumed.level == i; };
      if (std::any_of(facts.begin(), facts.end(), of_level)) out.assumptions.push_back(prompt_.assumptions[i].text);
    }
    return out;
  }

  const PromptTask& prompt_;
  std::string_view domain_;
  const PlanOptions& options_;
  const Stop& stop_;
  GroundTimes& times_;
  LookaheadOptions lookahead_;
  bool undecided_ = false;  // some level, within the budget
  bool patient_ = false;    // a plan was found with patience only
  internal::Stopwatch watch_;
};

}  // namespace

GroundedPrompt ground_prompt(const PromptTask& prompt, std::string_view domain, const PlanOptions& options,
                             const Stop& stop, GroundTimes& times) {
  return PromptGrounder(prompt, domain, options, stop, times).ground();
}

}  // namespace metactrl::benchmarks
