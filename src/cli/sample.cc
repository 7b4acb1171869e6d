// metactrl sample: what a model writes when nobody holds it, as a corpus.
//
// Generation i belongs to prompt i / per-prompt and has a seed of its own, so that every record follows from its
// number. Records are written one by one: a run that was killed goes on behind the last whole one.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/common.h"
#include "cli/decoding_options.h"
#include "cli/interrupt.h"
#include "cli/load_decoding.h"
#include "cli/model_registry.h"
#include "cli/model_store.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/sample_prompts.h"
#include "decode/free_text.h"
#include "jobs/journal.h"
#include "metactrl/generate.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"
#include "metactrl/training/corpus.h"
#include "support/hash.h"
#include "support/str_cat.h"

namespace metactrl::cli {

namespace {

using internal::str_cat;

struct SampleArguments : DecodingArguments {
  std::string out;
  std::size_t count = 0;
  std::size_t per_prompt = 16;
  std::size_t slots = 49;
  bool resume = false;
};

// With so many prompts in a row that leave no room, none will.
constexpr std::size_t kTooLong = 16;
constexpr const char* kRoomHint = "raise --context, or shorten benchmark prompts with --prompt compact";

// What the options name: PDDL files, or those of the other source, which may be null.
SampleSource& choose_source(SampleSource& pddl, SampleSource* other) {
  if (pddl.named() == (other != nullptr && other->named())) {
    throw UsageError("give --domain and --problem, or --module and --prompts");
  }
  SampleSource& chosen = pddl.named() ? pddl : *other;
  chosen.check();
  if (&chosen != other && other != nullptr) {
    if (std::string stray = other->stray(); !stray.empty()) throw UsageError(stray);
  }
  return chosen;
}

// Everything that a record depends on; --count is none of it.
std::string settings(const SampleArguments& arguments, const SampleSource& source, const LoadedModel& model) {
  Json json = {{"sampled_from", arguments.model},
               {"model", model.model->description()},
               {"temperature", arguments.generate.temperature},
               {"top_p", arguments.generate.top_p},
               {"seed", arguments.generate.seed},
               {"max_tokens", arguments.generate.max_tokens},
               {"per_prompt", arguments.per_prompt},
               {"slots", arguments.slots}};
  if (arguments.generate.top_k != 0) json["top_k"] = arguments.generate.top_k;
  if (arguments.generate.min_p != 0) json["min_p"] = arguments.generate.min_p;
  // Other weights may have the same name and description.
  if (const auto file = model_file(arguments.model)) json["model_sha256"] = file_digest(*file);
  source.add_settings(json);
  return json.dump();
}

class Sampling {
 public:
  Sampling(const SampleArguments& arguments, SampleSource& source)
      : arguments_(arguments), source_(source), prompts_(source.open(arguments.generate.seed)) {}

  int run() {
    catch_interrupts();
    model_ = load_model_for(arguments_);
    CorpusHeader header;
    header.made_by = settings(arguments_, source_, model_);
    header.meta = alphabet();
    header.tokens = Alphabet::tokens(model_.vocabulary->size(),
                                     static_cast<std::uint32_t>(model_.vocabulary->end_of_turn().front()),
                                     model_.vocabulary->fingerprint());
    if (arguments_.resume) check_settings(header);
    CorpusWriter writer(arguments_.out, header, arguments_.resume);
    meta_ = header.meta;
    tokens_ = header.tokens;
    for (const CorpusRecord& record : writer.earlier()) count(record);
    set_stoppable(true);
    {
      CountProgress progress("generations", static_cast<double>(arguments_.count), static_cast<double>(done_));
      while (done_ < arguments_.count && !interrupted()) {
        const CorpusRecord record = generate(done_);
        if (interrupted()) break;
        writer.add(record);
        count(record);
        progress.done(static_cast<double>(done_), str_cat("; ", parsed_, " are plans"));
      }
    }
    set_stoppable(false);
    report();
    return interrupted() ? kInterrupted : kDone;
  }

 private:
  // Says what differs; the writer would only say that something does.
  void check_settings(const CorpusHeader& header) const {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(arguments_.out, ignored)) return;
    if (std::filesystem::file_size(arguments_.out, ignored) == 0) return;
    const Json earlier = Json::parse(Corpus::load(arguments_.out).header.made_by, nullptr, false);
    jobs::check_settings(arguments_.out, earlier, Json::parse(header.made_by),
                         "give the same ones, or name another file");
  }

  Alphabet alphabet() const {
    const Task task = prompts_->make(0).task;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < task.num_action_names(); ++i) names.push_back(task.action_name(ActionNameId{i}));
    return Alphabet::meta(names, arguments_.slots);
  }

  // Reads a prompt: once for all of its generations.
  void open(std::uint64_t number) {
    session_.reset();
    current_.emplace(prompts_->make(number));
    spelling_ = std::make_unique<PlanSpelling>(prompts_->format(), current_->task);
    const Prompt prompt = current_->prompt ? *current_->prompt : make_prompt(current_->task, *spelling_, "");
    const std::vector<TokenId> encoded = model_.model->encode_prompt(prompt);
    const std::size_t context = model_.model->context_length();
    const std::size_t room = context > encoded.size() ? context - encoded.size() : 0;
    max_tokens_ = std::min(arguments_.generate.max_tokens, room);
    open_prompt_ = number;
    if (max_tokens_ > 0) {
      session_ = model_.model->start(encoded, max_tokens_);
      any_room_ = true;
    } else if (++too_long_ == kTooLong && !any_room_) {
      throw ResourceError(kOutOfMemory, str_cat(kTooLong, " prompts in a row leave no room in a context of ", context,
                                                " tokens, the last one with ", encoded.size(), "; ", kRoomHint));
    }
  }

  CorpusRecord generate(std::uint64_t number) {
    CorpusRecord record;
    record.prompt = number / arguments_.per_prompt;
    record.seed = internal::mix(arguments_.generate.seed + 1, number + 1);
    try {
      if (!current_ || open_prompt_ != record.prompt) open(record.prompt);
      record.family = current_->family;
      if (session_ == nullptr) return record;
      GenerateOptions options = arguments_.generate;
      options.mode = DecodeMode::kSample;
      options.seed = record.seed;
      options.max_tokens = max_tokens_;
      Observer observer;
      observer.cancelled = [] { return interrupted(); };
      const std::unique_ptr<Session> session = session_->fork();
      read(generate_unconstrained(*session, *model_.vocabulary, options, observer), record);
    } catch (const ModelError& error) {
      throw ResourceError(kOutOfMemory, str_cat("the model cannot go on: ", error.what(),
                                                "; what was sampled is kept, and --resume goes on with it"));
    }
    return record;
  }

  void read(const Generation& generation, CorpusRecord& record) const {
    const decode::FreeText text = decode::read_free_text(*spelling_, generation.text);
    // What was cut off would teach that a plan ends there.
    if (!text.parsed.complete || !generation.finished) return;
    record.parsed = true;
    record.actions = static_cast<std::uint32_t>(text.parsed.actions.size());
    record.symbols = plan_symbols(current_->task, meta_, text.parsed.actions);
    for (const TokenId token : generation.tokens) {
      record.tokens.push_back(SymbolId{static_cast<std::uint32_t>(token)});
    }
    record.tokens.back() = tokens_.end;  // whichever end of turn it was
  }

  void count(const CorpusRecord& record) {
    ++done_;
    if (!record.parsed) return;
    ++parsed_;
    actions_ += record.actions;
    distinct_.insert(record.symbols);
  }

  void report() const {
    std::string line = str_cat(done_, " of ", std::max(done_, arguments_.count), " generations, ", parsed_,
                               " are plans, ", done_ - parsed_, " could not be read; ", distinct_.size(),
                               " distinct action sequences, ", parsed_ - distinct_.size(), " repeats");
    if (too_long_ > 0)
      line += str_cat("; ", too_long_, " prompts leave no room in the model's context (", kRoomHint, ")");
    if (parsed_ > 0) {
      line += str_cat(", ",
                      number_text(std::round(10.0 * static_cast<double>(actions_) / static_cast<double>(parsed_)) / 10),
                      " actions on average");
    }
    line += "; the corpus is " + arguments_.out;
    if (interrupted()) line += "; run again with --resume to go on";
    note(line);
  }

  const SampleArguments& arguments_;
  const SampleSource& source_;
  std::unique_ptr<SamplePrompts> prompts_;
  LoadedModel model_;
  Alphabet meta_;
  Alphabet tokens_;

  std::uint64_t open_prompt_ = 0;
  std::optional<SamplePrompt> current_;
  std::unique_ptr<PlanSpelling> spelling_;
  std::unique_ptr<Session> session_;
  std::size_t max_tokens_ = 0;
  bool any_room_ = false;
  std::size_t too_long_ = 0;  // prompts of this run

  std::size_t done_ = 0;
  std::size_t parsed_ = 0;
  std::size_t actions_ = 0;
  std::set<std::vector<SymbolId>> distinct_;
};

constexpr const char* kSampleExamples =
    "\n"
    "Prompts are made from tasks that are like the given ones and are none of them: objects of one kind trade places,\n"
    "goals are left out; in a benchmark's prompts objects are replaced by others of their category.\n"
    "\n"
    "  metactrl sample -d domain.pddl -p problem.pddl --count 1000 --temperature 1 --out household.corpus\n"
    "  metactrl sample --module vh-as --prompts as_prompts.json --model llama.gguf --count 100000 --out vh.corpus\n"
    "\n"
    "A run that was interrupted or killed goes on with --resume; so does one that is to have a larger --count.\n";

constexpr const char* kSampleFurther =
    "\n"
    "What --module takes comes with the program metactrl-benchmarks.\n";

}  // namespace

Command add_sample(CLI::App& parent, std::unique_ptr<SampleSource> other) {
  auto arguments = std::make_shared<SampleArguments>();
  CLI::App* app = parent.add_subcommand("sample", "let a model write freely, and keep what it wrote to train on");
  const std::shared_ptr<SampleSource> pddl = pddl_source();
  const std::shared_ptr<SampleSource> further = std::move(other);
  pddl->add_options(*app);
  if (further != nullptr) further->add_options(*app);
  add_model_options(*app, *arguments);
  GenerateOptions& generate = arguments->generate;
  app->add_option("--count", arguments->count, "generations in all")
      ->type_name("N")
      ->check(in_range(1, 1e12))
      ->required();
  add_number(*app, "--per-prompt", "N", arguments->per_prompt, 1, 1e9, "generations for each prompt");
  add_number(*app, "--slots", "N", arguments->slots, 1, 1e6,
             "objects that have a symbol of their own; the others are UNK");
  add_number(*app, "--max-tokens", "N", generate.max_tokens, 1, 1e7, "give up after so many tokens");
  add_number(*app, "--temperature", "T", generate.temperature, 0, 1000, "above 1 bolder, below 1 more careful");
  add_number(*app, "--top-p", "P", generate.top_p, 1e-6, 1, "only the likeliest tokens, with this much probability");
  add_number(*app, "--top-k", "N", generate.top_k, 0, 1e9, "only the N likeliest tokens; 0: all");
  add_number(*app, "--min-p", "P", generate.min_p, 0, 1,
             "only tokens with this share of the likeliest one's probability");
  add_number(*app, "--seed", "S", generate.seed, 0, kLargestSeed, "equal seeds give equal corpora");
  add_out_option(*app, arguments->out, "file for the corpus")->required();
  app->add_flag("--resume", arguments->resume, "go on with the corpus that is there");
  app->footer(str_cat(kSampleExamples, further == nullptr ? kSampleFurther : ""));
  return {app, [arguments, pddl, further] { return Sampling(*arguments, choose_source(*pddl, further.get())).run(); }};
}

}  // namespace metactrl::cli
