// Settings of a task: two with small vocabularies that are made for it, one of which the exact lookahead serves; one
// where every answer comes from a search (tier B); one with the vocabulary of a real model; one whose weights come from
// a trained lookahead (its parameters are drawn: what it believes must not matter). Budgets are small: a task
// whose lookahead does not decide within them is reported as undecided and must then be offered nothing.
#include "attack/attacker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/generate.h"
#include "metactrl/schedule.h"
#include "support/str_cat.h"
#include "support/thinker.h"

namespace metactrl::attack {

using internal::str_cat;
using testing::Random;

struct Attacker::Way {
  const char* guidance;  // as the report says it
  Guidance level;
  Bridge bridge;
  const char* decode;
  DecodeMode mode;
  bool model;       // a language model writes; else tokens are drawn at random
  bool costly;      // every path of every action is scored
  unsigned weight;  // how often, of all
};

namespace {

constexpr const char* kContext = "The plan:\n\n";
constexpr std::size_t kFreeTokens = 40;  // for a model on its own
constexpr std::size_t kTrainedSetting = 4;
constexpr std::size_t kSlots = 4;   // of objects that a trained lookahead tells apart
constexpr std::size_t kHidden = 3;  // states of the hidden Markov models

// A lookahead for many small plans.
LookaheadOptions small_budgets(unsigned horizon) {
  LookaheadOptions options;
  options.horizon = horizon;
  options.slack = 4;
  options.exact = {20'000, std::size_t{64} << 20U};
  options.search = {2'000, std::size_t{64} << 20U};
  options.weight_bytes = std::size_t{64} << 20U;
  return options;
}

bool offers(std::span<const NextToken> choices, TokenId token) {
  return std::any_of(choices.begin(), choices.end(), [&](const NextToken& c) { return c.token == token; });
}

bool same(std::span<const NextToken> a, const std::vector<NextToken>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const NextToken& x, const NextToken& y) {
    return x.token == y.token && x.log_weight == y.log_weight;
  });
}

}  // namespace

std::string to_string(Focus focus) {
  switch (focus) {
    case Focus::kAll:
      return "";
    case Focus::kThinking:
      return " --focus thinking";
    case Focus::kGoals:
      return " --focus goals";
  }
  return "";
}

Attacker::Attacker(const TaskFiles& files, std::size_t number, const Options& options, Arsenal& arsenal, Report& report)
    : files_(files),
      number_(number),
      seed_(options.seed),
      focus_(options.focus),
      arsenal_(arsenal),
      report_(report),
      val_(find_val()),
      val_every_(options.val_every),
      task_(load_pddl(files.domain, files.problem)),
      judge_(files, val_) {
  for (const std::string& name : PlanFormat::builtin_names()) {
    try {
      const PlanSpelling spelling(PlanFormat::builtin(name), task_);
      formats_.push_back(name);
    } catch (const InputError&) {
      // A format that splits names into a word and a number cannot write names without one.
    }
  }
}

Attacker::~Attacker() {
  for (const Setting& setting : settings_) {
    if (!setting.real && setting.vocabulary != nullptr) arsenal_.forget(setting.vocabulary);
  }
  if (goal_words_ != nullptr) arsenal_.forget(goal_words_);
}

std::string Attacker::where(std::size_t index) const {
  return str_cat("--task '", files_.name(), "' --seed ", seed_, to_string(focus_), " --index ", index);
}

Observer Attacker::in_a_hurry(Attempt& attempt) const {
  Observer observer;
  observer.cancelled = [this, &attempt] { return attempt.cancelled = hurry_ && hurry_(); };
  return observer;
}

bool Attacker::promising() const {
  if (formats_.empty()) return false;
  return std::any_of(settings_.begin(), settings_.end(), [](const Setting& s) { return !s.tried || s.solvable; });
}

// --- settings --------------------------------------------------------------------------------------------------------

void Attacker::prepare(std::size_t number) {
  Setting& setting = settings_[number];
  if (setting.tried || formats_.empty()) return;
  setting.tried = true;
  setting.format = formats_[(number_ + number) % formats_.size()];
  setting.options.lookahead = small_budgets(number == 1 ? 20 : 10);
  setting.options.context = kContext;
  setting.real = number == 3;
  if (setting.real && arsenal_.real_names().empty()) return;
  if (number == kTrainedSetting) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < task_.num_action_names(); ++i)
      names.push_back(task_.action_name(ActionNameId{static_cast<std::uint32_t>(i)}));
    setting.options.lookahead.hmm = Hmm::random(Alphabet::meta(names, kSlots), kHidden, seed_ + number_);
  }
  // Every encoding of a plan's text, not the tokenizer's own alone.
  if (number == 1 || (number == 3 && number_ % 2 == 1)) setting.options.tokenization = Tokenization::kAny;
  // Every answer from a search.
  if (number == 2) setting.options.lookahead.exact.states = 0;
  compile(setting, number);
  if (setting.constraint == nullptr) return;
  const Lookahead& lookahead = *setting.constraint->lookahead();
  setting.solvable = lookahead.verdict() == Verdict::kSolvable;
  if (!setting.real && setting.options.tokenization == Tokenization::kCanonical) {
    const Vocabulary& words = *setting.vocabulary;
    const auto end = static_cast<std::uint32_t>(words.end_of_turn().front());
    setting.token_hmm = Hmm::random(Alphabet::tokens(words.size(), end, words.fingerprint()), kHidden, seed_ + number_);
  }
  if (!setting.solvable) refuse(setting, lookahead);
}

void Attacker::compile(Setting& setting, std::size_t number) {
  const bool any = setting.options.tokenization == Tokenization::kAny;
  const PlanFormat format = PlanFormat::builtin(setting.format);
  if (setting.real) {
    const std::size_t which = number_ % arsenal_.real_names().size();
    setting.vocabulary = arsenal_.real(which);
    setting.vocabulary_name = arsenal_.real_names()[which] + (any ? ", any tokens" : "");
    try {
      setting.constraint = Constraint::compile(task_, format, setting.vocabulary, setting.options, hurry_);
    } catch (const InputError& error) {
      report_.add_note("refused by the compiler",
                       str_cat(files_.name(), ", ", setting.format, ", ", setting.vocabulary_name, ": ", error.what()));
    }
    return;
  }
  const PlanSpelling spelling(format, task_);
  setting.vocabulary_name = "small, made for the task";
  if (any) setting.vocabulary_name += ", any tokens";
  for (unsigned tameness = 0; tameness < 3 && setting.constraint == nullptr; ++tameness) {
    setting.vocabulary = Arsenal::table(spelling, seed_ + number_ * kSettings + number, tameness);
    try {
      setting.constraint = Constraint::compile(task_, format, setting.vocabulary, setting.options, hurry_);
    } catch (const InputError&) {
      // Its tokens run across the border of two actions in a way that no cut can follow: refused, as it should be.
      if (tameness == 2) throw;
    }
  }
}

void Attacker::refuse(Setting& setting, const Lookahead& lookahead) {
  report_.add_note(str_cat(to_string(lookahead.verdict()), " with small budgets"),
                   str_cat(files_.name(), ", tier ", to_string(lookahead.tier()), ": ", lookahead.reason()));
  expect_nothing(setting);
  if (lookahead.verdict() == Verdict::kInfeasible) drop_goals(setting);
}

// Where no plan is known, nothing may be offered.
void Attacker::expect_nothing(const Setting& setting) {
  for (const Guidance level : {Guidance::kMask, setting.weighted()}) {
    Decoder decoder(setting.constraint, {.guidance = level});
    bool accepted = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(setting.vocabulary->size(), 1000); ++i)
      accepted = accepted || decoder.accept(TokenId{static_cast<std::int32_t>(i)});
    if (!decoder.next().empty() || accepted) {
      report_.add_violation({where(0), {Fault::kDecoder, "a token is offered although no plan is known", 0}});
    }
  }
}

void Attacker::drop_goals(const Setting& setting) {
  PlanOptions options;
  options.on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
  options.tokenization = setting.options.tokenization;
  options.lookahead = setting.options.lookahead;
  for (std::size_t kind = 0; kind < model_kinds().size(); ++kind) {
    Attempt attempt;
    attempt.cell = {"uniform, goals dropped", "plan()"};
    attempt.model = model_kinds()[kind].name;
    try {
      LanguageModel& model = arsenal_.model(setting.vocabulary, kind);
      const PlanResult result =
          plan(task_, PlanFormat::builtin(setting.format), &model, setting.vocabulary, options, in_a_hurry(attempt));
      if (attempt.cancelled) return;
      if (result.outcome != PlanOutcome::kPlan) return;  // even no goal at all is too much
      std::vector<std::string> dropped;
      for (const GoalId goal : result.goals_dropped) dropped.push_back(task_.goal_text(goal));
      attempt.finding = judge_.judge_steps(result.steps, dropped);
      attempt.tally.actions = result.steps.size();
      attempt.tally.tokens = result.tokens.size();
      attempt.tally.model_calls = result.model_calls;
    } catch (const std::exception& error) {
      attempt.finding = {Fault::kException, error.what(), 0};
    }
    record(setting, std::move(attempt), where(0) + ", goals dropped");
  }
}

// --- plans -----------------------------------------------------------------------------------------------------------

bool Attacker::attack(std::size_t index, const std::function<bool()>& hurry) {
  hurry_ = hurry;
  // Of twenty plans three have a real vocabulary, which is most of the cost.
  static constexpr std::array<std::size_t, 20> kTurns = {0, 1, 2, 3, 4, 1, 2, 0, 4, 2, 0, 3, 1, 4, 0, 1, 2, 0, 3, 1};
  const std::size_t number = kTurns[index % kTurns.size()];
  try {
    prepare(number);
  } catch (const Stopped&) {
    settings_[number] = {};
    return false;
  }
  const Setting& setting = settings_[number];
  if (!setting.solvable) return false;
  Attempt attempt = make(setting, index);
  if (attempt.cancelled) return false;
  const bool guaranteed = attempt.cell.guaranteed();
  record(setting, std::move(attempt), where(index));
  return guaranteed;
}

Attacker::Attempt Attacker::make(const Setting& setting, std::size_t index) {
  using enum DecodeMode;
  static const std::vector<Way> kWays = {
      {"none", Guidance::kSyntax, Bridge::kUniform, "greedy", kGreedy, true, false, 2},
      {"none", Guidance::kSyntax, Bridge::kUniform, "sample", kSample, true, false, 2},
      {"syntax", Guidance::kSyntax, Bridge::kUniform, "greedy", kGreedy, true, false, 2},
      {"syntax", Guidance::kSyntax, Bridge::kUniform, "sample", kSample, true, false, 2},
      {"syntax", Guidance::kSyntax, Bridge::kUniform, "smc", kSmc, true, false, 1},
      {"mask", Guidance::kMask, Bridge::kUniform, "greedy", kGreedy, true, false, 12},
      {"mask", Guidance::kMask, Bridge::kUniform, "sample", kSample, true, false, 12},
      {"mask", Guidance::kMask, Bridge::kUniform, "beam", kBeam, true, true, 3},
      {"mask", Guidance::kMask, Bridge::kUniform, "smc", kSmc, true, false, 4},
      {"mask", Guidance::kMask, Bridge::kUniform, "stumble", kSample, false, false, 6},
      {"uniform", Guidance::kUniform, Bridge::kUniform, "greedy", kGreedy, true, false, 12},
      {"uniform", Guidance::kUniform, Bridge::kUniform, "sample", kSample, true, false, 12},
      {"uniform", Guidance::kUniform, Bridge::kUniform, "beam", kBeam, true, true, 3},
      {"uniform", Guidance::kUniform, Bridge::kUniform, "smc", kSmc, true, false, 4},
      {"uniform", Guidance::kUniform, Bridge::kUniform, "stumble", kSample, false, false, 6},
      {"uniform/surrogate", Guidance::kUniform, Bridge::kSurrogate, "greedy", kGreedy, true, false, 6},
      {"uniform/surrogate", Guidance::kUniform, Bridge::kSurrogate, "sample", kSample, true, false, 6},
      {"uniform/surrogate", Guidance::kUniform, Bridge::kSurrogate, "beam", kBeam, true, true, 2},
      {"uniform/surrogate", Guidance::kUniform, Bridge::kSurrogate, "smc", kSmc, true, false, 2},
      {"uniform/model", Guidance::kUniform, Bridge::kModel, "greedy", kGreedy, true, true, 3},
      {"uniform/model", Guidance::kUniform, Bridge::kModel, "sample", kSample, true, true, 3},
      {"mask/hmm", Guidance::kMask, Bridge::kHmm, "greedy", kGreedy, true, false, 2},
      {"mask/hmm", Guidance::kMask, Bridge::kHmm, "sample", kSample, true, false, 2},
      {"uniform/hmm", Guidance::kUniform, Bridge::kHmm, "greedy", kGreedy, true, false, 3},
      {"uniform/hmm", Guidance::kUniform, Bridge::kHmm, "sample", kSample, true, false, 3},
      {"uniform/hmm", Guidance::kUniform, Bridge::kHmm, "stumble", kSample, false, false, 2},
      {"trained", Guidance::kTrained, Bridge::kUniform, "greedy", kGreedy, true, false, 12},
      {"trained", Guidance::kTrained, Bridge::kUniform, "sample", kSample, true, false, 12},
      {"trained", Guidance::kTrained, Bridge::kUniform, "beam", kBeam, true, true, 3},
      {"trained", Guidance::kTrained, Bridge::kUniform, "smc", kSmc, true, false, 4},
      {"trained", Guidance::kTrained, Bridge::kUniform, "stumble", kSample, false, false, 6},
      {"trained/surrogate", Guidance::kTrained, Bridge::kSurrogate, "greedy", kGreedy, true, false, 6},
      {"trained/surrogate", Guidance::kTrained, Bridge::kSurrogate, "sample", kSample, true, false, 6},
      {"trained/hmm", Guidance::kTrained, Bridge::kHmm, "greedy", kGreedy, true, false, 3},
      {"trained/hmm", Guidance::kTrained, Bridge::kHmm, "sample", kSample, true, false, 3},
  };
  Random random(seed_ * 1'000'003 + number_ * 7'919 + index * 104'729);
  Attempt attempt;
  try {
    // Once for each setting: the first indices have one of each.
    if (index < kSettings) {
      search(setting, attempt);
    } else if (index % 29 == 7) {
      call_planner(setting, index, random, attempt);
    } else if (takes(setting, Focus::kThinking, index, 23)) {
      think(setting, index, random, attempt);
    } else if (takes(setting, Focus::kGoals, index, 43)) {
      write_goals(setting, index, random, attempt);
    } else {
      unsigned total = 0;
      const auto weight = [&](const Way& way) -> unsigned {
        if ((way.level > Guidance::kMask && way.level != setting.weighted()) ||
            (way.bridge == Bridge::kHmm && !setting.token_hmm))
          return 0;
        // Scoring all paths over a hundred thousand tokens takes a second: now and then is enough.
        return (setting.real && way.costly ? 1 : 20) * way.weight;
      };
      for (const Way& way : kWays) total += weight(way);
      unsigned point = random.below(total);
      const Way* way = kWays.data();
      while (point >= weight(*way)) point -= weight(*way++);
      attempt.cell = {way->guidance, way->decode};
      if (way->model) {
        make_by_model(setting, *way, index, random, attempt);
      } else {
        stumble(setting, *way, random, attempt);
      }
    }
  } catch (const Stopped&) {
    attempt.cancelled = true;
  } catch (const std::exception& error) {
    attempt.finding = {Fault::kException, error.what(), 0};
  }
  return attempt;
}

bool Attacker::takes(const Setting& setting, Focus focus, std::size_t index, std::size_t period) const {
  if (setting.real) return false;
  // The rest shows that the models break plans where they may.
  if (focus_ == focus) return index % 8 != 0;
  return index % period == period / 2;
}

void Attacker::make_by_model(const Setting& setting, const Way& way, std::size_t index, Random& random,
                             Attempt& attempt) {
  const std::size_t kind = random.below(model_kinds().size());
  attempt.model = model_kinds()[kind].name;
  LanguageModel& model = arsenal_.model(setting.vocabulary, kind);
  // The number makes the model do something else for every plan.
  const std::vector<TokenId> prompt = setting.vocabulary->encode(str_cat(seed_, " ", index, " ", kContext), "");
  const std::unique_ptr<Session> session = model.start(prompt, 0);
  GenerateOptions options;
  options.mode = way.mode;
  options.temperature = std::vector<double>{0, 0.3, 1, 1, 4}[random.below(5)];
  options.top_p = std::vector<double>{1, 1, 0.9, 0.4}[random.below(4)];
  options.beam = random.between(1, 3);
  options.samples = random.between(1, 4);
  options.seed = random.next();
  options.max_tokens = kFreeTokens;
  Generation generation;
  if (attempt.cell.guidance == "none") {
    generation = generate_unconstrained(*session, *setting.vocabulary, options);
  } else {
    DecoderOptions decoder_options;
    decoder_options.guidance = way.level;
    decoder_options.bridge = way.bridge;
    if (way.bridge == Bridge::kHmm) decoder_options.token_hmm = setting.token_hmm;
    Decoder decoder(setting.constraint, decoder_options);
    generation = generate(decoder, *session, options, in_a_hurry(attempt));
  }
  if (attempt.cancelled) return;
  judge(setting, generation, attempt);
  if (way.mode == DecodeMode::kSmc && attempt.cell.guaranteed()) judge_particles(setting, generation, attempt);
}

void Attacker::judge(const Setting& setting, const Generation& generation, Attempt& attempt) {
  const bool guided = attempt.cell.guidance != "none";
  attempt.finding =
      judge_.judge(*setting.constraint, {generation, kContext, setting.constraint->lookahead()->horizon(), guided});
  attempt.tally.actions = generation.plan.size();
  attempt.tally.tokens = generation.tokens.size();
  attempt.tally.model_calls = generation.model_calls;
  judge_times(Judge::steps_of(*setting.constraint, generation.text), attempt);
}

// What is right as a sequence: with its times, where it has some, in both kinds of schedules, and by VAL. That is a process
// of its own, so it sees a part of them, of schedules one kind and the other in turn.
void Attacker::judge_times(const std::vector<PlanStep>& steps, Attempt& attempt) {
  if (attempt.finding.fault != Fault::kNone) return;
  std::string text = pddl_text(steps);
  if (has_durations(task_)) {
    for (const ScheduleKind kind : {ScheduleKind::kSequential, ScheduleKind::kConcurrent}) {
      std::string timed;
      for (const TimedStep& step : make_schedule(task_, steps, kind)) timed += to_string(step) + "\n";
      attempt.finding = judge_.judge_schedule(timed);
      if (attempt.finding.fault != Fault::kNone) return;
      if ((kind == ScheduleKind::kSequential) == (judged_ / val_every_ % 2 == 0)) text = std::move(timed);
    }
  }
  if (val_.empty() || attempt.finding.fault != Fault::kNone || ++judged_ % val_every_ != 0) return;
  if (const std::optional<Finding> verdict = judge_.ask_val(text)) {
    attempt.tally.asked_val = 1;
    attempt.finding = *verdict;
  } else if (!std::exchange(val_was_silent_, true)) {
    report_.add_note("VAL cannot read the files, or the actions of a plan", files_.name());
  }
}

void Attacker::judge_particles(const Setting& setting, const Generation& generation, Attempt& attempt) const {
  for (const Generation::Particle& particle : generation.particles) {
    if (particle.weight <= 0 || attempt.finding.fault != Fault::kNone) continue;
    ++attempt.tally.particles;
    if (!setting.constraint->spelling().parse(particle.text).complete) {
      attempt.finding = {Fault::kForm, "a particle: " + particle.text, 0};
    } else {
      attempt.finding = judge_.judge_steps(Judge::steps_of(*setting.constraint, particle.text));
    }
  }
}

// Draws from what is offered, offers what is not allowed, turns back, forks, and goes on as if nothing had happened.
void Attacker::stumble(const Setting& setting, const Way& way, Random& random, Attempt& attempt) {
  const auto wrong = [&](const char* what) { attempt.finding = {Fault::kDecoder, what, 0}; };
  const std::size_t num_tokens = setting.vocabulary->size();
  DecoderOptions options{.guidance = way.level, .bridge = way.bridge};
  if (way.bridge == Bridge::kHmm) options.token_hmm = setting.token_hmm;
  Decoder decoder(setting.constraint, options);
  std::vector<NextToken> choices;
  unsigned turns_back = 12;
  while (!decoder.finished()) {
    if (hurry_ && hurry_()) {
      attempt.cancelled = true;
      return;
    }
    choices.assign(decoder.next().begin(), decoder.next().end());
    if (choices.empty()) return wrong("nothing is offered before the end");
    for (const NextToken& choice : choices) {
      if (!std::isfinite(choice.log_weight)) return wrong("a weight is not finite");
    }
    const std::size_t before = decoder.num_tokens();
    for (int i = 0; i < 4; ++i) {
      const TokenId token = i == 0 ? setting.vocabulary->end_of_turn().front()
                                   : TokenId{static_cast<std::int32_t>(random.below(num_tokens + 2)) - 1};
      if (offers(choices, token)) continue;
      if (decoder.accept(token)) return wrong("a token that was not offered is accepted");
    }
    if (decoder.num_tokens() != before || !same(decoder.next(), choices)) return wrong("a refusal leaves a trace");
    if (random.chance(5)) {
      Decoder fork = decoder;
      if (!same(fork.next(), choices)) return wrong("a fork is different");
      for (int i = 0; i < 6 && !fork.finished(); ++i) {
        if (fork.next().empty()) return wrong("a fork is offered nothing before the end");
        fork.accept(fork.next()[random.below(fork.next().size())].token);
      }
      if (!same(decoder.next(), choices)) return wrong("a fork changes where it came from");
    }
    if (turns_back > 0 && random.chance(10)) {
      --turns_back;
      decoder.rollback(random.below(before + 2));
      continue;
    }
    if (!decoder.accept(choices[random.below(choices.size())].token))
      return wrong("a token that was offered is refused");
  }
  if (!decoder.next().empty() || decoder.accept(TokenId{0})) return wrong("something is offered after the end");
  Generation generation;
  generation.finished = true;
  generation.tokens.assign(decoder.tokens().begin(), decoder.tokens().end());
  for (const TokenId token : generation.tokens) generation.text += setting.vocabulary->bytes(token);
  generation.plan.assign(decoder.actions().begin(), decoder.actions().end());
  generation.separators.assign(decoder.separators().begin(), decoder.separators().end());
  attempt.model = "random";
  judge(setting, generation, attempt);
}

void Attacker::search(const Setting& setting, Attempt& attempt) {
  attempt.cell = {"search", "-"};
  PlanOptions options;
  options.guidance = Guidance::kSearch;
  options.lookahead = setting.options.lookahead;
  const PlanResult result =
      plan(task_, PlanFormat::builtin(setting.format), nullptr, nullptr, options, in_a_hurry(attempt));
  if (attempt.cancelled) return;
  if (result.outcome != PlanOutcome::kPlan) {
    attempt.finding = {Fault::kUnfinished, result.reason, 0};
    return;
  }
  const std::vector<PlanStep> steps = Judge::steps_of(*setting.constraint, result.text);
  attempt.finding = judge_.judge_steps(steps);
  judge_times(steps, attempt);
  attempt.tally.actions = result.steps.size();
}

PlanOptions Attacker::planner_options(const Setting& setting, std::size_t index, Random& random) const {
  PlanOptions options;
  options.guidance = random.chance(50) ? Guidance::kMask : setting.weighted();
  options.bridge = random.chance(50) ? Bridge::kUniform : Bridge::kSurrogate;
  options.generate.mode = random.chance(50) ? DecodeMode::kGreedy : DecodeMode::kSample;
  options.generate.seed = random.next();
  options.lookahead = setting.options.lookahead;
  if (task_.num_goals() > 0) options.instruction = str_cat("Request ", index);  // refused where nothing is asked for
  options.tokenization = setting.options.tokenization;
  return options;
}

// The whole way of `metactrl plan`, prompt included.
void Attacker::call_planner(const Setting& setting, std::size_t index, Random& random, Attempt& attempt) {
  const std::size_t kind = index % model_kinds().size();
  attempt.model = model_kinds()[kind].name;
  const PlanOptions options = planner_options(setting, index, random);
  attempt.cell = {to_string(options.guidance), "plan()"};
  LanguageModel& model = arsenal_.model(setting.vocabulary, kind);
  const PlanResult result =
      plan(task_, PlanFormat::builtin(setting.format), &model, setting.vocabulary, options, in_a_hurry(attempt));
  if (!attempt.cancelled) judge_result(setting, result, attempt);
}

void Attacker::judge_result(const Setting& setting, const PlanResult& result, Attempt& attempt) {
  if (result.outcome != PlanOutcome::kPlan || result.guarantee != Guarantee::kFull) {
    attempt.finding = {Fault::kUnfinished, result.reason, 0};
    return;
  }
  const std::vector<PlanStep> steps = Judge::steps_of(*setting.constraint, result.text);
  attempt.finding = judge_.judge_steps(steps);
  judge_times(steps, attempt);
  attempt.tally.actions = result.steps.size();
  attempt.tally.tokens = result.tokens.size();
  attempt.tally.model_calls = result.model_calls;
}

// A model that thinks before it answers, and how: not at all, without end, with a marker too early, with the end of the
// turn or with a plan in the middle.
void Attacker::think(const Setting& setting, std::size_t index, Random& random, Attempt& attempt) {
  const std::size_t kind = index % model_kinds().size();
  attempt.model = model_kinds()[kind].name;
  const Vocabulary& words = *setting.vocabulary;
  testing::Thinker model(Arsenal::make_model(setting.vocabulary, kind), {"<think>\n", "\n", "</think>", "\n\n", true});
  const auto write = [&](const std::string& text) {
    const std::vector<TokenId> tokens = words.encode(text, "");
    model.script.insert(model.script.end(), tokens.begin(), tokens.end());
  };
  const std::uint32_t manner = random.below(6);
  if (manner == 1) write("</think>");
  if (manner == 2) write("hm.</think></think>\n");
  if (manner == 3) write("</thi<think>\n");
  if (manner == 4) model.script.push_back(words.end_of_turn().front());
  if (manner == 5 && task_.num_actions() > 0) {
    std::vector<ActionId> plan(random.between(1, 3));
    for (ActionId& action : plan) action = ActionId{random.below(task_.num_actions())};
    write(setting.constraint->spelling().render(plan, std::vector<std::uint32_t>(plan.size() - 1, 0)));
  }
  model.forever = random.chance(30);
  PlanOptions options = planner_options(setting, index, random);
  options.think.max_tokens = random.below(24);
  attempt.cell = {to_string(options.guidance), "plan(), thinking"};
  const PlanResult result =
      plan(task_, PlanFormat::builtin(setting.format), &model, setting.vocabulary, options, in_a_hurry(attempt));
  if (!attempt.cancelled) judge_result(setting, result, attempt);
}

// The model writes the goal, too. Each one that is given back must be reached by a plan for it, in a problem that has
// this goal and was parsed anew.
void Attacker::write_goals(const Setting& setting, std::size_t index, Random& random, Attempt& attempt) {
  const std::size_t kind = index % model_kinds().size();
  attempt.model = model_kinds()[kind].name;
  attempt.cell = {"goal from words", "plan()"};
  if (!goal_problem_) {
    goal_problem_ = GoalProblem::load(files_.domain, files_.problem);
    goal_words_ = Arsenal::table(setting.constraint->spelling(), seed_ + number_, 1);
  }
  GoalProblem::Options options;
  options.guidance = random.chance(50) ? Guidance::kMask : Guidance::kUniform;
  options.lookahead = small_budgets(10);
  options.hypotheses = random.between(1, 3);
  options.max_conditions = random.between(1, 4);
  options.max_items = 500;
  options.max_proofs = 12;
  LanguageModel& model = arsenal_.model(goal_words_, kind);
  const GoalProblem::Written written =
      goal_problem_->write(str_cat("Request ", index), model, goal_words_, options, hurry_);
  for (const GoalProblem::Goal& goal : written.goals) {
    PlanOptions how;
    how.guidance = Guidance::kSearch;
    how.lookahead = options.lookahead;
    const PlanResult result =
        plan(goal_problem_->task(goal.pddl), PlanFormat::builtin("pddl"), nullptr, nullptr, how, in_a_hurry(attempt));
    if (attempt.cancelled) return;
    attempt.tally.actions += result.steps.size();
    if (!written.certified || result.outcome != PlanOutcome::kPlan) {
      attempt.finding = {Fault::kUnfinished, str_cat(goal.pddl, ": ", result.reason), 0};
    } else {
      attempt.finding = Judge(files_, "", goal_problem_->problem_text(goal.pddl)).judge_steps(result.steps);
    }
    if (attempt.finding.fault != Fault::kNone) return;
  }
  attempt.tally.model_calls = written.model_calls;
  attempt.cancelled = written.goals.empty();  // nothing was promised
}

void Attacker::record(const Setting& setting, Attempt attempt, const std::string& where) {
  attempt.tally.plans = 1;
  attempt.tally.faults[static_cast<std::size_t>(attempt.finding.fault)] = 1;
  // A search has no words, and goals are written with some of their own.
  const std::string words = attempt.cell.guidance == "search"            ? "none"
                            : attempt.cell.guidance == "goal from words" ? "small, made for the task"
                                                                         : setting.vocabulary_name;
  report_.add(files_.family, attempt.cell, attempt.model, setting.format, words, attempt.tally);
  if (attempt.cell.guaranteed() && attempt.finding.fault != Fault::kNone) {
    report_.add_violation({str_cat(where, " (", attempt.cell.guidance, ", ", attempt.cell.decode, ", ", attempt.model,
                                   ", ", setting.format, ", ", words, ")"),
                           attempt.finding});
  }
}

}  // namespace metactrl::attack
