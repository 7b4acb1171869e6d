// The tables of the paper: every row for every module, with a journal that survives being killed, in one process or in
// shards.
//
//     Reproduction run(options);                        // reads what earlier runs left in the folder
//     run.work(model.get(), vocabulary, progress);      // answers what is missing
//     if (run.complete()) write_tables(options.out, run.results(), about);
//
// All answers are in journals in the folder `out`: answers.jsonl, or answers-2-of-4.jsonl for a shard. A run takes what
// it finds in any of them, so shards join by being in one folder, and their number may change from run to run.
//
// Thread safety: work() uses threads of its own; nothing else may be called meanwhile.
#ifndef METACTRL_SRC_BENCHMARKS_REPRODUCE_H_
#define METACTRL_SRC_BENCHMARKS_REPRODUCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "benchmarks/classical_planner.h"
#include "benchmarks/evaluate.h"
#include "benchmarks/reproduce_modules.h"
#include "benchmarks/score.h"
#include "jobs/journal.h"

namespace metactrl::benchmarks {

using jobs::Json;

// A row of the tables: who answers.
enum class Row { kNone, kSyntax, kLevel1, kPlanner, kSearch, kMask, kUniform, kTrained };

struct RowFacts {
  Row row;
  std::string_view name;   // "mask"
  std::string_view title;  // "model, masked by what can still succeed"
  bool needs_model;
  Guidance guidance;  // not of kPlanner
};
const std::vector<RowFacts>& all_rows();
const RowFacts& facts_of(Row row);

// A row under one set of rules. The model alone and the classical planner, which has the benchmark's, know of none.
struct RowOf {
  Row row = Row::kNone;
  Rules rules = Rules::kEnvironment;

  RowOf(Row of, Rules under = Rules::kEnvironment) : row(of), rules(under) {}  // NOLINT(google-explicit-constructor)
  // "mask" under the environment's rules, else "mask, paper".
  std::string name() const;
  friend bool operator==(const RowOf&, const RowOf&) = default;
};

// Part `index` (from 0) of `count`.
struct Shard {
  std::size_t index = 0;
  std::size_t count = 1;
};

struct ReproduceOptions {
  struct OpenModule {
    const Module* module = nullptr;
    std::unique_ptr<ReproduceTasks> tasks;
    std::optional<Hmm> hmm{};  // for the row trained
    std::string hmm_digest{};
  };

  std::string out;
  std::vector<OpenModule> modules;
  std::vector<RowOf> rows;
  // At most so many tasks of a module, spread evenly over its file; 0: all.
  std::size_t limit = 0;
  Shard shard;
  unsigned jobs = 1;
  // The guidance and the rules are the row's. A model of tokens is for the row level1, and with bridge hmm for those that
  // have a lookahead.
  EvaluateOptions evaluate;
  ClassicalPlanner planner;
  // Everything that all answers depend on: a journal with other settings is refused.
  Json settings;
  // What the rows that need a model depend on besides: its name and digest. Refused only for the rows asked for.
  Json model = Json::object();
  std::string token_hmm_digest;  // for the row level1
  // Tells apart the launches of processes that work together, one shard each; empty where nothing does.
  std::string launch;
};

// What a row says about a module.
struct RowResult {
  RowOf row = Row::kNone;
  // Empty for a row that was measured; else "n/a" (there is no problem that a classical planner could read).
  std::string absent;
  std::vector<Answer> answers;
  // Of the tasks in the sample that have room in the model's context; the others are no failures and no successes.
  Score score;
  std::size_t no_room = 0;
  std::size_t failed = 0;  // answers with an error; they count as failures
  // Of the answers that a lookahead stood behind: those whose state space was enumerated, so that weights are exact, and
  // those that rest on a plan for each choice.
  std::size_t exact = 0;
  std::size_t witness = 0;
  // Identifiers of answers with a format error that keep to their prompts: the benchmark's fault.
  std::set<std::string> keep_to_prompt{};

  // Why there are no rates to show; empty when there are.
  std::string missing() const {
    if (!absent.empty() || score.n > 0) return absent;
    return no_room > 0 ? "no room" : "no task";
  }
};

struct ModuleResult {
  std::string name;
  std::string title;
  std::size_t tasks = 0;   // in the file
  std::size_t sample = 0;  // of them, those that were asked
  std::vector<RowResult> rows;
};

// The tasks that a limit leaves, evenly spread: of 10 with a limit of 3, numbers 0, 3 and 6.
std::vector<std::size_t> sample_of(std::size_t tasks, std::size_t limit);

class Reproduction {
 public:
  // Throws InputError when the folder holds answers that were made with other settings or from other data.
  explicit Reproduction(const ReproduceOptions& options);

  // Of this shard: how many answers there are to be, and how many there are.
  std::size_t total() const { return items().size(); }
  std::size_t done() const;
  // Answers that are there, of all shards.
  std::size_t answers() const { return answers_.size(); }
  // Answers that failed are made again.
  bool needs_model() const;

  // Makes the folder and the journal, and answers what is missing. `progress` is told how many are done, one call at a
  // time. False when it was cancelled. Throws InputError when the journal cannot be written.
  bool work(LanguageModel* model, const std::shared_ptr<const Vocabulary>& vocabulary,
            const std::function<void(std::size_t)>& progress);

  // Reads the folder again, where other shards may have left answers meanwhile. True when none is missing.
  bool complete();
  // Reads the folder again. The other shards, from 1, that have answers missing, or failed ones that they have not
  // tried again in this launch.
  std::vector<std::size_t> awaited();
  // "vh-as mask: 3 of 10 missing"; empty when none is.
  std::vector<std::string> gaps() const;

  // Of what is there; scoring takes seconds.
  std::vector<ModuleResult> results() const;

 private:
  // Module, row and task, by their names.
  using Key = std::tuple<std::string, std::string, std::string>;
  struct Item {
    std::size_t module;
    RowOf row;
    std::size_t task;
  };

  void read_folder();
  void take_line(const std::string& file, const Json& line);
  // What the answers of a row depend on besides the settings of all.
  Json made_with(std::size_t module, RowOf row) const;
  // Not without an answer, and not with one that failed.
  bool is_done(const Item& item) const;
  // Why a row has no answers; empty when it has.
  std::string absence(std::size_t module, RowOf row) const;
  Key key_of(const Item& item) const;
  // Of this shard: of all modules, or of one.
  std::vector<Item> items() const;
  std::vector<Item> items(std::size_t module) const;
  bool is_mine(std::size_t position) const { return position % options_.shard.count == options_.shard.index; }
  RowResult result_of(std::size_t module, RowOf row) const;

  const ReproduceOptions& options_;
  std::vector<std::vector<std::size_t>> samples_;  // by module
  std::vector<std::string> digests_;               // by module
  std::map<Key, Answer> answers_;
  std::map<std::string, std::uintmax_t> sizes_;  // of journals, as they were read last
  std::set<std::size_t> finished_;               // shards, in this launch
};

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_REPRODUCE_H_
