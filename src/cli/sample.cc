// metactrl sample: what a model writes when nobody holds it, as a corpus.
//
// Generation i belongs to prompt i / per-prompt and has a seed of its own. The generations of a prompt, 64 at most, are a
// group: forks of one session, each token of all of them one batch of the model. A group is what a job does, on a memory
// of its own, and whole, also where only some of its records are wanted; which sequences share a batch then follows from
// the settings. So every record follows from its number, to the last bit of a logit, whatever --jobs and --count are.
// Groups are written in order: a run that was killed goes on behind the last whole record.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
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
#include "decode/generate_together.h"
#include "jobs/journal.h"
#include "jobs/run_jobs.h"
#include "lm/model_facts.h"
#include "lookahead/surrogate.h"
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
  unsigned jobs = 1;
  bool resume = false;
};

// With so many prompts in a row that leave no room, none will.
constexpr std::size_t kTooLong = 16;
// Sequences in a batch: beyond, a small model is busy with them and no longer with waiting.
constexpr std::size_t kTogether = 64;
// So many prompts tell how all of them begin.
constexpr std::uint64_t kPrefixPrompts = 4;
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

// Room for one prompt and the answers of a group, in each of the jobs' memories.
LoadedModel load_sampled_model(const SampleArguments& arguments, std::size_t together) {
  ModelOptions runtime = arguments.runtime;
  runtime.separate_contexts = arguments.jobs;
  runtime.max_sequences = static_cast<unsigned>(together) + 2;  // the prompt's, and that of what prompts have in common
  constexpr std::size_t kUsualContext = 8192;
  std::size_t context = runtime.context;
  if (const auto file = model_file(arguments.model); file && context == 0) {
    const std::size_t trained = lm::read_model_facts(file->string()).context;
    context = trained == 0 ? kUsualContext : std::min(trained, kUsualContext);
  }
  if (context > 0) {
    const std::size_t answers = together * std::min(arguments.generate.max_tokens, context);
    runtime.shared_contexts = static_cast<unsigned>(1 + (answers + context - 1) / context);
  }
  try {
    return open_model(arguments.model, arguments.vocabulary, runtime);
  } catch (const ModelError& error) {
    throw ResourceError(kOutOfMemory, error.what());
  }
}

class Sampling {
 public:
  Sampling(const SampleArguments& arguments, SampleSource& source)
      : arguments_(arguments),
        source_(source),
        prompts_(source.open(arguments.generate.seed)),
        together_(std::min(arguments.per_prompt, kTogether)),
        groups_per_prompt_((arguments.per_prompt + together_ - 1) / together_) {}

  int run() {
    catch_interrupts();
    model_ = load_sampled_model(arguments_, together_);
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
    expect_prefix();
    next_group_ = next_to_write_ = group_of(done_);
    set_stoppable(true);
    {
      CountProgress progress("generations", static_cast<double>(arguments_.count), static_cast<double>(done_));
      jobs::run_jobs(arguments_.jobs, [&] { return do_group(writer, progress); });
    }
    set_stoppable(false);
    report();
    return interrupted() ? kInterrupted : kDone;
  }

 private:
  // The generations first, first + 1, ... of one prompt.
  struct Group {
    std::uint64_t prompt = 0;
    std::uint64_t first = 0;
    std::size_t size = 0;
  };

  Group group(std::uint64_t number) const {
    const std::uint64_t prompt = number / groups_per_prompt_;
    const std::uint64_t place = number % groups_per_prompt_ * together_;
    return {prompt, prompt * arguments_.per_prompt + place,
            std::min<std::size_t>(together_, arguments_.per_prompt - place)};
  }

  std::uint64_t group_of(std::uint64_t generation) const {
    return generation / arguments_.per_prompt * groups_per_prompt_ + generation % arguments_.per_prompt / together_;
  }

  // False when there is no other.
  bool do_group(CorpusWriter& writer, CountProgress& progress) {
    std::uint64_t number = 0;
    {
      const std::scoped_lock lock(mutex_);
      if (group(next_group_).first >= arguments_.count || interrupted()) return false;
      number = next_group_++;
    }
    std::vector<CorpusRecord> records = generate(group(number));
    if (interrupted()) return false;
    const std::scoped_lock lock(mutex_);
    waiting_.emplace(number, std::move(records));
    for (; !waiting_.empty() && waiting_.begin()->first == next_to_write_; ++next_to_write_) {
      write(group(next_to_write_).first, waiting_.begin()->second, writer);
      waiting_.erase(waiting_.begin());
    }
    progress.done(static_cast<double>(done_), str_cat("; ", parsed_, " are plans"));
    return true;
  }

  // Those that are neither there already nor beyond what was asked for.
  void write(std::uint64_t number, const std::vector<CorpusRecord>& records, CorpusWriter& writer) {
    for (const CorpusRecord& record : records) {
      if (number++ != done_ || done_ >= arguments_.count) continue;
      writer.add(record);
      count(record);
    }
  }

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

  // What all prompts begin with is read once for each job.
  void expect_prefix() {
    std::optional<std::vector<TokenId>> common;
    for (std::uint64_t number = 0; number < kPrefixPrompts; ++number) {
      const SamplePrompt sample = prompts_->make(number);
      const std::vector<TokenId> tokens = encode(sample, PlanSpelling(prompts_->format(), sample.task));
      if (!common) common = tokens;
      const auto ends = std::mismatch(common->begin(), common->end(), tokens.begin(), tokens.end());
      common->erase(ends.first, common->end());
    }
    model_.model->expect_prefix(*common);
  }

  std::vector<TokenId> encode(const SamplePrompt& sample, const PlanSpelling& spelling) const {
    return model_.model->encode_prompt(sample.prompt ? *sample.prompt : make_prompt(sample.task, spelling, ""));
  }

  std::vector<CorpusRecord> generate(const Group& group) {
    const SamplePrompt sample = prompts_->make(group.prompt);
    std::vector<CorpusRecord> records(group.size);
    std::vector<std::uint64_t> seeds;
    for (std::size_t i = 0; i < group.size; ++i) {
      seeds.push_back(internal::mix(arguments_.generate.seed + 1, group.first + i + 1));
      records[i].prompt = group.prompt;
      records[i].seed = seeds.back();
      records[i].family = sample.family;
    }
    const PlanSpelling spelling(prompts_->format(), sample.reading ? *sample.reading : sample.task);
    const std::vector<TokenId> encoded = encode(sample, spelling);
    const std::size_t context = model_.model->context_length();
    GenerateOptions options = arguments_.generate;
    options.mode = DecodeMode::kSample;
    options.max_tokens = std::min(options.max_tokens, context > encoded.size() ? context - encoded.size() : 0);
    note_room(group, options.max_tokens, encoded.size());
    if (options.max_tokens == 0) return records;
    try {
      const std::unique_ptr<Session> session = model_.model->start(encoded, options.max_tokens);
      const std::vector<Generation> texts =
          decode::generate_together(*session, seeds, *model_.vocabulary, options, [] { return interrupted(); });
      for (std::size_t i = 0; i < group.size; ++i) read(texts[i], sample, spelling, records[i]);
    } catch (const ModelError& error) {
      throw ResourceError(kOutOfMemory, str_cat("the model cannot go on: ", error.what(),
                                                "; what was sampled is kept, and --resume goes on with it"));
    }
    return records;
  }

  void note_room(const Group& group, std::size_t room, std::size_t prompt_tokens) {
    if (group.first % arguments_.per_prompt != 0) return;  // once for a prompt
    const std::scoped_lock lock(mutex_);
    any_room_ = any_room_ || room > 0;
    if (room > 0 || ++too_long_ < kTooLong || any_room_) return;
    throw ResourceError(kOutOfMemory, str_cat(kTooLong, " prompts in a row leave no room in a context of ",
                                              model_.model->context_length(), " tokens, the last one with ",
                                              prompt_tokens, "; ", kRoomHint));
  }

  // As plan_symbols writes a plan of `task`, for one over the actions of `reading`: what `task` has no slot for is UNK.
  std::vector<SymbolId> symbols_of(const Task& reading, const Task& task, const std::vector<ActionId>& plan) const {
    const auto slots = lookahead::object_slots(task.program().definition());
    std::map<std::string, SymbolId> slot_of;
    for (const ObjectId object : internal::ids<ObjectId>(task.num_objects())) {
      slot_of.emplace(task.object_name(object), meta_.slot(slots[object]));
    }
    std::vector<SymbolId> symbols;
    for (const ActionId action : plan) {
      symbols.push_back(meta_.action(reading.action_name(reading.name_of(action))));
      for (const ObjectId object : reading.arguments(action)) {
        const auto found = slot_of.find(reading.object_name(object));
        symbols.push_back(found == slot_of.end() ? meta_.unknown() : found->second);
      }
    }
    symbols.push_back(meta_.end);
    return symbols;
  }

  void read(const Generation& generation, const SamplePrompt& sample, const PlanSpelling& spelling,
            CorpusRecord& record) const {
    const decode::FreeText text = decode::read_free_text(spelling, generation.text);
    // What was cut off would teach that a plan ends there.
    if (!text.parsed.complete || !generation.finished) return;
    record.parsed = true;
    record.actions = static_cast<std::uint32_t>(text.parsed.actions.size());
    record.symbols = sample.reading ? symbols_of(*sample.reading, sample.task, text.parsed.actions)
                                    : plan_symbols(sample.task, meta_, text.parsed.actions);
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

  const std::size_t together_;  // generations of a group, at most
  const std::size_t groups_per_prompt_;

  std::mutex mutex_;  // for all that follows
  std::uint64_t next_group_ = 0;
  std::uint64_t next_to_write_ = 0;
  std::map<std::uint64_t, std::vector<CorpusRecord>> waiting_;  // groups that are done before their turn
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
  add_number(*app, "--jobs,-j", "N", arguments->jobs, 1, 1024,
             "prompts that are worked on at once, each on a thread and in a memory of its own; it changes no corpus");
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
