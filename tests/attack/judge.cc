#include "attack/judge.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "metactrl/error.h"
#include "metactrl/schedule.h"
#include "pddl/parse.h"
#include "support/files.h"
#include "support/str_cat.h"
#include "text/token_automaton.h"

namespace metactrl::attack {

using internal::str_cat;

const char* to_string(Fault fault) {
  static constexpr std::array<const char*, kNumFaults> kNames = {
      "none", "exception", "decoder", "unfinished", "form", "tokens", "reading", "length", "step", "goal", "VAL"};
  return kNames[static_cast<std::size_t>(fault)];
}

std::string pddl_text(const std::vector<PlanStep>& steps) {
  std::string text;
  for (const PlanStep& step : steps) text += to_string(step) + "\n";
  return text;
}

namespace {

Finding found(Fault fault, std::string detail) { return {fault, std::move(detail), 0}; }

}  // namespace

std::string find_val() {
  if (const char* given = std::getenv("VAL_VALIDATE"); given != nullptr && ::access(given, X_OK) == 0) return given;
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    const std::string candidate = folders.substr(0, colon) + "/Validate";
    if (colon > 0 && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.erase(0, colon + 1);
  }
  return "";
}

Judge::Judge(const TaskFiles& files, std::string val, const std::optional<std::string>& problem)
    : files_(files), val_(std::move(val)) {
  const std::string domain = internal::read_file(files.domain);
  const std::string text = problem ? *problem : internal::read_file(files.problem);
  Diagnostics diagnostics;
  auto ast = std::make_shared<const pddl::Ast>(pddl::parse({files.domain, domain}, {files.problem, text}, diagnostics));
  if (diagnostics.has_errors()) throw InputError(diagnostics);
  for (const Diagnostic& one : diagnostics.items()) sections_twice_ |= one.message.starts_with("a second (");
  interpreter_ = std::make_unique<pddl::LiftedInterpreter>(std::move(ast));
}

std::vector<PlanStep> Judge::steps_of(const Constraint& constraint, const std::string& text) {
  std::vector<PlanStep> steps;
  for (const ActionId action : constraint.spelling().parse(text).actions)
    steps.push_back(constraint.task().step(action));
  return steps;
}

Finding Judge::judge(const Constraint& constraint, const Claim& claim) const {
  const Generation& generation = claim.generation;
  const std::vector<TokenId>& stops = constraint.vocabulary().end_of_turn();
  const auto stops_at = [&](TokenId token) { return std::find(stops.begin(), stops.end(), token) != stops.end(); };
  if (!generation.finished || generation.tokens.empty() || !stops_at(generation.tokens.back()))
    return found(Fault::kUnfinished, str_cat("after ", generation.tokens.size(), " tokens: ", generation.text));
  const PlanSpelling::Parsed parsed = constraint.spelling().parse(generation.text);
  if (!parsed.complete) return found(Fault::kForm, parsed.error + " in: " + generation.text);
  std::vector<TokenId> expected = constraint.vocabulary().encode(generation.text, claim.context);
  expected.push_back(generation.tokens.back());
  const bool canonical = constraint.automaton().tokenization() == Tokenization::kCanonical;
  if (canonical && expected != generation.tokens) return found(Fault::kTokens, generation.text);
  if (claim.guided && (parsed.actions != generation.plan || parsed.separators != generation.separators))
    return found(Fault::kReading, generation.text);
  if (parsed.actions.size() > claim.horizon) return found(Fault::kLength, str_cat(parsed.actions.size(), " actions"));
  std::vector<PlanStep> steps;
  for (const ActionId action : parsed.actions) steps.push_back(constraint.task().step(action));
  // This format is PDDL's own, so no parser of ours is needed to read it.
  if (constraint.spelling().format().name == "pddl" && parse_plan(generation.text, "the text") != steps)
    return found(Fault::kReading, generation.text);
  Finding finding = judge_steps(steps);
  finding.actions = steps.size();
  return finding;
}

Finding Judge::judge_steps(const std::vector<PlanStep>& steps, const std::vector<std::string>& dropped) const {
  const std::vector<PlanStep> read = parse_plan(pddl_text(steps), "the plan");
  const Validation validation = interpreter_->validate(read);
  if (validation.steps_executed < read.size()) return found(Fault::kStep, validation.reason);
  if (validation.valid) return {};
  const bool only_dropped =
      !validation.unmet_goals.empty() &&
      std::all_of(validation.unmet_goals.begin(), validation.unmet_goals.end(), [&](const std::string& goal) {
        return std::find(dropped.begin(), dropped.end(), goal) != dropped.end();
      });
  return only_dropped ? Finding{} : found(Fault::kGoal, validation.reason);
}

Finding Judge::judge_schedule(const std::string& schedule) const {
  const TimedPlan read = parse_schedule(schedule, "the schedule");
  const Validation validation = interpreter_->validate_schedule(read.schedule, {}, 0);
  if (validation.steps_executed < read.schedule.size()) return found(Fault::kStep, validation.reason);
  return validation.valid ? Finding{} : found(Fault::kGoal, validation.reason);
}

std::optional<Finding> Judge::ask_val(const std::string& plan) const {
  if (val_.empty() || sections_twice_) return std::nullopt;
  const testing::ProgramResult val = run_val(plan);
  if (!testing::val_decides(val)) return std::nullopt;
  return testing::val_accepts(val) ? Finding{} : found(Fault::kVal, plan);
}

testing::ProgramResult Judge::run_val(const std::string& plan) const {
  std::string file = (std::filesystem::temp_directory_path() / "metactrl-attack-XXXXXX").string();
  const int descriptor = ::mkstemp(file.data());
  if (descriptor < 0) throw std::runtime_error("cannot write " + file);
  ::close(descriptor);
  std::ofstream(file) << plan;
  testing::ProgramResult result =
      testing::execute(str_cat(testing::quoted(val_), " -t 0.001 ", testing::quoted(files_.val_domain), " ",
                               testing::quoted(files_.problem), " ", testing::quoted(file)));
  std::filesystem::remove(file);
  return result;
}

}  // namespace metactrl::attack
