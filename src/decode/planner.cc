// One request, from options to a checked result.
//
//   1. Options that cannot be are refused.
//   2. The constraint is compiled with the prompt's end as context. Where its verdict is not "solvable", the request's
//      own wish decides: no plan, fewer goals, or form only.
//   3. The horizon is lowered to what the model's context certainly holds; so a plan never ends because memory does.
//   4. A model that thinks first does so; its thought has the room that the longest plan leaves. The plan is decoded.
//   5. The plan is read back from its text, compared with the tokenizer's encoding and executed by the reference
//      semantics of the task that was given. A guarantee that does not pass is a bug, and thrown as one.
#include "metactrl/planner.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "decode/answer_size.h"
#include "decode/check_result.h"
#include "decode/constraint_parts.h"
#include "decode/free_text.h"
#include "decode/plan_request.h"
#include "decode/think.h"
#include "decode/timed_session.h"
#include "lookahead/best_known.h"
#include "lookahead/concurrency.h"
#include "lookahead/drop_goals.h"
#include "lookahead/infeasible.h"
#include "lookahead/needless.h"
#include "lookahead/preferences.h"
#include "metactrl/error.h"
#include "support/list_some.h"
#include "support/stopwatch.h"
#include "support/str_cat.h"

namespace metactrl {

namespace {

using internal::str_cat;

// A lookahead that nobody will ask costs as little as possible.
LookaheadOptions cheapest(LookaheadOptions options) {
  options.fixed_horizon = true;
  options.weights = false;
  options.exact.states = 1;
  options.search.states = 1;
  return options;
}

class Planner {
 public:
  Planner(const Task& task, const PlanFormat& format, LanguageModel* model,
          std::shared_ptr<const Vocabulary> vocabulary, const PlanOptions& options, const Observer& observer)
      : task_(task),
        format_(format),
        model_(model),
        vocabulary_(std::move(vocabulary)),
        options_(options),
        observer_(observer),
        generate_(options.generate) {
    plain_lookahead_ = options.lookahead;
    plain_lookahead_.hmm.reset();
  }

  PlanResult run() {
    decode::check_options(model_, vocabulary_.get(), options_);
    decode::check_instruction(task_, options_);
    decide_thinking();
    phase(Observer::Phase::kCompiling);
    result_.pursued = task_;
    try {
      if (stopped()) throw Stopped(Stopped::kCancelled);
      make();
    } catch (const Stopped&) {
      if (!cancelled_ && !out_of_time_) throw;  // somebody else's
      give_up();
    }
    return std::move(result_);
  }

 private:
  void make() {
    const bool promises = options_.guidance != Guidance::kNone && options_.guidance != Guidance::kSyntax;
    if (promises && has_preferences(task_)) choose();
    switch (options_.guidance) {
      case Guidance::kSearch:
        search();
        break;
      case Guidance::kNone:
        write_freely();
        break;
      default:
        decode_guided();
    }
  }

  // What is to be satisfied besides the goals is decided before the model writes anything: then it is as certain as they
  // are.
  void choose() {
    const internal::Stopwatch watch;
    PreferenceOptions options;
    options.lookahead = plain_lookahead_;
    PreferenceChoice choice = choose_preferences(task_, options, stop_);
    result_.times.lookahead += watch.seconds();
    result_.preferences = PlanResult::Preferences{};
    result_.preferences->promised = std::move(choice.chosen);
    result_.preferences->lower_bound = choice.lower_bound;
    result_.pursued = std::move(choice.task);
  }

  // --- thinking ----------------------------------------------------------------------------------------------------

  void decide_thinking() {
    if (options_.guidance == Guidance::kSearch) return;
    frame_ = decode::decide_thinking(*model_, options_.think, options_.prompt && !options_.prompt->raw.empty());
  }

  Prompt prompt_for(const Task& task, const PlanSpelling& spelling) const {
    Prompt prompt = options_.prompt ? *options_.prompt : make_prompt(task, spelling, options_.instruction);
    decode::tell_template(*model_, options_.think, frame_.has_value(), prompt);
    return prompt;
  }

  // How much of `room` is for the thought when the answer takes up to `answer` tokens.
  void take_room_for_thought(std::size_t room, std::size_t answer) {
    if (frame_) think_budget_ = decode::thought_budget(*frame_, options_.think, room, answer);
  }

  std::size_t room_of_thought() const { return frame_ ? frame_->room(think_budget_) : 0; }

  // Before the plan. What the model read is the prompt from there on.
  void think(Session& session) {
    if (!frame_) return;
    const internal::Stopwatch watch;
    const std::size_t calls = session.num_calls();
    decode::ThoughtTokens thought =
        decode::think(session, *vocabulary_, *frame_, options_.think, think_budget_, options_.generate.seed, watched());
    result_.prompt.insert(result_.prompt.end(), thought.tokens.begin(), thought.tokens.end());
    result_.thought = std::move(thought.thought);
    result_.model_calls += session.num_calls() - calls;
    result_.times.think = watch.seconds();
  }

  // --- the end before the end ----------------------------------------------------------------------------------------

  // Once it was true it stays so: whatever was cut short then is not the answer.
  bool stopped() {
    if (cancelled_ || out_of_time_) return true;
    cancelled_ = observer_.cancelled && observer_.cancelled();
    out_of_time_ = !cancelled_ && options_.time_limit && clock_.seconds() >= *options_.time_limit;
    return cancelled_ || out_of_time_;
  }

  // No plan, because there was no time for one or nobody waits for it any more.
  void give_up() {
    result_.outcome = out_of_time_ ? PlanOutcome::kUndecided : PlanOutcome::kCancelled;
    result_.out_of_time = out_of_time_;
    result_.guarantee = Guarantee::kNone;
    result_.reason =
        out_of_time_ ? "the time limit ended before the answer was complete" : "stopped before the plan was complete";
    result_.preferences.reset();
    result_.goals_dropped.clear();
    result_.goals_unmet.clear();
    for (std::uint32_t goal = 0; goal < task_.num_goals(); ++goal) result_.goals_unmet.push_back(GoalId{goal});
  }

  // --- without a model ---------------------------------------------------------------------------------------------

  void search() {
    const internal::Stopwatch watch;
    auto lookahead = Lookahead::compile(*result_.pursued, plain_lookahead_, stop_);
    if (lookahead->verdict() != Verdict::kSolvable) {
      if (options_.on_infeasible == PlanOptions::OnInfeasible::kError) {
        refuse(*lookahead);
        return;
      }
      lookahead = drop_goals(lookahead);
      if (lookahead == nullptr) return;
    }
    result_.times.lookahead += watch.seconds();
    const PlanSpelling spelling(format_, *result_.pursued);
    take_lookahead(lookahead);
    guarantee_goals();
    if (observer_.ready) observer_.ready(result_, 0);
    result_.outcome = PlanOutcome::kPlan;
    result_.separators.assign(lookahead->plan().empty() ? 0 : lookahead->plan().size() - 1, 0);
    result_.text = spelling.render(lookahead->plan(), result_.separators);
    if (observer_.action) {
      for (std::size_t i = 0; i < lookahead->plan().size(); ++i) {
        const bool last = i + 1 == lookahead->plan().size();
        observer_.action(lookahead->plan()[i], last ? result_.text : text_before_next(spelling, lookahead->plan(), i));
      }
    }
    check(spelling, lookahead->plan());
  }

  // The text up to where action i + 1 begins.
  static std::string text_before_next(const PlanSpelling& spelling, std::span<const ActionId> plan, std::size_t i) {
    std::string text = spelling.render(plan.first(i + 1));
    text.resize(text.size() - spelling.format().close.size());
    return text + spelling.format().separators[0];
  }

  // --- the model alone ---------------------------------------------------------------------------------------------

  void write_freely() {
    const internal::Stopwatch compiling;
    const PlanSpelling spelling(format_, task_);
    result_.times.format = compiling.seconds();
    const Prompt prompt = prompt_for(task_, spelling);
    result_.prompt = model_->encode_prompt(prompt, stop_);
    result_.prompt_text = model_->render_prompt(prompt);
    const std::size_t room = room_for_answer();
    take_room_for_thought(room, std::min(generate_.max_tokens, room));
    const std::size_t thought = room_of_thought();
    generate_.max_tokens = std::min(generate_.max_tokens, room > thought ? room - thought : 1);
    Generation generation;
    run_model(generate_.max_tokens + thought, [&](Session& session) {
      think(session);
      generation = generate_unconstrained(session, *vocabulary_, generate_, watched());
    });
    if (out_of_time_) {
      give_up();
      return;
    }
    take(generation);
    result_.outcome = cancelled_ ? PlanOutcome::kCancelled : PlanOutcome::kPlan;
    result_.reason =
        cancelled_ ? "stopped before the model had finished" : "guidance none: the model wrote what it liked";
    if (!cancelled_ && !generation.finished) {
      result_.reason += str_cat(", and was cut off after ", generation.tokens.size(), " tokens");
    }
    const std::vector<ActionId> actions = read_freely(spelling);
    check(spelling, actions);
  }

  std::vector<ActionId> read_freely(const PlanSpelling& spelling) {
    const decode::FreeText read = decode::read_free_text(spelling, result_.text);
    const PlanSpelling::Parsed& parsed = read.parsed;
    result_.reading.closing_added = read.closing_added;
    result_.reading.complete = parsed.complete;
    result_.reading.error = parsed.error;
    if (!parsed.complete && parsed.error.empty()) {
      result_.reading.error = str_cat("the text ends before the plan does; read ", parsed.actions.size(),
                                      parsed.actions.size() == 1 ? " action" : " actions");
    }
    result_.separators = parsed.separators;
    return parsed.actions;
  }

  // --- guided ------------------------------------------------------------------------------------------------------

  void decode_guided() {
    Guidance guidance = options_.guidance;
    compile(guidance == Guidance::kSyntax ? cheapest(plain_lookahead_) : lookahead_options());
    const Lookahead& lookahead = *result_.constraint->lookahead();
    if (guidance == Guidance::kSyntax) {
      result_.guarantee = Guarantee::kSyntaxOnly;
      result_.reason = "guidance syntax: the text is a well-formed plan, and nothing else was enforced";
    } else if (lookahead.verdict() == Verdict::kSolvable) {
      guarantee_goals();
    } else if (!resolve_infeasible(lookahead, guidance)) {
      return;
    }
    if (guidance != Guidance::kSyntax) {
      take_lookahead(result_.constraint->lookahead());
      finish_reason();
    }
    decode(guidance);
  }

  const LookaheadOptions& lookahead_options() const {
    return options_.guidance == Guidance::kTrained ? options_.lookahead : plain_lookahead_;
  }

  void compile(const LookaheadOptions& lookahead) {
    const PlanSpelling spelling(format_, *result_.pursued);
    const Prompt prompt = prompt_for(*result_.pursued, spelling);
    result_.prompt = model_->encode_prompt(prompt, stop_);
    result_.prompt_text = model_->render_prompt(prompt);
    context_ = frame_ ? frame_->context() : result_.prompt_text;
    ConstraintOptions constraint_options;
    constraint_options.lookahead = lookahead;
    constraint_options.context = context_;
    constraint_options.tokenization = options_.tokenization;
    constraint_options.max_actions = std::max(1U, lookahead.horizon);
    const internal::Stopwatch watch;
    result_.constraint = options_.constraints
                             ? options_.constraints(*result_.pursued, format_, vocabulary_, constraint_options)
                             : Constraint::compile(*result_.pursued, format_, vocabulary_, constraint_options, stop_);
    // What a constraint took that was compiled before is nothing that this request waited for.
    const Constraint::Parts::Times& times = result_.constraint->parts().times;
    if (watch.seconds() >= times.total()) {
      result_.times.format += times.format;
      result_.times.automaton += times.automaton;
      result_.times.lookahead += times.lookahead;
    }
    result_.horizon = result_.constraint->lookahead()->horizon();
  }

  // The wish of the request. False: there will be no plan.
  bool resolve_infeasible(const Lookahead& lookahead, Guidance& guidance) {
    switch (options_.on_infeasible) {
      case PlanOptions::OnInfeasible::kError:
        refuse(lookahead);
        return false;
      case PlanOptions::OnInfeasible::kDropGoals:
        if (drop_goals(result_.constraint->lookahead()) == nullptr) return false;
        compile(lookahead_options());
        guarantee_goals();
        return true;
      case PlanOptions::OnInfeasible::kSyntax:
        break;
    }
    guidance = Guidance::kSyntax;
    result_.guarantee = Guarantee::kSyntaxOnly;
    result_.reason = str_cat("the task is ", to_string(lookahead.verdict()), " (", lookahead.reason(),
                             "), so only the form of the plan was enforced");
    if (generate_.mode == DecodeMode::kBeam) {
      generate_.mode = DecodeMode::kGreedy;
      result_.reason += ", decoded greedily";
    }
    return true;
  }

  void refuse(const Lookahead& lookahead) {
    result_.outcome = lookahead.verdict() == Verdict::kInfeasible ? PlanOutcome::kInfeasible : PlanOutcome::kUndecided;
    result_.guarantee = Guarantee::kNone;
    result_.preferences.reset();
    result_.reason = lookahead.reason();
    for (std::uint32_t goal = 0; goal < task_.num_goals(); ++goal) result_.goals_unmet.push_back(GoalId{goal});
    if (result_.outcome != PlanOutcome::kInfeasible) {
      const std::string why = lookahead::why_undecided(task_, stop_);
      if (!why.empty()) result_.reason += "; " + why;
      return;
    }
    WhyInfeasible why = lookahead::why_infeasible(task_, lookahead, stop_);
    result_.why_infeasible = std::move(why.reasons);
    result_.would_help = std::move(why.would_help);
  }

  // Turns to the goals that can be reached together. Null, and a refusal, when even no goal at all is too much.
  std::shared_ptr<const Lookahead> drop_goals(const std::shared_ptr<const Lookahead>& lookahead) {
    const internal::Stopwatch watch;
    // Preferences that were chosen are goals of another task.
    const bool whole = &lookahead->task().program() == &task_.program();
    ReducedTask reduced = drop_unreachable_goals(task_, plain_lookahead_, stop_, whole ? lookahead : nullptr);
    why_dropped_ = lookahead->reason() + (reduced.fewest ? "" : "; that no fewer would do is not proved");
    result_.times.lookahead += watch.seconds();
    if (reduced.lookahead->verdict() != Verdict::kSolvable) {
      refuse(*reduced.lookahead);
      return nullptr;
    }
    result_.pursued = std::move(reduced.task);
    result_.goals_dropped = std::move(reduced.dropped);
    return reduced.lookahead;
  }

  void guarantee_goals() {
    if (result_.goals_dropped.empty()) {
      result_.guarantee = Guarantee::kFull;
      result_.reason = "every step is legal and every goal holds at the end";
      if (result_.preferences) {
        result_.reason = str_cat("every step is legal, every goal and ", result_.preferences->promised.size(), " of ",
                                 task_.program().definition().preferences.size(), " preferences hold at the end");
      }
      return;
    }
    std::vector<std::string> dropped;
    for (GoalId goal : result_.goals_dropped) dropped.push_back(task_.goal_text(goal));
    result_.guarantee = Guarantee::kGoalsDropped;
    result_.reason =
        str_cat(dropped.size(), " of ", task_.num_goals(), " goals dropped: ", internal::list_some(dropped), " (",
                why_dropped_, "); every step is legal and every other goal holds at the end");
  }

  void take_lookahead(const std::shared_ptr<const Lookahead>& lookahead) {
    result_.lookahead = lookahead;
    result_.tier = lookahead->tier();
    result_.weight_rule = lookahead->weight_rule();
    result_.horizon_rule = lookahead->horizon_rule();
    result_.horizon = lookahead->horizon();
    const std::optional<BestKnown> best = best_known(*lookahead);
    if (!best) return;
    result_.best_length = best->length;
    result_.best_is_shortest = best->shortest;
    result_.shortest_length = lookahead->shortest_plan_length();
    result_.best_cost = best->cost;
    result_.best_is_cheapest = best->cheapest;
    result_.least_cost = best->least_cost;
  }

  void finish_reason() {
    if (result_.guarantee == Guarantee::kFull) result_.reason += str_cat(" (", result_.lookahead->reason(), ")");
  }

  // --- decoding ----------------------------------------------------------------------------------------------------

  std::size_t room_for_answer() {
    result_.prompt_tokens = result_.prompt.size();
    const std::size_t context = model_->context_length();
    if (result_.prompt.size() >= context) {
      throw ContextError(str_cat("the prompt has ", result_.prompt.size(), " tokens, but the context holds ", context,
                                 "; shorten the prompt or give the model a larger context"));
    }
    return context - result_.prompt.size();
  }

  // Lowers the horizon to what certainly fits; returns how many tokens the longest plan takes.
  std::size_t fit_horizon(Guidance guidance) {
    const decode::AnswerSize size = decode::answer_size(*result_.constraint, result_.horizon);
    const std::size_t all_room = room_for_answer();
    take_room_for_thought(all_room, size.of(result_.horizon));
    const std::size_t room = all_room - std::min(all_room, room_of_thought());
    const std::size_t fitting = room > size.fixed ? (room - size.fixed) / size.per_action : 0;
    if (fitting < result_.horizon) {
      const std::size_t known = guidance == Guidance::kSyntax ? 1 : result_.constraint->lookahead()->plan().size();
      if (fitting < std::max<std::size_t>(1, known)) {
        throw ContextError(str_cat("the context holds ", model_->context_length(), " tokens and the prompt has ",
                                   result_.prompt.size(), ", but a plan of ", known, " actions may take ",
                                   size.of(known), "; shorten the prompt or give the model a larger context"));
      }
      result_.horizon = static_cast<unsigned>(fitting);
      result_.horizon_cut_by_context = true;
    }
    return size.of(result_.horizon);
  }

  void decode(Guidance guidance) {
    const std::size_t reserve = fit_horizon(guidance);
    DecoderOptions decoder_options;
    decoder_options.guidance = guidance;
    decoder_options.bridge = options_.bridge;
    decoder_options.token_hmm = options_.token_hmm;
    decoder_options.horizon = result_.horizon;
    decoder_options.support = options_.support;
    decoder_options.per_action = options_.prefer_short;
    if (result_.best_cost > 0) {
      decoder_options.per_cost = options_.prefer_cheap * static_cast<double>(*result_.best_length) / result_.best_cost;
    }
    result_.decoder = decoder_options;
    Decoder decoder(result_.constraint, decoder_options, stop_);
    Generation generation;
    run_model(reserve + room_of_thought(), [&](Session& session) {
      think(session);
      generation = generate(decoder, session, generate_, watched());
    });
    if (out_of_time_) {
      give_up();
      return;
    }
    take(generation);
    const std::vector<ActionId> actions = generation.plan;
    // Modes that keep several plans may have a complete one by then; another could have been better.
    if (cancelled_) {
      result_.outcome = PlanOutcome::kCancelled;
      result_.guarantee = Guarantee::kNone;
      result_.reason = "stopped before the plan was complete";
    } else if (!generation.finished) {
      throw std::logic_error("the decoder ended without a plan although there is one");
    } else {
      result_.outcome = PlanOutcome::kPlan;
    }
    result_.separators = generation.separators;
    check(result_.constraint->spelling(), actions);
    if (result_.outcome == PlanOutcome::kPlan && promised()) leave_out_needless(actions);
  }

  // --- steps that nobody needs -------------------------------------------------------------------------------------

  // `plan` is of the task that was pursued, and was found good.
  void leave_out_needless(const std::vector<ActionId>& plan) {
    constexpr std::size_t kLongest = 1000;
    if (plan.size() > kLongest) return;
    internal::Meter meter(stop_);
    const State state = result_.pursued->initial_state();
    const task::Program& program = result_.pursued->program();
    result_.needless = lookahead::needless_steps(program, state.words().data(), plan, meter);
    if (!options_.simplify || result_.needless.empty()) return;
    std::vector<std::uint32_t> separators;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (std::binary_search(result_.needless.begin(), result_.needless.end(), i)) {
        result_.left_out.push_back(result_.steps[i]);
      } else if (i < result_.separators.size()) {
        separators.push_back(result_.separators[i]);
      }
    }
    const std::vector<ActionId> rest = lookahead::without_steps(plan, result_.needless);
    separators.resize(rest.empty() ? 0 : rest.size() - 1);
    result_.needless.clear();
    result_.separators = std::move(separators);
    result_.text = result_.constraint->spelling().render(rest, result_.separators);
    check(result_.constraint->spelling(), rest);
  }

  bool promised() const {
    return result_.guarantee == Guarantee::kFull || result_.guarantee == Guarantee::kGoalsDropped;
  }

  // Who watches, with the time limit as one more reason to stop.
  Observer watched() const {
    Observer out = observer_;
    out.cancelled = stop_;
    return out;
  }

  template <typename Work>
  void run_model(std::size_t reserve, const Work& work) {
    if (observer_.ready) observer_.ready(result_, reserve);
    phase(Observer::Phase::kReadingPrompt);
    result_.device = model_->device();
    const internal::Stopwatch watch;
    decode::ModelTimes times;
    times.after_first = [this] { phase(Observer::Phase::kDecoding); };
    {
      decode::TimedSession session(model_->start(result_.prompt, reserve), times);
      // Some models read the prompt at once, others when they are first asked something.
      result_.model_calls = session.num_calls();
      if (result_.model_calls > 0) session.started_after(watch.seconds());
      work(session);
    }
    result_.times.prompt = times.first;
    result_.times.model = times.total;
    result_.times.decode = std::max(0.0, watch.seconds() - times.first);
  }

  void take(const Generation& generation) {
    result_.text = generation.text;
    result_.tokens = generation.tokens;
    result_.forced_tokens = generation.forced_tokens;
    result_.model_calls += generation.model_calls;
    const bool computed = decode::keeps_several_plans(generate_.mode) ||
                          (generate_.log_probability && options_.guidance != Guidance::kNone);
    if (computed && generation.finished) result_.log_probability = generation.log_probability;
    if (generate_.mode == DecodeMode::kSmc && generation.finished) {
      result_.log_evidence = generation.log_evidence;
      result_.particles = generation.particles;
    }
  }

  void phase(Observer::Phase phase) {
    if (observer_.phase) observer_.phase(phase);
  }

  // --- the check ---------------------------------------------------------------------------------------------------

  // `actions` are of the task that was pursued; the result's are of the one that was given.
  void check(const PlanSpelling& spelling, std::span<const ActionId> actions) {
    phase(Observer::Phase::kChecking);
    const internal::Stopwatch watch;
    result_.steps.clear();
    result_.plan.clear();
    for (ActionId action : actions) {
      result_.steps.push_back(result_.pursued->step(action));
      const std::optional<ActionId> original = task_.find(result_.steps.back());
      if (!original)
        throw std::logic_error("an action of the reduced task is unknown: " + to_string(result_.steps.back()));
      result_.plan.push_back(*original);
    }
    if (options_.guidance != Guidance::kNone && result_.outcome == PlanOutcome::kPlan) {
      decode::check_text(spelling, actions, result_);
      result_.reading.complete = true;
      // The tokens are those of the text as it was written.
      if (options_.guidance != Guidance::kSearch && result_.left_out.empty()) {
        decode::check_tokens(*vocabulary_, context_, options_.tokenization, result_);
      }
    }
    result_.validation = task_.validate(result_.steps, stop_, options_.check_bytes);
    decode::judge_goals(task_, result_);
    if (promised()) decode::check_promise(result_);
    if (result_.preferences) result_.preferences->value = metric_value(task_, result_.validation);
    if (result_.outcome == PlanOutcome::kPlan && !promised()) {
      if (!result_.reading.complete) {
        result_.reason += "; the text is no plan: " + result_.reading.error;
      } else {
        result_.reason += result_.validation.valid
                              ? "; checked afterwards, the plan is valid"
                              : "; checked afterwards, it is not valid: " + result_.validation.reason;
      }
    }
    result_.times.check += watch.seconds();
  }

  const Task& task_;
  const PlanFormat& format_;
  LanguageModel* model_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  const PlanOptions& options_;
  const Observer& observer_;
  GenerateOptions generate_;
  LookaheadOptions plain_lookahead_;            // without a trained surrogate
  std::string context_;                         // the text before the plan, or its end
  std::optional<decode::ThinkingFrame> frame_;  // of a model that thinks first
  std::size_t think_budget_ = 0;
  std::string why_dropped_;
  const internal::Stopwatch clock_;
  const Stop stop_ = [this] { return stopped(); };
  bool cancelled_ = false;
  bool out_of_time_ = false;
  PlanResult result_;
};

}  // namespace

PlanResult plan(const Task& task, const PlanFormat& format, LanguageModel* model,
                std::shared_ptr<const Vocabulary> vocabulary, const PlanOptions& options, const Observer& observer) {
  return Planner(task, format, model, std::move(vocabulary), options, observer).run();
}

}  // namespace metactrl
