#include "sas/sas.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/exchange/sas.h"

namespace metactrl::sas::sas_test {
namespace {

// A parcel, a truck and two places; `loaded` is derived from the parcel being in the truck.
constexpr const char* kDelivery = R"(begin_version
3
end_version
begin_metric
1
end_metric
4
begin_variable
var0
-1
3
Atom at(parcel, depot)
Atom at(parcel, shop)
Atom in(parcel, truck)
end_variable
begin_variable
var1
-1
2
Atom at(truck, depot)
Atom at(truck, shop)
end_variable
begin_variable
var2
0
2
Atom loaded()
NegatedAtom loaded()
end_variable
begin_variable
var3
-1
2
Atom noisy()
<none of those>
end_variable
1
begin_mutex_group
2
1 0
1 1
end_mutex_group
begin_state
0
0
1
1
end_state
begin_goal
2
0 1
2 1
end_goal
5
begin_operator
drive truck depot shop
0
2
0 1 0 1
1 2 0 3 -1 0
7
end_operator
begin_operator
drive truck shop depot
0
1
0 1 1 0
7
end_operator
begin_operator
LOAD parcel truck depot
1
1 0
1
0 0 0 2
1
end_operator
begin_operator
unload parcel truck shop
1
1 1
1
0 0 2 1
1
end_operator
begin_operator
honk
1
2 0
0
0
end_operator
1
begin_rule
1
0 2
2 1 0
end_rule
)";

SasTask parsed(const std::string& text) {
  Diagnostics diagnostics;
  SasTask task = parse(text, "t.sas", diagnostics);
  if (diagnostics.has_errors()) throw InputError(diagnostics);
  return task;
}

std::string first_error(const std::string& text) {
  Diagnostics diagnostics;
  parse(text, "t.sas", diagnostics);
  return diagnostics.has_errors() ? to_string(diagnostics.items()[0]) : "no error";
}

// kDelivery with the first occurrence of `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kDelivery;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Sas, ReadsEverySection) {
  const SasTask task = parsed(kDelivery);
  EXPECT_TRUE(task.has_costs);
  ASSERT_EQ(task.variables.size(), 4U);
  EXPECT_EQ(task.variables[0].values[2], "Atom in(parcel, truck)");
  EXPECT_TRUE(task.variables[2].derived());
  EXPECT_EQ(task.initial, (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(task.goal, (std::vector<Assignment>{{0, 1}, {2, 1}}));
  ASSERT_EQ(task.operators.size(), 5U);
  EXPECT_EQ(task.operators[0].effects[1].conditions, (std::vector<Assignment>{{2, 0}}));
  EXPECT_EQ(task.operators[0].cost, 7);
  EXPECT_EQ(task.operators[2].name, "load parcel truck depot");
  EXPECT_EQ(task.operators[2].precondition, (std::vector<Assignment>{{1, 0}, {0, 0}}));
  ASSERT_EQ(task.axioms.size(), 1U);
  EXPECT_EQ(task.axioms[0].head, (Assignment{2, 0}));
}

TEST(Sas, AcceptsCarriageReturns) {
  std::string text;
  for (const char* c = kDelivery; *c != '\0'; ++c) text += *c == '\n' ? std::string("\r\n") : std::string(1, *c);
  EXPECT_EQ(parsed(text).operators.size(), 5U);
}

TEST(Sas, TextOfValues) {
  const SasTask task = parsed(kDelivery);
  EXPECT_EQ(value_text(task, {0, 2}), "(in parcel truck)");
  EXPECT_EQ(value_text(task, {2, 1}), "(not (loaded))");
  EXPECT_EQ(value_text(task, {3, 1}), "(var3 = <none of those>)");
}

TEST(Sas, LoadsAsATask) {
  const Task task = load_sas_text(kDelivery);
  EXPECT_EQ(task.num_action_names(), 4U);
  const auto plan = parse_plan("(load parcel truck depot)\n(drive truck depot shop)\n(unload parcel truck shop)", "p");
  State state = task.initial_state();
  for (const PlanStep& step : plan) {
    const std::optional<ActionId> action = task.find(step);
    ASSERT_TRUE(action) << to_string(step);
    const std::optional<State> next = task.apply(state, *action);
    ASSERT_TRUE(next) << to_string(step);
    state = *next;
  }
  EXPECT_TRUE(task.is_goal(state));
  const Validation v = task.validate(plan);
  EXPECT_TRUE(v.valid) << v.reason;
  EXPECT_EQ(v.cost, 9);
}

TEST(Sas, ExplainsInvalidPlans) {
  const SasReference reference(std::make_shared<const SasTask>(parsed(kDelivery)));
  const auto reason = [&](const char* plan) { return reference.validate(parse_plan(plan, "p")).reason; };
  EXPECT_EQ(reason("(unload parcel truck shop)"),
            "step 1 (unload parcel truck shop): precondition (at truck shop) is false");
  EXPECT_EQ(reason("(load parcel truck depot)\n(drive truck depot shop)"),
            "the goal is not reached: (at parcel shop), (not (loaded)) do not hold at the end");
  EXPECT_EQ(reason("(honk)"), "step 1 (honk): precondition (loaded) is false");
  EXPECT_EQ(reason("(drve truck depot shop)"),
            "step 1 (drve truck depot shop): there is no action 'drve'; did you mean 'drive'?");
  EXPECT_EQ(
      reason("(drive truck depot shob)"),
      "step 1 (drive truck depot shob): the file has no operator 'drive truck depot shob'; did you mean (drive truck "
      "depot shop)?");
}

TEST(Sas, MalformedFilesNameTheLine) {
  EXPECT_EQ(first_error(""), "t.sas:1:1: error: the file ends where begin_version should be; translate the task again");
  EXPECT_EQ(
      first_error("begin_version\n2\n"),
      "t.sas:2:1: error: version 2 of the format is not known; translate with a Fast Downward that writes version 3");
  EXPECT_EQ(
      first_error("(define (domain x))"),
      "t.sas:1:1: error: expected 'begin_version', found '(define (domain x))'; only version 3 of Fast Downward's "
      "translator output can be read");
  EXPECT_EQ(first_error(changed("0 1 0 1\n", "0 1 0 9\n")),
            "t.sas:59:1: error: variable 1 (var1) has no value 9; it has 2 values, counted from 0");
  EXPECT_EQ(first_error(changed("0 1 0 1\n", "0 8 0 1\n")),
            "t.sas:59:1: error: there is no variable 8; the file declares 0 to 3");
  EXPECT_NE(first_error(changed("0 1 0 1\n", "0 1 0\n")).find("t.sas:59:1: error: expected an effect, found '0 1 0'"),
            std::string::npos);
  EXPECT_NE(first_error(changed("0 1 0 1\n", "0 1 0 one\n")).find("write whole numbers"), std::string::npos);
  EXPECT_NE(first_error(changed("1 2 0 3 -1 0", "0 2 -1 0")).find("an operator changes variable 2, which axioms set"),
            std::string::npos);
  EXPECT_NE(first_error(changed("2 1 0\nend_rule", "1 1 0\nend_rule")).find("which has no axiom layer"),
            std::string::npos);
  EXPECT_NE(first_error(changed("2 1 0\nend_rule", "2 0 1\nend_rule")).find("from its initial value 1"),
            std::string::npos);
  EXPECT_NE(
      first_error(changed("1\n0 2\n2 1 0", "1\n2 1\n2 1 0")).find("tests the default value of variable 2 of layer 0"),
      std::string::npos);
  EXPECT_NE(
      first_error(changed("0\n2\nAtom loaded()", "0\n3\nAtom x()\nAtom loaded()")).find("only two-valued derived"),
      std::string::npos);
  EXPECT_NE(first_error(std::string(kDelivery) + "more\n").find("expected the end of the file"), std::string::npos);
  EXPECT_NE(first_error(changed("5\nbegin_operator", "-1\nbegin_operator")).find("is negative"), std::string::npos);
  EXPECT_NE(first_error(changed("\nhonk\n", "\n\n")).find("the operator has no name"), std::string::npos);
}

TEST(Sas, HugeCountsNeedNoMemory) {
  EXPECT_NE(first_error(changed("5\nbegin_operator", "9223372036854775807\nbegin_operator")).find("error"),
            std::string::npos);
  EXPECT_NE(
      first_error("begin_version\n3\nend_version\nbegin_metric\n0\nend_metric\n4000000000\n").find("the file ends"),
      std::string::npos);
}

TEST(Sas, EveryTruncationIsRefused) {
  const std::string text = kDelivery;
  const std::size_t last = text.rfind("end_rule");
  for (std::size_t length = 0; length <= last; length += 7) {
    EXPECT_NE(first_error(text.substr(0, length)), "no error") << length;
  }
}

TEST(Sas, DifferentArityUnderOneNameIsRefused) {
  EXPECT_THROW(to_definition(parsed(changed("drive truck shop depot", "drive truck shop"))), InputError);
}

// --- the two implementations against each other ----------------------------------------------------------------------

// A random task: stored and derived variables, conditional effects that contradict each other, operators with equal
// names.
std::string random_task(std::mt19937& random) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::ostringstream out;
  const int stored = pick(2, 4);
  const int derived = pick(0, 3);
  std::vector<int> range;
  out << "begin_version\n3\nend_version\nbegin_metric\n" << pick(0, 1) << "\nend_metric\n" << stored + derived << '\n';
  for (int v = 0; v < stored + derived; ++v) {
    range.push_back(v < stored ? pick(2, 4) : 2);
    out << "begin_variable\nvar" << v << '\n' << (v < stored ? -1 : v - stored) << '\n' << range[v] << '\n';
    for (int value = 0; value < range[v]; ++value) out << "Atom f" << v << "(o" << value << ")\n";
    out << "end_variable\n";
  }
  out << "0\nbegin_state\n";
  std::vector<int> initial;
  for (const int r : range) initial.push_back(pick(0, r - 1));
  for (const int value : initial) out << value << '\n';
  out << "end_state\nbegin_goal\n1\n";
  const auto assignment = [&](int last_variable) {
    const int v = pick(0, last_variable);
    return std::to_string(v) + " " + std::to_string(pick(0, range[v] - 1));
  };
  out << assignment(stored + derived - 1) << "\nend_goal\n";
  const int operators = pick(2, 6);
  out << operators << '\n';
  for (int i = 0; i < operators; ++i) {
    out << "begin_operator\nact o" << pick(0, 3) << '\n';
    const int prevail = pick(0, 2);
    out << prevail << '\n';
    for (int j = 0; j < prevail; ++j) out << assignment(stored + derived - 1) << '\n';
    const int effects = pick(0, 4);
    out << effects << '\n';
    for (int j = 0; j < effects; ++j) {
      const int conditions = pick(0, 2);
      out << conditions << ' ';
      for (int k = 0; k < conditions; ++k) out << assignment(stored + derived - 1) << ' ';
      const int v = pick(0, stored - 1);
      out << v << ' ' << (pick(0, 2) == 0 ? pick(0, range[v] - 1) : -1) << ' ' << pick(0, range[v] - 1) << '\n';
    }
    out << "1\nend_operator\n";
  }
  const int axioms = derived == 0 ? 0 : pick(1, 4);
  out << axioms << '\n';
  for (int i = 0; i < axioms; ++i) {
    const int head = pick(stored, stored + derived - 1);
    const int size = pick(1, 2);
    out << "begin_rule\n" << size << '\n';
    for (int j = 0; j < size; ++j) out << assignment(head - 1) << '\n';  // lower layers only: always stratified
    out << head << ' ' << initial[head] << ' ' << 1 - initial[head] << "\nend_rule\n";
  }
  return out.str();
}

TEST(SasProperty, TheTaskAndTheReferenceAgree) {
  std::mt19937 random(20240611);
  std::size_t steps = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string text = random_task(random);
    const Task task = load_sas_text(text);
    const SasReference reference(std::make_shared<const SasTask>(parsed(text)));
    for (int walk = 0; walk < 3; ++walk) {
      State state = task.initial_state();
      SasReference::Values values = reference.initial();
      std::vector<PlanStep> plan;
      for (int depth = 0; depth < 12; ++depth) {
        ASSERT_EQ(task.is_goal(state), reference.goal_holds(values)) << text;
        const Validation v = task.validate(plan);
        ASSERT_EQ(v.valid, task.is_goal(state)) << text << v.reason;
        std::vector<std::size_t> legal;
        for (std::size_t action = 0; action < reference.num_actions(); ++action) {
          const PlanStep step = parse_plan("(" + reference.action_name(action) + ")", "p")[0];
          const std::optional<ActionId> id = task.find(step);
          const bool possible = id && task.legal(state, *id);
          ASSERT_EQ(possible, reference.apply(values, action).has_value()) << to_string(step) << '\n' << text;
          if (possible) legal.push_back(action);
        }
        ASSERT_EQ(legal.size(), task.applicable_actions(state).size()) << text;
        if (legal.empty()) break;
        const std::size_t chosen = legal[std::uniform_int_distribution<std::size_t>(0, legal.size() - 1)(random)];
        plan.push_back(parse_plan("(" + reference.action_name(chosen) + ")", "p")[0]);
        state = *task.apply(state, *task.find(plan.back()));
        values = *reference.apply(values, chosen);
        ++steps;
      }
    }
  }
  EXPECT_GT(steps, 2000U);
}

}  // namespace
}  // namespace metactrl::sas::sas_test
