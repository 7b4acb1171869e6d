// metactrl train: a hidden Markov model from a corpus.
//
// Several corpora are joined (hmm/corpora.h). Parameters are written to OUT.partial as the training goes, and to OUT at
// its end.
//
// Started by mpirun, all processes read the corpus, each counts for its share of it, and all make the same steps. The
// first one alone reads and writes models and speaks. What can fail is done by all before they go on together, so that
// a failure in one of them ends all, with one message.
#include "metactrl/training/train.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/common.h"
#include "cli/decoding_options.h"
#include "cli/interrupt.h"
#include "cli/load_corpus.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/train_start.h"
#include "cluster/join.h"
#include "jobs/journal.h"
#include "metactrl/training/corpus.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/str_cat.h"
#include "training/corpora.h"
#include "training/names.h"

namespace metactrl::cli {

namespace {

using internal::str_cat;

enum class Init { kRandom, kKMeans };

struct TrainArguments {
  std::vector<std::string> corpora;
  CorpusLevel level = CorpusLevel::kMeta;
  std::size_t hidden = 128;
  std::string schedule = "50,all";
  std::string out;
  TrainOptions train;
  Init init = Init::kRandom;
  ClusterStart clusters;
  std::vector<CLI::Option*> cluster_options;
  Device device = Device::kCpu;
  GpuPrecision precision = GpuPrecision::kSingle;
  unsigned threads = 0;
  unsigned held_out = 20;
  bool balance = false;
  bool resume = false;
  double save_seconds = 30;
};

constexpr auto enum_names(Init) {
  return internal::names<Init>({{Init::kRandom, "random"}, {Init::kKMeans, "kmeans"}});
}

std::unique_ptr<ExpectationEngine> make_engine(const TrainArguments& arguments, ProcessGroup& group) {
  if (arguments.device == Device::kCuda) {
    const int gpu = cluster::gpu_of(group.rank_on_machine(), num_cuda_devices());
    auto engine = make_cuda_engine({gpu, arguments.precision});
    return group.size() == 1 ? std::move(engine) : make_group_engine(std::move(engine), group);
  }
  if (arguments.precision == GpuPrecision::kTf32) throw UsageError("--precision tf32 is for --device cuda");
  return make_cpu_engine({arguments.threads, arguments.precision == GpuPrecision::kDouble, &group});
}

// Another process failed, and said so.
struct OtherFailed {};

// Does the work in every process. Where it fails the first process that failed has the failure, the others OtherFailed.
template <typename Work>
void together(ProcessGroup& group, const Work& work) {
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::uint64_t mine = failure ? group.size() - group.rank() : 0;
  const std::uint64_t first = largest_of(group, mine);
  if (first == 0) return;
  if (first == mine) std::rethrow_exception(failure);
  throw OtherFailed();
}

// Everything that the parameters depend on.
std::string settings(const TrainArguments& arguments) {
  Json json = {{"trained_at", to_string(arguments.level)},
               {"hidden", arguments.hidden},
               {"schedule", arguments.schedule},
               {"pseudocount", arguments.train.pseudocount},
               {"dropout", arguments.train.dropout},
               {"step_size", arguments.train.step_size},
               {"step_decay", arguments.train.step_decay},
               {"tie_slots", arguments.train.tie_slots},
               {"held_out", arguments.held_out},
               {"balance", arguments.balance},
               {"device", internal::name_of(arguments.device)},
               {"precision", to_string(arguments.precision)},
               {"seed", arguments.train.seed}};
  if (arguments.init == Init::kKMeans) {
    json["init"] = internal::name_of(arguments.init);
    json["init_model"] = arguments.clusters.model;
    json["init_sequences"] = arguments.clusters.sequences;
  }
  for (const std::string& file : arguments.corpora) {
    json["corpora"].push_back(
        str_cat(std::filesystem::path(file).filename().string(), " ", internal::hash_bytes(internal::read_file(file))));
  }
  return json.dump();
}

Hmm with_maker(const Hmm& hmm, const std::string& made_by) {
  return Hmm(hmm.alphabet(), hmm.num_hidden(), {hmm.initial().begin(), hmm.initial().end()},
             {hmm.transition().begin(), hmm.transition().end()}, {hmm.emission().begin(), hmm.emission().end()},
             made_by);
}

class Training {
 public:
  Training(const TrainArguments& arguments, ProcessGroup& group)
      : arguments_(arguments), group_(group), partial_(arguments.out + ".partial") {}

  int run() {
    TrainOptions options = arguments_.train;
    if (group_.size() == 1) options.stop = [] { return interrupt_signal() != 0; };
    together(group_, [&] {
      try {
        options.schedule = parse_schedule(arguments_.schedule);
      } catch (const InputError& error) {
        throw UsageError(str_cat("--", error.what()));
      }
      if (speaks()) check_out();
      engine_ = make_engine(arguments_, group_);
      load();
      made_by_ = settings(arguments_);
    });
    check_same_input();
    std::optional<Hmm> model;
    bool done = false;
    together(group_, [&] {
      if (!speaks()) return;
      done = arguments_.resume && is_done();
      model.emplace(done ? Hmm::load(arguments_.out) : start());
    });
    done = largest_of(group_, done ? 1 : 0) != 0;
    model.emplace(shared(model));
    if (done) {
      report(*model);
      return kDone;
    }
    std::optional<Trainer> trainer;
    together(group_, [&] { trainer.emplace(*std::move(model), data_.training, *engine_, options); });
    int signal = 0;
    try {
      signal = make_steps(*trainer);
    } catch (...) {
      // The others are in the middle of a step, and wait.
      if (group_.size() == 1) throw;
      group_.end_all(report_failure("train"));
    }
    together(group_, [&] { finish(*trainer, signal); });
    if (signal != 0) return 128 + signal;
    report(trainer->hmm());
    return kDone;
  }

 private:
  bool speaks() const { return group_.rank() == 0; }

  // Until the end, or until a signal came to one of the processes: that signal.
  int make_steps(Trainer& trainer) {
    catch_interrupts();
    if (group_.size() > 1) catch_terminations();  // which is what mpirun makes of Ctrl-C
    set_stoppable(true);
    Stopwatch since_saved;
    int signal = 0;
    {
      std::optional<CountProgress> progress;
      if (speaks()) {
        progress.emplace("steps", static_cast<double>(trainer.steps_total()),
                         static_cast<double>(trainer.steps_done()));
      }
      const auto stop = [&] {
        signal = static_cast<int>(largest_of(group_, static_cast<std::uint64_t>(interrupt_signal())));
        return signal != 0;
      };
      const auto step = [&] {
        try {
          return trainer.step();
        } catch (const Stopped&) {
          return !stop();
        }
      };
      while (!stop() && step()) {
        if (!speaks()) continue;
        const double nats = -trainer.last().log_likelihood / trainer.last().symbols;
        progress->done(static_cast<double>(trainer.steps_done()), str_cat("; ", rounded(nats), " nats per symbol"));
        if (since_saved.seconds() < arguments_.save_seconds) continue;
        trainer.hmm().save(partial_);
        since_saved = Stopwatch();
      }
    }
    set_stoppable(false);
    return signal;
  }

  void finish(Trainer& trainer, int signal) const {
    if (!speaks()) return;
    if (signal != 0) {
      trainer.hmm().save(partial_);
      note(str_cat("metactrl: stopped after ", trainer.steps_done(), " of ", trainer.steps_total(),
                   " steps; run again with --resume to go on"));
      return;
    }
    trainer.hmm().save(arguments_.out);
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
  }

  void check_same_input() {
    if (group_.size() == 1) return;
    const std::uint64_t mine = internal::hash_bytes(made_by_);
    std::uint64_t first = mine;
    group_.broadcast(std::as_writable_bytes(std::span(&first, 1)));
    together(group_, [&] {
      if (mine == first) return;
      throw InputError(arguments_.corpora[0],
                       str_cat("differs between the machines, or the options do: process ", group_.rank(),
                               " has others than process 0"),
                       "put the same files on every machine");
    });
  }

  // What the first process has, in all of them.
  Hmm shared(const std::optional<Hmm>& model) {
    if (group_.size() == 1) return *model;
    const std::size_t hidden = arguments_.hidden;
    const auto copy = [&](std::span<const float> (Hmm::*part)() const, std::size_t size) {
      std::vector<float> values(size);
      if (model) std::copy_n(((*model).*part)().begin(), size, values.begin());
      group_.broadcast(std::as_writable_bytes(std::span(values)));
      return values;
    };
    std::vector<float> initial = copy(&Hmm::initial, hidden);
    std::vector<float> transition = copy(&Hmm::transition, hidden * hidden);
    std::vector<float> emission = copy(&Hmm::emission, data_.alphabet.size * hidden);
    const std::uint64_t step = largest_of(group_, model ? model->step() : 0);
    return Hmm(data_.alphabet, hidden, std::move(initial), std::move(transition), std::move(emission), made_by_)
        .with_step(step);
  }

  static std::string rounded(double value) { return number_text(std::round(value * 1e4) / 1e4); }

  void load() {
    std::optional<ProgressLine> progress;
    if (speaks()) progress.emplace("reading the corpus");
    data_ = training::join(load_corpora(arguments_.corpora, speaks()),
                           {arguments_.level, arguments_.held_out, arguments_.balance});
    if (data_.training.size() == 0 && data_.held_out.size() > 0) {
      throw UsageError(str_cat("--held-out ", arguments_.held_out,
                               " keeps back every plan there is; give a larger number, or 0 to keep back nothing"));
    }
    if (data_.training.size() == 0) {
      throw InputError(arguments_.corpora[0], "holds no plans to train on",
                       "sample more, or see with 'metactrl plan --guidance none' what the model writes");
    }
  }

  // What is at OUT now is not lost by mistake, and what will be can be written.
  void check_out() const {
    internal::check_writable(arguments_.out);
    std::error_code ignored;
    for (const std::string& corpus : arguments_.corpora) {
      if (std::filesystem::equivalent(corpus, arguments_.out, ignored)) {
        throw UsageError(str_cat("--out is the corpus ", corpus, "; name another file for the model"));
      }
    }
    if (!std::filesystem::exists(arguments_.out, ignored)) return;
    if (std::filesystem::file_size(arguments_.out, ignored) == 0) return;
    try {
      Hmm::load(arguments_.out);
    } catch (const InputError&) {
      throw InputError(arguments_.out, "is there already, and is not a model that could be replaced",
                       "name another file, or remove it");
    }
  }

  // An earlier run came to its end. With other settings it did not: its result is not replaced by a --resume.
  bool is_done() const {
    std::error_code ignored;
    if (std::filesystem::exists(partial_, ignored) || !std::filesystem::exists(arguments_.out, ignored)) return false;
    if (std::filesystem::file_size(arguments_.out, ignored) == 0) return false;
    check_made_by(arguments_.out, Hmm::load(arguments_.out),
                  "name another file; or leave out --resume, and the model is replaced");
    return true;
  }

  void check_made_by(const std::string& file, const Hmm& earlier, const std::string& hint) const {
    if (earlier.made_by() == made_by_) return;
    const Json before = Json::parse(earlier.made_by(), nullptr, false);
    jobs::check_settings(file, before, Json::parse(made_by_), hint);
    throw InputError(file, "was begun with other settings", hint);
  }

  Hmm fresh() const {
    if (arguments_.init == Init::kRandom) return Hmm::random(data_.alphabet, arguments_.hidden, arguments_.train.seed);
    ClusterStart start = arguments_.clusters;
    start.runtime.threads = arguments_.threads;
    start.clusters.hidden = arguments_.hidden;
    start.clusters.seed = arguments_.train.seed;
    start.clusters.threads = arguments_.threads;
    // What the clusters did not see has to stay possible.
    start.clusters.pseudocount = std::max(start.clusters.pseudocount, arguments_.train.pseudocount);
    return cluster_start(data_.alphabet, data_.training, start);
  }

  Hmm load_partial() const {
    try {
      return Hmm::load(partial_);
    } catch (const InputError&) {
      throw InputError(partial_, "cannot be gone on with: it is damaged", "remove it, and train anew");
    }
  }

  // Where an earlier run was, or at its beginning.
  Hmm start() const {
    std::error_code ignored;
    const bool there = std::filesystem::exists(partial_, ignored);
    if (!there || !arguments_.resume) {
      if (there) throw UsageError(str_cat(partial_, " is there: go on with it by --resume, or remove it"));
      return with_maker(fresh(), made_by_);
    }
    internal::remove_leftovers(partial_);
    const Hmm earlier = load_partial();
    check_made_by(partial_, earlier, "give the same ones, or remove it");
    return earlier;
  }

  void report(const Hmm& hmm) {
    const auto part = [&](const SequenceSet& sequences) {
      const ExpectedCounts found = engine_->likelihood(hmm, sequences);
      std::string text = str_cat(rounded(-found.log_likelihood / found.symbols), " nats per symbol, ",
                                 rounded(-found.log_likelihood / found.weight), " per plan");
      if (found.impossible > 0) text += str_cat(" (", number_text(found.impossible), " plans are impossible)");
      return text;
    };
    std::string line = str_cat(hmm.num_hidden(), " hidden states, ", hmm.num_symbols(), " symbols; on ",
                               number_text(data_.training.total_weight()), " sequences, ", data_.training.size(),
                               " of them distinct: ", part(data_.training));
    if (data_.held_out.size() > 0) {
      line += str_cat("; on ", number_text(data_.held_out.total_weight()), " held out: ", part(data_.held_out));
    }
    if (speaks()) note(str_cat(line, "; the model is ", arguments_.out));
  }

  const TrainArguments& arguments_;
  ProcessGroup& group_;
  std::string partial_;
  std::string made_by_;
  training::TrainingData data_;
  std::unique_ptr<ExpectationEngine> engine_;
};

void check_options(const TrainArguments& arguments) {
  if (arguments.train.tie_slots && arguments.level == CorpusLevel::kToken) {
    throw UsageError("--tie-slots is for --level meta: tokens are no objects");
  }
  if (arguments.init == Init::kKMeans) {
    if (arguments.hidden < 2) throw UsageError("--init kmeans needs at least two hidden states: one is for the end");
    return;
  }
  for (const CLI::Option* option : arguments.cluster_options) {
    if (option->count() > 0) throw UsageError(str_cat(option->get_name(), " belongs to --init kmeans"));
  }
}

void add_start_options(CLI::App& app, TrainArguments& arguments) {
  add_choice(app, "--init", arguments.init,
             "where training begins: at random, or from clusters of a model's hidden states");
  ClusterStart& start = arguments.clusters;
  arguments.cluster_options = {
      app.add_option("--model,-m", start.model,
                     "with --init kmeans: the model that reads the corpus; see 'metactrl models'")
          ->type_name("MODEL")
          ->capture_default_str(),
      add_number(app, "--init-sequences", "N", start.sequences, 1, 1e9,
                 "with --init kmeans: sequences that the model reads"),
      add_gpu_layers_option(app, start.runtime,
                            "with --init kmeans: layers of the model on the GPU; auto: all that fit"),
      add_number(app, "--context", "N", start.runtime.context, 0, 1e8,
                 "with --init kmeans: tokens the model can see; 0: what it was trained for, at most 8192"),
  };
}

constexpr const char* kTrainExamples =
    "\n"
    "  metactrl train --corpus household.corpus --out household.hmm\n"
    "  metactrl train --corpus vh.corpus --corpus behavior.corpus --balance --stages '20,5000;30,all' --out "
    "actions.hmm\n"
    "  metactrl plan -d domain.pddl -p problem.pddl --guidance trained --hmm household.hmm\n"
    "\n"
    "A run that was interrupted or killed goes on with --resume: parameters are kept in OUT.partial.\n"
    "\n"
    "On several machines, where the program has MPI; the model is the same for any number of processes:\n"
    "\n"
    "  mpirun -H a,b -N 1 -bind-to none metactrl train --corpus vh.corpus --out actions.hmm\n";

}  // namespace

Command add_train(CLI::App& parent) {
  auto arguments = std::make_shared<TrainArguments>();
  CLI::App* app = parent.add_subcommand("train", "train a hidden Markov model on a corpus, to look ahead with");
  app->add_option("--corpus", arguments->corpora, "what 'metactrl sample' wrote; several are joined")
      ->type_name("FILE")
      ->required();
  add_choice(*app, "--level", arguments->level, "symbols: actions and objects, or the model's tokens");
  add_number(*app, "--hidden", "H", arguments->hidden, 1, 65536, "hidden states");
  app->add_option("--stages", arguments->schedule, "steps,sequences;...: so many steps over so many sequences, or all")
      ->type_name("TEXT")
      ->capture_default_str();
  add_start_options(*app, *arguments);
  TrainOptions& train = arguments->train;
  add_number(*app, "--pseudocount", "X", train.pseudocount, 0, 1e9,
             "added to each row of counts: keeps the unseen possible");
  add_number(*app, "--dropout", "X", train.dropout, 0, 1, "hide each symbol with this probability");
  add_number(*app, "--step-size", "X", train.step_size, 1e-6, 1, "how far a step goes towards its own counts");
  add_number(*app, "--step-decay", "X", train.step_decay, 0, 10, "step n goes step-size * n^-decay far");
  add_number(*app, "--save-every", "SECONDS", arguments->save_seconds, 0, 1e9,
             "seconds between two saves to OUT.partial");
  app->add_flag("--tie-slots", train.tie_slots, "all objects are alike to the model");
  app->add_flag("--balance", arguments->balance, "every corpus weighs the same, and every family of tasks in it");
  add_number(*app, "--held-out", "N", arguments->held_out, 0, 1e9,
             "keep back what was written for every N-th prompt of each family of tasks, to judge by; 0: nothing");
  add_number(*app, "--seed", "S", train.seed, 0, kLargestSeed, "equal seeds give equal models");
  add_choice(*app, "--device", arguments->device, "where the work is done: this machine's cores, or an NVIDIA GPU");
  add_choice(*app, "--precision", arguments->precision,
             "of products: 32 bits, fewer (faster on a GPU, where there are many hidden states), or 64");
  add_number(*app, "--threads", "N", arguments->threads, 0, 4096,
             "0: one per core; the result is the same for any number");
  add_out_option(*app, arguments->out, "file for the model")->required();
  app->add_flag("--resume", arguments->resume, "go on with a run that was interrupted");
  app->footer(kTrainExamples);
  return {app, [arguments] {
            const std::unique_ptr<ProcessGroup> group = cluster::join();
            try {
              together(*group, [&] { check_options(*arguments); });
              return Training(*arguments, *group).run();
            } catch (const OtherFailed&) {
              return int{kDone};  // the exit code is that of the process that failed
            }
          }};
}

}  // namespace metactrl::cli
