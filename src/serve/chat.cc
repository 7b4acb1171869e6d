// What OpenAI's API offers and this service does not have (tools without a plan, response formats) is refused in its error shape instead of being ignored, since an answer without it would not be
// what was asked for. So is whatever nobody knows. Members that change nothing of substance (user, metadata) are let
// through, and settings at the value that means "off", which many clients send with every request.
#include "serve/chat.h"

#include <algorithm>
#include <ctime>
#include <random>
#include <utility>

#include "serve/sampling.h"
#include "serve/thinking.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

// Putting them into the model's template takes the square of their number.
constexpr std::size_t kMaxMessages = 1024;

// The text of a message: a string, or a list of parts of type text.
std::string content_text(const Json& content, const std::string& where) {
  if (content.is_string()) return content.text();
  if (content.is_null()) return {};
  std::string text;
  if (!content.is_array()) throw ApiError(400, "bad_request", str_cat("'", where, "' must be text"), where);
  for (const Json& part : content.list()) {
    const bool is_text = part.is_object() && part["type"] == "text" && part["text"].is_string();
    if (!is_text) {
      throw ApiError(400, "bad_request", str_cat("'", where, "' may hold parts of type text only"), where);
    }
    text += part["text"].text();
  }
  return text;
}

// There is none: the whole answer is part of the error.
[[noreturn]] void refuse_plan(const Json& answer) {
  std::string code = answer["outcome"].text();
  std::replace(code.begin(), code.end(), ' ', '_');
  ApiError error(422, code, str_cat("there is no plan: ", answer["reason"].text()), "plan");
  error.details()["plan"] = answer;
  throw ApiError(error);
}

}  // namespace

// --- reading ---------------------------------------------------------------------------------------------------------

ChatHandler::ChatHandler(Service& service, RequestContext& context, bool chat)
    : service_(service),
      context_(context),
      chat_(chat),
      body_(parse_body(context.exchange().request().body)),
      fields_(body_, "") {}

ChatHandler::ChatHandler(Service& service, RequestContext& context, Json body)
    : service_(service), context_(context), chat_(true), body_(std::move(body)), fields_(body_, "") {}

void ChatHandler::read() {
  shared_ = &service_.find_model(fields_);
  refuse_unsupported();
  stream_ = fields_.flag("stream").value_or(false);
  if (const Json* options = fields_.find("stream_options")) {
    Fields inner(*options, "stream_options.");
    stream_usage_ = inner.flag("include_usage").value_or(false);
    inner.flag("include_obfuscation");
    inner.refuse_others();
  }
  if (chat_) {
    const Json* messages = fields_.find("messages");
    if (messages == nullptr) fields_.refuse("messages", "is missing");
    read_messages(*messages);
  } else {
    const Json* prompt = fields_.find("prompt");
    if (prompt == nullptr) fields_.refuse("prompt", "is missing");
    read_prompt(*prompt);
  }
  read_stops();
  const RequestLimits& limits = service_.options_.limits;
  const std::optional<double> temperature = fields_.number("temperature", 0, 1000);
  generate_.temperature = temperature.value_or(1);
  generate_.top_p = fields_.number("top_p", 1e-6, 1).value_or(1);
  read_sampling(fields_, generate_);
  check_sampling(generate_, *shared_->model().vocabulary);
  count_ = static_cast<std::size_t>(fields_.integer("n", 1, limits.samples).value_or(1));
  generate_.seed = fields_.integer("seed", 0, ~std::uint64_t{0}).value_or(std::random_device{}());
  generate_.mode = generate_.temperature > 0 ? DecodeMode::kSample : DecodeMode::kGreedy;
  auto max_tokens = fields_.integer("max_tokens", 1, limits.tokens);
  if (const auto newer = fields_.integer("max_completion_tokens", 1, limits.tokens)) max_tokens = newer;
  generate_.max_tokens = static_cast<std::size_t>(max_tokens.value_or(std::min<std::size_t>(512, limits.tokens)));
  if (chat_) {
    think_.max_tokens = std::min(think_.max_tokens, limits.tokens);
    read_reasoning(fields_, limits, shared_->model().model->thinking_format().has_value(), think_);
    show_thought_ = fields_.flag("include_reasoning").value_or(true);
  } else {
    think_.mode = ThinkOptions::Mode::kOff;
  }
  const Json* plan = fields_.find("plan");
  if (!turns_.empty() && (plan == nullptr || !tools_)) {
    fields_.refuse("messages",
                   "has calls of tools, which go on with the plan object and the tools that they came from");
  }
  if (plan == nullptr) return;
  Fields inner(*plan, "plan.");
  plan_ = read_plan(inner, limits, true);
  inner.refuse_others();
  if (!stops_.empty()) fields_.refuse("stop", "is not for plans: a plan ends by itself");
  if (calls_wanted_ &&
      (!is_guaranteed(plan_->options.guidance) || plan_->options.on_infeasible == PlanOptions::OnInfeasible::kSyntax)) {
    fields_.refuse("tools", "needs a plan that is guaranteed: not guidance none or syntax, nor on_infeasible syntax");
  }
  PlanOptions& options = plan_->options;
  // Every call is the first of a new plan: with actions to spare in each, there might be no last one.
  if (one_call_ && options.lookahead.fitted_horizon && !options.lookahead.slack) options.lookahead.slack = 0;
  // What the plan object does not say, the request around it may.
  if (!plan->contains("temperature") && !plan->contains("decode") && temperature) {
    options.generate.temperature = *temperature;
    options.generate.mode = *temperature > 0 ? DecodeMode::kSample : DecodeMode::kGreedy;
  }
  if (!plan->contains("top_p")) options.generate.top_p = generate_.top_p;
  inherit_sampling(*plan, generate_, options.generate);
  if (logprobs_.value_or(0) > 0) {
    fields_.refuse(chat_ ? "top_logprobs" : "logprobs", "must be 0 for plans: what else was allowed is in their trace");
  }
  const bool one_by_one = options.generate.mode == DecodeMode::kGreedy || options.generate.mode == DecodeMode::kSample;
  if (logprobs_ && !one_by_one) fields_.refuse("logprobs", "is for decode greedy and sample");
  if (count_ > 1 && tools_) fields_.refuse("n", "must be 1 with tools: one plan is carried out");
  if (!plan->contains("think")) {
    options.think = think_;
  } else {
    options.think.effort = think_.effort;
    options.think.template_arguments = think_.template_arguments;
  }
  if (!plan->contains("seed") && body_.contains("seed")) options.generate.seed = generate_.seed;
  if (!plan->contains("max_tokens")) options.generate.max_tokens = generate_.max_tokens;
  if (plan_->said.empty()) plan_->said = instruction_;
  if (plan_->own_prompt) {
    options.prompt = prompt_;
  } else if (options.instruction.empty()) {
    options.instruction = instruction_;
  }
  context_.limit(plan_->seconds);
}

// Settings that are not offered, and the one value of each that asks for nothing.
void ChatHandler::refuse_settings() {
  for (const char* name : {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key"}) {
    fields_.find(name);
  }
  struct Setting {
    const char* name;
    Json off;
  };
  const Setting settings[] = {{"repetition_penalty", 1}, {"echo", false}, {"suffix", ""}};
  for (const Setting& setting : settings) {
    const Json* value = fields_.find(setting.name);
    if (value == nullptr || *value == setting.off) continue;
    if (value->is_number() && setting.off.is_number() && value->number() == setting.off.number()) continue;
    fields_.refuse(setting.name, str_cat("is not offered; leave it out, or ", dump(setting.off)));
  }
  // Read where there are tools; elsewhere they ask for nothing.
  for (const char* name : {"tool_choice", "parallel_tool_calls", "function_call"}) fields_.find(name);
}

void ChatHandler::refuse_unsupported() {
  refuse_settings();
  const auto refuse = [](const std::string& name, const char* code, const std::string& message) {
    throw ApiError(400, code, str_cat("'", name, "' ", message), name);
  };
  for (const char* name : {"tools", "functions"}) {
    const Json* value = fields_.find(name);
    if (value == nullptr || (value->is_array() && value->empty())) continue;
    if (chat_ && name == std::string_view("tools") && fields_.find("plan") != nullptr) {
      read_tools(*value);
      continue;
    }
    refuse(name, "tools_not_supported",
           "is not supported without a plan: add a \"plan\" object whose domain has your functions as its actions");
  }
  if (!chat_ && fields_.integer("best_of", 1, 128).value_or(1) != 1) refuse("best_of", "bad_request", "must be 1");
  read_logprobs();
  if (const Json* format = fields_.find("response_format")) {
    const bool text = format->is_object() && (*format)["type"] == "text";
    if (!text) refuse("response_format", "bad_request", "is not supported, except {\"type\": \"text\"}");
  }
}

// A chat says whether, and how many beside each token; a completion says how many.
void ChatHandler::read_logprobs() {
  constexpr std::size_t kMostOfChat = 20;
  constexpr std::size_t kMostOfCompletion = 5;
  const Json* logprobs = fields_.find("logprobs");
  const bool off = logprobs == nullptr || *logprobs == false;
  if (!chat_) {
    if (!off) logprobs_ = static_cast<std::size_t>(*fields_.integer("logprobs", 0, kMostOfCompletion));
    return;
  }
  const auto beside = fields_.integer("top_logprobs", 0, kMostOfChat);
  if (!off && fields_.flag("logprobs").value_or(false)) logprobs_ = static_cast<std::size_t>(beside.value_or(0));
  if (!logprobs_ && beside.value_or(0) > 0) fields_.refuse("top_logprobs", "needs \"logprobs\": true");
}

void ChatHandler::read_tools(const Json& tools) {
  one_call_ = !fields_.flag("parallel_tool_calls").value_or(true);
  const Json* choice = fields_.find("tool_choice");
  if (choice != nullptr && *choice != "auto" && *choice != "required" && *choice != "none") {
    fields_.refuse("tool_choice", "must be auto, required or none: which function is called is the plan's to say");
  }
  tools_.emplace(tools);
  calls_wanted_ = choice == nullptr || *choice != "none";
}

void ChatHandler::read_messages(const Json& messages) {
  if (!messages.is_array() || messages.empty()) fields_.refuse("messages", "must be a list of messages");
  if (messages.size() > kMaxMessages) {
    fields_.refuse("messages", str_cat("must be at most ", kMaxMessages, ", and are ", messages.size()));
  }
  std::vector<Prompt::Turn> turns;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string where = str_cat("messages[", i, "]");
    Fields message(messages[i], where + ".");
    const std::string role = message.text("role").value_or("");
    const Json* content = message.find("content");
    std::string text = content == nullptr ? "" : content_text(*content, where + ".content");
    if (role == "system" || role == "developer") {
      prompt_.system += (prompt_.system.empty() ? "" : "\n") + text;
      continue;
    }
    if (role == "user") {
      instruction_ = text;
    } else if (role == "assistant") {
      if (const Json* calls = message.find("tool_calls")) {
        turns_.add_calls(*calls, where + ".tool_calls");
        for (const Json& call : calls->list()) {
          text += str_cat(call["function"]["name"].text(), call["function"]["arguments"].text(), "\n");
        }
      }
    } else if (role == "tool") {
      turns_.add_result(message.text("tool_call_id").value_or(""), text, where);
    } else {
      message.refuse("role", "must be system, developer, user, assistant or tool");
    }
    // To the model, what tools say is said by the user; one speaks after the other.
    const bool by_model = role == "assistant";
    if (role == "tool" && !turns.empty() && !turns.back().by_model) {
      turns.back().text += "\n" + text;
    } else {
      turns.push_back({by_model, std::move(text)});
    }
  }
  if (turns.empty() || turns.back().by_model) {
    fields_.refuse("messages", "must end with a message of the user or of a tool");
  }
  prompt_.user = std::move(turns.back().text);
  turns.pop_back();
  prompt_.earlier = std::move(turns);
}

void ChatHandler::read_prompt(const Json& prompt) {
  const Json& one = prompt.is_array() && prompt.size() == 1 ? prompt[0] : prompt;
  if (!one.is_string()) fields_.refuse("prompt", "must be text, or a list of one text");
  prompt_.raw = one.text();
  if (prompt_.raw.empty()) fields_.refuse("prompt", "must not be empty");
  instruction_ = prompt_.raw;
}

void ChatHandler::read_stops() {
  const Json* stop = fields_.find("stop");
  if (stop == nullptr) return;
  const auto add = [this](const Json& one) {
    if (!one.is_string() || one.text().empty() || one.text().size() > 256) {
      fields_.refuse("stop", "must be a text, or up to four, of at most 256 bytes");
    }
    stops_.push_back(one.text());
  };
  if (!stop->is_array()) {
    add(*stop);
    return;
  }
  if (stop->size() > 4) fields_.refuse("stop", "must be a text, or up to four, of at most 256 bytes");
  for (const Json& one : stop->list()) add(one);
}

// --- answering -------------------------------------------------------------------------------------------------------

Json ChatHandler::answer() {
  begin();
  const Gate::Pass pass = service_.admit(context_);
  return whole(write_all(nullptr));
}

void ChatHandler::begin() {
  read();
  fields_.refuse_others();
  id_ = make_id(chat_ ? "chatcmpl-" : "cmpl-");
  created_ = static_cast<std::int64_t>(std::time(nullptr));
}

void ChatHandler::run() {
  begin();
  const Gate::Pass pass = service_.admit(context_);
  if (!stream_) {
    context_.exchange().respond(200, "application/json", dump(whole(write_all(nullptr))));
    return;
  }
  EventStream events(context_.exchange());
  try {
    send_usage(events, write_all(&events));
  } catch (...) {
    if (!events.begun()) throw;
    events.send(error_json(to_api_error(std::current_exception(), context_)));
  }
  events.finish();
}

std::vector<ChatHandler::Outcome> ChatHandler::write_all(EventStream* events) {
  std::vector<Outcome> outcomes;
  if (plan_) prepare_plan(events);
  for (index_ = 0; index_ < count_; ++index_) {
    if (logprobs_) log_.emplace(*shared_->model().vocabulary, *logprobs_, chat_);
    Outcome& outcome = outcomes.emplace_back(plan_ ? write_plan(events) : write_text(events));
    if (log_) outcome.logprobs = log_->take();
    if (events != nullptr) send_last(*events, outcome);
    ++generate_.seed;
    if (plan_) ++plan_->options.generate.seed;
  }
  return outcomes;
}

ChatHandler::Outcome ChatHandler::write_text(EventStream* events) {
  Outcome outcome;
  RequestModel model(*shared_, {}, context_.asks());
  std::optional<decode::ThinkingFrame> frame;
  if (auto format = model.thinking_format(); format && chat_) {
    const bool thinks =
        think_.mode == ThinkOptions::Mode::kOn || (think_.mode == ThinkOptions::Mode::kAuto && format->by_default);
    prompt_.thinking = thinks;
    if (thinks) frame.emplace(model, *std::move(format));
  }
  prompt_.effort = think_.effort;
  prompt_.template_arguments = think_.template_arguments;
  const std::vector<TokenId> prompt = model.encode_prompt(prompt_, context_.asks());
  outcome.prompt_tokens = prompt.size();
  const std::size_t room = model.context_length() > prompt.size() ? model.context_length() - prompt.size() : 0;
  if (room == 0) {
    throw ApiError(400, "context_length_exceeded",
                   str_cat("the prompt has ", prompt.size(), " tokens, but the context holds ", model.context_length()),
                   chat_ ? "messages" : "prompt");
  }
  generate_.max_tokens = std::min(generate_.max_tokens, room);
  // The answer's room comes first.
  const std::size_t beside = frame ? generate_.max_tokens + frame->room(0) : 0;
  const std::size_t budget = frame && room > beside ? std::min(think_.max_tokens, room - beside) : 0;
  const std::size_t thought_room = frame ? std::min(frame->room(budget), room - 1) : 0;
  generate_.max_tokens = std::min(generate_.max_tokens, room - thought_room);
  const std::unique_ptr<Session> session = model.start(prompt, generate_.max_tokens + thought_room);
  CharacterBuffer characters;
  StopFilter filter(stops_);
  bool first = true;
  if (frame) think(*session, *frame, budget, events, first, outcome);
  const auto emit = [&](const std::string& text) {
    outcome.text += text;
    if (events != nullptr && (first || !text.empty())) send_delta(*events, text, std::exchange(first, false));
  };
  const Vocabulary& vocabulary = *shared_->model().vocabulary;
  const std::vector<TokenId>& ends = vocabulary.end_of_turn();
  Observer observer;
  observer.cancelled = [&] { return filter.stopped() || context_.cancelled(); };
  observer.token = [&](const Observer::Token& event) {
    if (std::find(ends.begin(), ends.end(), event.token) != ends.end()) return;
    if (log_) log_->add(event);
    emit(characters.add(filter.add(vocabulary.bytes(event.token))));
  };
  const Generation generation = generate_unconstrained(*session, vocabulary, generate_, observer);
  service_.metrics_.count_tokens(prompt.size(), generation.tokens.size(), 0, session->num_calls());
  if (!generation.finished && !filter.stopped()) {
    if (context_.client_left() || context_.timed_out()) throw cancelled_error(context_);
    outcome.finish_reason = "length";
  }
  emit(characters.add(filter.flush()));
  emit(characters.flush());
  outcome.tokens = generation.tokens.size();
  return outcome;
}

void ChatHandler::think(Session& session, const decode::ThinkingFrame& frame, std::size_t budget, EventStream* events,
                        bool& first, Outcome& outcome) {
  Observer observer;
  observer.cancelled = context_.asks();
  observer.thought = [&](std::string_view text) {
    if (events != nullptr && show_thought_) send_thought(*events, text, std::exchange(first, false));
  };
  outcome.thought =
      decode::think(session, *shared_->model().vocabulary, frame, think_, budget, generate_.seed, observer).thought;
  if (context_.client_left() || context_.timed_out()) throw cancelled_error(context_);
}

std::function<void(const Json&)> ChatHandler::tracer(EventStream* events, Json& trace) const {
  if (!plan_->trace) return {};
  return [this, events, &trace](const Json& event) {
    trace.push_back(event);
    if (events == nullptr) return;
    Json chunk = envelope("chunk");
    chunk["choices"] = Json::array();
    chunk["plan_event"] = event;
    events->send(chunk);
  };
}

void ChatHandler::prepare_plan(EventStream* events) {
  const auto on_event = tracer(events, goal_events_);
  plan_->goal_may_look_back = !tools_;
  if (std::optional<Json> early = service_.settle_goal(*plan_, *shared_, context_, on_event)) refuse_plan(*early);
  const auto load = [this](const TaskRequest& request) { return service_.load_task(request, context_).value->task; };
  if (tools_) tools_->check(load(plan_->task));
  if (turns_.empty()) return;
  plan_->task = turns_.go_on(with_goal_inside(plan_->task), *tools_, load);
  // An agent that has arrived is not sent on.
  const Task now = load(plan_->task);
  if (!now.is_goal(now.initial_state())) return;
  LookaheadOptions& lookahead = plan_->options.lookahead;
  lookahead.horizon = 0;
  lookahead.fixed_horizon = true;
  lookahead.fitted_horizon = false;
}

ChatHandler::Outcome ChatHandler::write_plan(EventStream* events) {
  Json trace = goal_events_;
  const auto on_event = tracer(events, trace);
  CharacterBuffer characters;
  bool first = true;
  std::function<void(std::string_view)> on_text;
  if (events != nullptr && !calls_wanted_) {
    on_text = [&](std::string_view bytes) {
      const std::string text = characters.add(bytes);
      if (!text.empty()) send_delta(*events, text, std::exchange(first, false));
    };
  }
  std::function<void(std::string_view)> on_thought;
  if (events != nullptr && chat_ && show_thought_) {
    on_thought = [&](std::string_view text) { send_thought(*events, text, std::exchange(first, false)); };
  }
  std::function<void(const Observer::Token&)> on_token;
  if (log_) {
    on_token = [this](const Observer::Token& event) {
      if (!event.bytes.empty()) log_->add_planned(event);
    };
  }
  PlanAnswer answer = service_.make_plan(*plan_, *shared_, context_, on_event, on_text, on_thought, on_token);
  const PlanResult& result = answer.result;
  Outcome outcome;
  outcome.plan = closing_json(answer.task->task, *plan_, result, answer.closing);
  if (plan_->trace) outcome.plan["trace"] = std::move(trace);
  if (result.outcome == PlanOutcome::kCancelled) throw cancelled_error(context_);
  if (result.outcome != PlanOutcome::kPlan) refuse_plan(outcome.plan);
  outcome.text = result.text;
  outcome.prompt_tokens = result.prompt_tokens + (plan_->chosen ? plan_->chosen->written.prompt_tokens : 0);
  outcome.tokens = result.tokens.size();
  outcome.thought = result.thought;
  if (!result.reading.complete && outcome.tokens >= plan_->options.generate.max_tokens)
    outcome.finish_reason = "length";
  if (calls_wanted_) outcome.calls = tools_->calls(outcome.plan["plan"], one_call_ ? 1 : result.steps.size());
  if (!outcome.calls.empty()) outcome.finish_reason = "tool_calls";
  return outcome;
}

}  // namespace metactrl::serve
