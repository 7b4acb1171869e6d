// Certificates of random tasks and of all that ship, judged by scripts/check_certificate, which has no code of ours: every
// genuine one is accepted, every one that was tampered with is rejected.
//
// What is tampered with must be wrong, not merely other than what was written. So each change is one of which that is known:
// the states of a plan are a function of the plan; a closed set holds every state that can be reached, and every state that
// is listed can be; a fact that some reachable state has, by brute force over the interpreter's states, may become true; and
// where there is a plan, nothing proves that there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lookahead/certificate.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "support/certificate_court.h"
#include "support/files.h"
#include "support/random.h"
#include "support/random_pddl.h"
#include "support/test_data.h"
#include "task/program.h"

namespace metactrl::certificate_property_test {

using lookahead::Certificate;
using lookahead::CertificateTexts;
using testing::Court;
using testing::PddlText;
using testing::Random;
using Json = nlohmann::ordered_json;

CertificateTexts texts_of(const PddlText& task) { return {task.domain, task.problem, ""}; }

// Every fact that holds in some state that can be reached; nothing when there are too many states.
std::optional<std::set<std::string>> reachable_facts(const PddlText& task, std::size_t max_states) {
  Diagnostics diagnostics;
  const pddl::LiftedInterpreter interpreter(
      std::make_shared<const pddl::Ast>(pddl::parse({"domain", task.domain}, {"problem", task.problem}, diagnostics)));
  std::deque<pddl::Facts> queue = {interpreter.initial()};
  std::set<std::vector<pddl::Fact>> seen = {pddl::LiftedInterpreter::sorted(queue.front())};
  std::set<std::string> facts;
  for (; !queue.empty(); queue.pop_front()) {
    for (const pddl::Fact& fact : queue.front()) facts.insert(interpreter.fact_text(fact));
    for (auto& [instance, next] : interpreter.successors(queue.front())) {
      if (!seen.insert(pddl::LiftedInterpreter::sorted(next)).second) continue;
      if (seen.size() > max_states) return std::nullopt;
      queue.push_back(std::move(next));
    }
  }
  return facts;
}

// --- tampering -------------------------------------------------------------------------------------------------------

// What every certificate is bound to.
void tamper_with_any(const PddlText& task, const std::string& text, Random& random, Court& court) {
  court.add(task, text.substr(0, random.below(text.size() - 2)), false, "truncated");
  PddlText other = task;
  other.problem += "; another file\n";
  court.add(other, text, false, "another problem's text");
  Json changed = Json::parse(text);
  changed["claim"] = changed["claim"] == "plan" ? "infeasible" : "plan";
  court.add(task, changed, false, "the other claim");
}

std::vector<std::string> stated(const Json& list) { return list.get<std::vector<std::string>>(); }

// Do these states, of the facts that are spoken of, come about by executing the plan to the goal?
bool is_genuine(const Task& task, const Json& certificate, const Json& original) {
  State state = task.initial_state();
  const std::vector<std::string> spoken = stated(original["facts"]);
  const std::set<std::string> known(spoken.begin(), spoken.end());
  for (std::size_t i = 0; i < certificate["states"].size(); ++i) {
    std::vector<std::string> facts = task.facts(state);
    std::erase_if(facts, [&](const std::string& fact) { return !known.contains(fact); });
    std::vector<std::string> listed = stated(certificate["states"][i]);
    std::sort(facts.begin(), facts.end());
    std::sort(listed.begin(), listed.end());
    if (facts != listed) return false;
    if (i == certificate["plan"].size()) break;
    const auto step = parse_plan(certificate["plan"][i].get<std::string>(), "plan").front();
    const auto action = task.find(step);
    if (!action || !task.legal(state, *action)) return false;
    state = *task.apply(state, *action);
  }
  return certificate["states"].size() == certificate["plan"].size() + 1 && task.is_goal(state);
}

void tamper_with_plan(const PddlText& text, const Task& task, const Json& original, Random& random, Court& court) {
  const std::size_t length = original["plan"].size();
  Json changed = original;
  changed["goal"] = "(or)";
  court.add(text, changed, false, "a goal that never holds");
  changed = original;
  changed["cost"] = changed["cost"].get<double>() + 1;
  court.add(text, changed, false, "another cost");
  if (!original["facts"].empty()) {
    changed = original;
    Json& state = changed["states"][random.below(length + 1)];
    const std::string fact = random.pick(stated(original["facts"]));
    std::vector<std::string> facts = stated(state);
    if (std::erase(facts, fact) == 0) facts.push_back(fact);
    state = facts;
    court.add(text, changed, false, "a fact of a state turned around");
  }
  if (length == 0) return;
  changed = original;
  const auto place = random.below(length);
  changed["plan"].erase(place);
  court.add(text, changed, false, "a step less");
  changed["states"].erase(place + 1);
  if (!is_genuine(task, changed, original)) court.add(text, changed, false, "a step and its state less");
  changed = original;
  changed["plan"][place] = "(no-such-action)";
  court.add(text, changed, false, "an action that does not exist");
  changed = original;
  std::swap(changed["plan"][place], changed["plan"][random.below(length)]);
  if (!is_genuine(task, changed, original)) court.add(text, changed, false, "two steps swapped");
  changed = original;
  std::swap(changed["states"][place], changed["states"][place + 1]);
  if (!is_genuine(task, changed, original)) court.add(text, changed, false, "two states swapped");
  // The last step and its state: then the goal must have been reached before.
  changed = original;
  changed["plan"].erase(length - 1);
  changed["states"].erase(length);
  if (!is_genuine(task, changed, original)) court.add(text, changed, false, "the last step less");
}

// `solvable`: there is a plan, one longer than the certificate's horizon.
void tamper_with_proof(const PddlText& text, const Json& original, bool solvable, Random& random, Court& court) {
  Json changed = original;
  changed["goal"] = "(and)";
  court.add(text, changed, false, "a goal that always holds");
  changed = original;
  std::size_t layer = random.below(changed["layers"].size());
  changed["layers"][layer].erase(random.below(changed["layers"][layer].size()));
  court.add(text, changed, false, "a state less");
  if (original.contains("horizon")) {
    changed = original;
    changed["layers"].erase(changed["layers"].size() - 1);
    court.add(text, changed, false, "a layer less");
    if (solvable) {
      changed = original;
      changed.erase("horizon");
      court.add(text, changed, false, "no horizon");
      changed = original;
      changed["horizon"] = original["horizon"].get<unsigned>() + 1;
      court.add(text, changed, false, "a longer horizon");
    }
    if (original["layers"].size() > 1) {
      // Found by one action more than it takes.
      changed = original;
      layer = 1 + random.below(original["layers"].size() - 1);
      const auto place = random.below(changed["layers"][layer].size());
      const Json state = changed["layers"][layer][place];
      changed["layers"][layer].erase(place);
      if (layer + 1 == changed["layers"].size()) changed["layers"].push_back(Json::array());
      changed["layers"][layer + 1].push_back(state);
      court.add(text, changed, false, "a state too deep");
    }
  }
  // A fact that the listed states tell apart, taken to be constant.
  std::vector<std::size_t> varying;
  for (std::size_t fact = 0; fact < original["facts"].size(); ++fact) {
    const auto has = [&](const Json& state) {
      const std::string digits = state.get<std::string>();
      if (fact / 4 >= digits.size()) return false;
      const char digit = digits[digits.size() - 1 - fact / 4];
      return ((digit <= '9' ? digit - '0' : digit - 'a' + 10) >> (fact % 4) & 1) != 0;
    };
    const bool first = has(original["layers"][0][0]);
    for (const Json& states : original["layers"]) {
      if (std::any_of(states.begin(), states.end(), [&](const Json& state) { return has(state) != first; })) {
        varying.push_back(fact);
        break;
      }
    }
  }
  if (!varying.empty()) {
    changed = original;
    const std::size_t fact = random.pick(varying);
    changed["facts"][fact] = changed["facts"].back();
    changed["facts"].erase(changed["facts"].size() - 1);
    court.add(text, changed, false, "a fact less, and states that no longer fit");
  }
  const auto reachable = reachable_facts(text, 2'000);
  if (!reachable || original.contains("horizon")) return;
  std::vector<std::string> true_ones;
  for (const std::string& fact : stated(original["may_become_true"])) {
    if (reachable->contains(fact)) true_ones.push_back(fact);
  }
  if (true_ones.empty()) return;
  changed = original;
  std::vector<std::string> rest = stated(original["may_become_true"]);
  std::erase(rest, random.pick(true_ones));
  changed["may_become_true"] = rest;
  court.add(text, changed, false, "what becomes true, but for one");
}

// The claim that there is no plan, of a task that has one: everything may change, or all states but those of the goal.
void forge_proof(const PddlText& text, const Task& task, const Json& plan, Court& court) {
  Json forged = plan;
  forged["claim"] = "infeasible";
  forged.erase("plan");
  forged.erase("states");
  forged.erase("cost");
  forged["facts"] = Json::array();
  forged["may_become_true"] = Json::array();
  forged["may_become_false"] = Json::array();
  forged["layers"] = {{"0"}};
  court.add(text, forged, false, "nothing changes, though there is a plan");
  const task::Definition& definition = task.program().definition();
  for (const task::FactId fact : definition.facts.all()) {
    if (definition.fact_layer[fact] >= 0) continue;
    forged[definition.init[fact] ? "may_become_false" : "may_become_true"].push_back(task::fact_text(definition, fact));
  }
  court.add(text, forged, false, "everything changes, though there is a plan");
}

// --- tasks -----------------------------------------------------------------------------------------------------------

void certify(const PddlText& text, Random& random, Court& court) {
  const Task task = load_pddl_text(text.domain, text.problem);
  LookaheadOptions options;
  options.weights = false;
  const auto lookahead = Lookahead::compile(task, options);
  ASSERT_NE(lookahead->verdict(), Verdict::kUndecided);
  const auto add = [&](const Certificate& certificate, const std::string& what) {
    ASSERT_EQ(certificate.missing, "") << text.domain << text.problem;
    court.add(text, certificate.text, true, what);
    tamper_with_any(text, certificate.text, random, court);
  };
  if (lookahead->verdict() == Verdict::kInfeasible) {
    const Certificate proof =
        lookahead::certify_infeasible(task, std::nullopt, lookahead::certificate_budget(), texts_of(text));
    add(proof, Json::parse(proof.text)["facts"].empty() ? "proofs by what can become true" : "proofs by states");
    tamper_with_proof(text, Json::parse(proof.text), false, random, court);
    return;
  }
  const Certificate plan = lookahead::certify_plan(task, lookahead->plan(), texts_of(text));
  add(plan, "plans");
  tamper_with_plan(text, task, Json::parse(plan.text), random, court);
  forge_proof(text, task, Json::parse(plan.text), court);
  EXPECT_NE(lookahead::certify_infeasible(task, std::nullopt, lookahead::certificate_budget(), texts_of(text)).missing,
            "");
  if (lookahead->plan().empty()) return;
  const auto horizon = static_cast<unsigned>(lookahead->plan().size() - 1);
  ASSERT_EQ(lookahead->shortest_plan_length(), lookahead->plan().size());
  const Certificate bounded =
      lookahead::certify_infeasible(task, horizon, lookahead::certificate_budget(), texts_of(text));
  add(bounded, "proofs within a horizon");
  tamper_with_proof(text, Json::parse(bounded.text), true, random, court);
}

void certify_random(std::uint64_t first, std::uint64_t last, Court& court) {
  testing::PddlOptions options;
  options.constraints = false;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    certify(testing::random_pddl(seed, options), random, court);
    if (::testing::Test::HasFatalFailure()) return;
  }
  court.judge();
  court.report();
}

TEST(Certificates, OfRandomTasks) {
  Court court;
  certify_random(1, 150, court);
  EXPECT_GE(court.count("plans"), 50U);
  EXPECT_GE(court.count("proofs by states"), 10U);
  EXPECT_GE(court.count("proofs by what can become true"), 10U);
  EXPECT_GE(court.count("proofs within a horizon"), 20U);
  EXPECT_GE(court.count(false), 1'000U);
}

TEST(Certificates, OfThousandsOfRandomTasksSlow) {
  Court court;
  certify_random(1'001, 5'000, court);
  EXPECT_GE(court.count(true), 4'000U);
  EXPECT_GE(court.count(false), 20'000U);
}

// Folders of a domain and its problems.
void certify_folder(const std::filesystem::path& folder, const std::string& domain_file, std::size_t most,
                    Court& court) {
  Random random(1);
  std::set<std::filesystem::path> problems;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".pddl" && name.find("domain") == std::string::npos) problems.insert(entry.path());
  }
  ASSERT_FALSE(problems.empty()) << folder;
  for (const auto& problem : problems) {
    if (most-- == 0) return;
    SCOPED_TRACE(problem.string());
    const PddlText text{internal::read_file((folder / domain_file).string()), internal::read_file(problem.string())};
    const Task task = load_pddl_text(text.domain, text.problem);
    LookaheadOptions options;
    options.weights = false;
    const auto lookahead = Lookahead::compile(task, options);
    ASSERT_NE(lookahead->verdict(), Verdict::kUndecided);
    const bool infeasible = lookahead->verdict() == Verdict::kInfeasible;
    const Certificate certificate =
        infeasible ? lookahead::certify_infeasible(task, std::nullopt, lookahead::certificate_budget(), texts_of(text))
                   : lookahead::certify_plan(task, lookahead->plan(), texts_of(text));
    ASSERT_EQ(certificate.missing, "");
    court.add(text, certificate.text, true, infeasible ? "proofs" : "plans");
    tamper_with_any(text, certificate.text, random, court);
    if (!infeasible) tamper_with_plan(text, task, Json::parse(certificate.text), random, court);
  }
}

TEST(Certificates, OfShippedTasks) {
  Court court;
  certify_folder(testing::source_dir() / "domains/tabletop", "domain.pddl", 20, court);
  const auto data = testing::test_dir() / "data";
  certify_folder(data / "planbench/blocksworld", "generated_domain.pddl", 3, court);
  certify_folder(data / "planbench/logistics", "generated_domain.pddl", 3, court);
  certify_folder(data / "planbench/unsolvable_blocksworld", "generated_domain.pddl", 3, court);
  certify_folder(data / "household/behavior", "domain.pddl", 3, court);
  certify_folder(data / "household/virtualhome", "domain.pddl", 3, court);
  court.judge();
  EXPECT_GE(court.count("plans"), 15U);
  EXPECT_GE(court.count("proofs"), 2U);
}

}  // namespace metactrl::certificate_property_test
