#include "serve/plan_request.h"

#include <algorithm>

#include "decode/names.h"
#include "decode/preference.h"
#include "metactrl/error.h"
#include "serve/own_format.h"
#include "serve/sampling.h"
#include "serve/shipped_tasks.h"
#include "serve/thinking.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

// A model of tokens is no part of a request.
constexpr Bridge kNoBridge = Bridge::kHmm;

const char* describe(Guidance guidance) {
  switch (guidance) {
    case Guidance::kNone:
      return "the model writes what it likes";
    case Guidance::kSyntax:
      return "well-formed plans over the task's actions";
    case Guidance::kMask:
      return "only actions that are legal and leave the goal within reach";
    case Guidance::kUniform:
      return "the same, weighted by how much of the future each one keeps";
    case Guidance::kTrained:
      return "the same, weighted by what the model tends to write";
    case Guidance::kSearch:
      return "no model at all: the lookahead's own plan";
  }
  return "";
}

template <typename Enum>
Json names_of(std::optional<Enum> except = {}) {
  Json out = Json::array();
  for (const auto& one : enum_names(Enum{})) {
    if (one.value != except) out.push_back(one.name);
  }
  return out;
}

[[noreturn]] void refuse_name(Fields& fields, const std::string& member, const std::string& name,
                              const std::vector<std::string>& known) {
  const bool readable = name.size() <= 80;
  const std::string guess = readable ? internal::did_you_mean(name, known) : "";
  fields.refuse(
      member, str_cat("must be PDDL text or one of ", internal::join(known, ", "), guess.empty() ? "" : "; " + guess));
}

const ShippedDomain& find_domain(Fields& fields, const std::string& name) {
  std::vector<std::string> known;
  for (const ShippedDomain& domain : shipped_domains()) {
    if (domain.name == name) return domain;
    known.push_back(domain.name);
  }
  refuse_name(fields, "domain", name, known);
}

bool is_pddl(const std::string& text) { return text.find('(') != std::string::npos; }

void read_decoding(Fields& fields, const RequestLimits& limits, PlanOptions& options) {
  GenerateOptions& generate = options.generate;
  const std::optional<DecodeMode> mode = fields.choice<DecodeMode>("decode");
  const std::optional<double> temperature = fields.number("temperature", 0, 1000);
  generate.temperature = temperature.value_or(1);
  generate.top_p = fields.number("top_p", 1e-6, 1).value_or(1);
  read_sampling(fields, generate);
  // A temperature alone asks for sampling, as elsewhere.
  generate.mode = mode.value_or(temperature.value_or(0) > 0 ? DecodeMode::kSample : DecodeMode::kGreedy);
  generate.seed = fields.integer("seed", 0, ~std::uint64_t{0}).value_or(0);
  generate.beam = static_cast<unsigned>(fields.integer("beam", 1, limits.beam).value_or(std::min(4U, limits.beam)));
  generate.samples = static_cast<unsigned>(fields.integer("samples", 1, limits.samples).value_or(limits.samples));
  generate.max_tokens = static_cast<std::size_t>(
      fields.integer("max_tokens", 1, limits.tokens).value_or(std::min<std::size_t>(512, limits.tokens)));
}

void read_lookahead(Fields& fields, const RequestLimits& limits, PlanRequest& request) {
  LookaheadOptions& lookahead = request.options.lookahead;
  const auto horizon = fields.integer("horizon", 0, limits.horizon);
  lookahead.horizon = static_cast<unsigned>(horizon.value_or(std::min(40U, limits.horizon)));
  lookahead.fixed_horizon = horizon.has_value();
  lookahead.fitted_horizon = !horizon;
  if (const auto slack = fields.integer("slack", 0, limits.horizon)) lookahead.slack = static_cast<unsigned>(*slack);
  request.options.support.idle_steps = fields.flag("idle_steps").value_or(false);
  request.options.support.detours = !fields.flag("no_detours").value_or(false);
  if (const auto prefer = fields.text("prefer"); prefer && !decode::set_preference(*prefer, request.options)) {
    fields.refuse("prefer", str_cat("is none of: ", decode::kPreferences));
  }
  request.options.simplify = fields.flag("simplify").value_or(false);
  request.seconds = fields.number("time_limit", 0.001, limits.seconds).value_or(limits.seconds);
  // As on the command line: to enumerate all states is worth less than to find one plan, unless somebody asks for it.
  const auto states = fields.integer("max_states", 1, limits.states);
  lookahead.exact.states = std::min(states ? *states : lookahead.exact.states, limits.states);
  lookahead.search.states = states.value_or(limits.states);
  for (Budget* budget : {&lookahead.exact, &lookahead.search}) budget->bytes = limits.memory_bytes;
  lookahead.weight_bytes = limits.memory_bytes;
}

PlanStep read_step(Fields& fields, const Json& json, std::size_t index) {
  const std::string name = str_cat("plan[", index, "]");
  if (json.is_object()) {
    Fields step(json, fields.path() + name + ".");
    PlanStep out;
    const std::optional<std::string> action = step.text("action");
    if (!action) step.refuse("action", "is missing");
    out.action = *action;
    if (const Json* arguments = step.find("arguments")) {
      if (!arguments->is_array()) step.refuse("arguments", "must be a list of strings");
      for (const Json& argument : arguments->list()) {
        if (!argument.is_string()) step.refuse("arguments", "must be a list of strings");
        out.arguments.push_back(argument.text());
      }
    }
    step.refuse_others();
    return out;
  }
  if (!json.is_string()) fields.refuse(name, "must be text or an object with action and arguments");
  const std::vector<PlanStep> steps = parse_plan(json.text(), name);
  if (steps.size() != 1) fields.refuse(name, "must be one action");
  return steps.front();
}

}  // namespace

TaskRequest read_task(Fields& fields) {
  const std::optional<std::string> domain = fields.text("domain");
  const std::optional<std::string> problem = fields.text("problem");
  if (!domain) fields.refuse("domain", "is missing: PDDL text, or the name of a shipped domain");
  if (!problem) fields.refuse("problem", "is missing: PDDL text, or the name of a shipped problem");
  TaskRequest request;
  request.goal = fields.text("goal");
  const ShippedDomain* shipped = nullptr;
  if (is_pddl(*domain)) {
    request.domain.text = *domain;
  } else {
    shipped = &find_domain(fields, *domain);
    request.domain = {std::string(shipped->text), shipped->name};
  }
  if (is_pddl(*problem)) {
    request.problem.text = *problem;
    return request;
  }
  if (shipped == nullptr) fields.refuse("problem", "must be PDDL text where the domain is");
  std::vector<std::string> known;
  for (const ShippedProblem& one : shipped->problems) {
    known.push_back(one.name);
    if (one.name != *problem) continue;
    request.problem = {std::string(one.text), one.name};
    return request;
  }
  if (known.empty()) fields.refuse("problem", str_cat("must be PDDL text: no problem of ", *domain, " ships"));
  refuse_name(fields, "problem", *problem, known);
}

PlanRequest read_plan(Fields& fields, const RequestLimits& limits, bool chat) {
  PlanRequest request;
  request.task = read_task(fields);
  request.format = read_format(fields, request.own_format);
  PlanOptions& options = request.options;
  options.guidance = fields.choice<Guidance>("guidance").value_or(Guidance::kUniform);
  if (options.guidance == Guidance::kTrained && !limits.trained) {
    fields.refuse("guidance", "cannot be trained: this service was started without an HMM");
  }
  options.bridge = fields.choice<Bridge>("bridge", kNoBridge).value_or(Bridge::kUniform);
  options.on_infeasible =
      fields.choice<PlanOptions::OnInfeasible>("on_infeasible").value_or(PlanOptions::OnInfeasible::kError);
  options.tokenization = fields.choice<Tokenization>("tokens").value_or(Tokenization::kCanonical);
  options.instruction = fields.text("instruction").value_or("");
  request.said = options.instruction;
  request.hypotheses = static_cast<std::size_t>(fields.integer("hypotheses", 1, kMaxHypotheses).value_or(3));
  request.yes = fields.flag("yes").value_or(false);
  read_decoding(fields, limits, options);
  read_think(fields, limits, options.think);
  read_lookahead(fields, limits, request);
  request.trace = fields.flag("trace").value_or(false);
  request.certificate = fields.flag("certificate").value_or(false);
  if (chat) {
    // The turns of a chat change the task, so a proof would be about a text that nobody has sent.
    if (request.certificate) fields.refuse("certificate", "is for requests to /v1/plans");
    const std::string prompt = fields.text("prompt").value_or("task");
    if (prompt != "task" && prompt != "messages") fields.refuse("prompt", "must be task or messages");
    request.own_prompt = prompt == "messages";
  }
  return request;
}

std::vector<PlanStep> read_steps(Fields& fields) {
  const Json* plan = fields.find("plan");
  if (plan == nullptr) fields.refuse("plan", "is missing: text, or a list of actions");
  if (plan->is_string()) return parse_plan(plan->text(), "plan");
  if (!plan->is_array()) fields.refuse("plan", "must be text or a list of actions");
  std::vector<PlanStep> steps;
  for (std::size_t i = 0; i < plan->size(); ++i) steps.push_back(read_step(fields, (*plan)[i], i));
  return steps;
}

bool is_guaranteed(Guidance guidance) { return guidance != Guidance::kNone && guidance != Guidance::kSyntax; }

Json options_json(const RequestLimits& limits, std::size_t body_bytes, const std::string& version,
                  const std::string& model) {
  Json guidance = Json::array();
  for (const auto& [value, name] : enum_names(Guidance{})) {
    if (value == Guidance::kTrained && !limits.trained) continue;
    guidance.push_back({{"name", name}, {"description", describe(value)}, {"guaranteed", is_guaranteed(value)}});
  }
  return {{"version", version},
          {"guidance", std::move(guidance)},
          {"formats", PlanFormat::builtin_names()},
          {"decode", names_of<DecodeMode>()},
          {"bridge", names_of<Bridge>(kNoBridge)},
          {"tokens", names_of<Tokenization>()},
          {"on_infeasible", names_of<PlanOptions::OnInfeasible>()},
          {"goals", true},
          {"defaults",
           {{"model", model},
            {"guidance", to_string(Guidance::kUniform)},
            {"format", "pddl"},
            {"horizon", nullptr},
            {"slack", nullptr},
            {"idle_steps", false},
            {"no_detours", false},
            {"prefer", "model"},
            {"simplify", false},
            {"decode", to_string(DecodeMode::kGreedy)},
            {"on_infeasible", to_string(PlanOptions::OnInfeasible::kError)}}},
          {"limits",
           {{"body_bytes", body_bytes},
            {"tokens", limits.tokens},
            {"seconds", limits.seconds},
            {"states", limits.states},
            {"memory_bytes", limits.memory_bytes},
            {"horizon", limits.horizon},
            {"ground_actions", limits.ground_actions},
            {"ground_facts", limits.ground_facts},
            {"beam", limits.beam},
            {"samples", limits.samples},
            {"hypotheses", kMaxHypotheses}}}};
}

Json tasks_json() {
  Json domains = Json::array();
  for (const ShippedDomain& domain : shipped_domains()) {
    Json problems = Json::array();
    for (const ShippedProblem& problem : domain.problems) {
      problems.push_back({{"name", problem.name}, {"text", problem.text}});
    }
    domains.push_back({{"name", domain.name}, {"text", domain.text}, {"problems", std::move(problems)}});
  }
  return {{"domains", std::move(domains)}};
}

}  // namespace metactrl::serve
