// What is listed, and why that is a proof.
//
// Loading has worked out which facts can change at all: every literal that some sequence of actions might bring about if
// nothing ever became false again. The facts of the ground task are those that can be true and can be false; all others
// stay as they are at the start, and the conditions that read them are folded. Where that turns a goal into "false", the
// facts that can change are the whole certificate: the set of all states that differ from the start in those alone.
//
// Otherwise the projected states are enumerated, breadth first. The set is then: a listed state in the goal-relevant facts,
// anything in the other facts that can change, and the start in the rest. It is closed because what changes a relevant
// fact reads relevant ones only (task/relevance.cc), so whoever checks sees each successor without knowing the others. With a
// horizon the layers by depth say how far each state is from the start; the last one has no successors to look at.
#include "lookahead/certificate.h"

#include <algorithm>
#include <set>
#include <vector>

#include "lookahead/spending.h"
#include "lookahead/state_table.h"
#include "support/json_text.h"
#include "support/sha2.h"
#include "support/str_cat.h"
#include "task/program.h"
#include "task/source.h"

namespace metactrl::lookahead {

namespace {

using internal::json_text;
using internal::str_cat;
using task::FactId;
using task::Program;
using task::Word;

// "[a, b]", one on each line.
template <typename Items, typename Text>
std::string json_list(const Items& items, const Text& text) {
  std::string out = "[";
  for (const auto& item : items) out += str_cat(out.size() == 1 ? "" : ",", "\n  ", text(item));
  return out + "]";
}

std::string json_texts(const std::vector<std::string>& texts) { return json_list(texts, json_text); }

std::string heading(const CertificateTexts& texts, const char* claim) {
  std::string out = str_cat("{\"certificate\": \"metactrl 1\",\n \"domain_sha256\": \"", internal::sha256(texts.domain),
                            "\",\n \"problem_sha256\": \"", internal::sha256(texts.problem), "\",\n");
  if (!texts.goal.empty()) out += str_cat(" \"goal\": ", json_text(texts.goal), ",\n");
  return out + str_cat(" \"claim\": \"", claim, "\"");
}

// What of the task no certificate can speak of; empty when there is nothing.
std::string beyond_certificates(const Task& task) {
  if (task.source() == nullptr) return "certificates are for tasks that were read from PDDL";
  if (task.goals_dropped()) return "goals were dropped";
  std::vector<std::string> beyond = task.source()->beyond_facts();
  if (!task.program().definition().monitors.empty()) beyond.emplace_back("trajectory constraints");
  return beyond.empty() ? "" : "certificates do not know " + beyond.front();
}

// The stored facts that can change, but for those in `known`.
struct LooseFacts {
  std::vector<std::string> rise;  // false at the start
  std::vector<std::string> fall;
};

LooseFacts loose_facts(const task::Definition& definition, const std::set<std::string>& known) {
  LooseFacts loose;
  for (const FactId fact : definition.facts.all()) {
    if (definition.fact_layer[fact] >= 0) continue;
    std::string text = task::fact_text(definition, fact);
    if (!known.contains(text)) (definition.init[fact] ? loose.fall : loose.rise).push_back(std::move(text));
  }
  return loose;
}

// The projected states, layer by layer.
class Layers {
 public:
  Layers(const Program& program, internal::Meter& meter)
      : program_(program), meter_(meter), table_(program.relevant_words()) {}

  // Why it is no proof; empty when it is one.
  std::string enumerate(std::optional<unsigned> horizon, const Budget& budget) {
    Spending spending(budget, meter_);
    const std::uint64_t successor_cost = successor_work(program_);
    std::uint64_t work = 0;
    std::vector<Word> state(program_.total_words());
    program_.initial(state.data());
    program_.project(state.data());
    if (!add(state)) return "the goal holds at the start";
    std::vector<Word> successor(program_.total_words());
    std::vector<ActionId> actions;
    ends_.push_back(1);
    for (std::size_t next = 0; next < table_.size() && (!horizon || ends_.size() <= *horizon);) {
      for (; next < ends_.back(); ++next) {
        const Word* words = table_.words(to_id<StoredId>(next));
        std::fill(state.begin(), state.end(), Word{0});
        std::copy_n(words, program_.relevant_words(), state.begin());
        program_.complete(state.data());
        actions.clear();
        program_.relevant_actions(state.data(), actions);
        work += (actions.size() + 1) * successor_cost;
        for (const ActionId action : actions) {
          program_.apply(state.data(), action, successor.data());
          program_.project(successor.data());
          if (!add(successor)) return "there is a plan";
        }
        if (const Limit limit = spending.check(table_.size(), table_.memory_bytes(), work); limit != Limit::kNone) {
          return str_cat(
              "more states would have to be listed than the budget allows (limit: ", internal::name_of(limit), ")");
        }
      }
      if (table_.size() > ends_.back()) ends_.push_back(table_.size());
    }
    return "";
  }

  std::string json() const {
    std::string out = "[";
    std::size_t id = 0;
    for (const std::size_t end : ends_) {
      out += out.size() == 1 ? "[" : ",\n [";
      for (const char* between = ""; id < end; ++id, between = ",") {
        out += str_cat(between, "\"", hex_of(table_.words(to_id<StoredId>(id))), "\"");
      }
      out += "]";
    }
    return out + "]";
  }

 private:
  // False when the goal holds there.
  bool add(const std::vector<Word>& state) {
    return !table_.insert(state.data()).second || !program_.is_goal(state.data());
  }

  // Bit i is the lowest but i.
  std::string hex_of(const Word* words) const {
    std::string out;
    for (std::size_t i = program_.relevant_words(); i-- > 0;) {
      for (int byte = 7; byte >= 0; --byte) out += internal::hex(static_cast<unsigned char>(words[i] >> (8 * byte)));
    }
    out.erase(0, std::min(out.find_first_not_of('0'), out.size()));
    return out.empty() ? "0" : out;
  }

  const Program& program_;
  internal::Meter& meter_;
  StateTable table_;
  std::vector<std::size_t> ends_;  // per depth: how many states are that deep at most
};

}  // namespace

Certificate certify_plan(const Task& task, std::span<const ActionId> plan, const CertificateTexts& texts,
                         const Stop& stop) {
  Certificate result;
  result.missing = beyond_certificates(task);
  if (!result.missing.empty()) return result;
  const task::Definition& definition = task.program().definition();
  std::set<std::string> derived;
  for (const FactId fact : definition.facts.all()) {
    if (definition.fact_layer[fact] >= 0) derived.insert(task::fact_text(definition, fact));
  }
  std::vector<std::string> steps;
  std::vector<std::vector<std::string>> states;
  std::set<std::string> facts;
  State state = task.initial_state();
  for (std::size_t i = 0;; ++i) {
    std::vector<std::string> holding = task.facts(state);
    std::erase_if(holding, [&](const std::string& fact) { return derived.contains(fact); });
    facts.insert(holding.begin(), holding.end());
    states.push_back(std::move(holding));
    if (i == plan.size()) break;
    steps.push_back(task.text(plan[i]));
    state = task.apply(state, plan[i]).value();
  }
  result.text =
      str_cat(heading(texts, "plan"), ",\n \"cost\": ", internal::number_text(task.validate(plan, stop).cost),
              ",\n \"plan\": ", json_texts(steps), ",\n \"facts\": ", json_texts({facts.begin(), facts.end()}),
              ",\n \"states\": ", json_list(states, json_texts), "}\n");
  return result;
}

Certificate certify_infeasible(const Task& task, std::optional<unsigned> horizon, const Budget& budget,
                               const CertificateTexts& texts, const Stop& stop) {
  Certificate result;
  result.missing = beyond_certificates(task);
  if (!result.missing.empty()) return result;
  const Program& program = task.program();
  const task::Definition& definition = program.definition();
  const bool folded = std::any_of(definition.goals.begin(), definition.goals.end(),
                                  [](const task::GoalDefinition& goal) { return goal.condition.is_false(); });
  internal::Meter meter(stop);
  std::vector<std::string> facts;
  std::string layers = "[[\"0\"]]";
  if (!folded) {
    Layers enumerated(program, meter);
    result.missing = enumerated.enumerate(horizon, budget);
    if (!result.missing.empty()) return result;
    layers = enumerated.json();
    for (std::uint32_t bit = 0; bit < program.num_relevant_bits(); ++bit) facts.push_back(program.bit_text(bit));
  }
  const LooseFacts loose = loose_facts(definition, {facts.begin(), facts.end()});
  result.text = heading(texts, "infeasible");
  if (horizon && !folded) result.text += str_cat(",\n \"horizon\": ", *horizon);
  result.text += str_cat(",\n \"facts\": ", json_texts(facts), ",\n \"may_become_true\": ", json_texts(loose.rise),
                         ",\n \"may_become_false\": ", json_texts(loose.fall), ",\n \"layers\": ", layers, "}\n");
  return result;
}

}  // namespace metactrl::lookahead
