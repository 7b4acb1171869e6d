// metactrl hmm: what a model is, and how well it knows a corpus.
#include "metactrl/hmm.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/load_corpus.h"
#include "cli/plan_options.h"
#include "metactrl/training/corpus.h"
#include "metactrl/training/ctrl_g.h"
#include "support/str_cat.h"

namespace metactrl::cli {

namespace {

using internal::str_cat;

struct HmmArguments {
  std::string action;
  std::vector<std::string> files;
  std::vector<std::string> corpora;
  std::string out;
  std::uint64_t held_out = 0;
  CLI::Option* held_out_option = nullptr;
  bool json = false;
};

// How well a model knows a corpus, or a family of it.
struct Fit {
  std::size_t plans = 0;
  std::size_t impossible = 0;
  double symbols = 0;  // of those that are possible, as what follows
  double actions = 0;
  double nats = 0;  // -log p

  void add(const Fit& other) {
    plans += other.plans;
    impossible += other.impossible;
    symbols += other.symbols;
    actions += other.actions;
    nats += other.nats;
  }
};

CorpusLevel level_of(const Hmm& hmm) { return hmm.alphabet().is_meta() ? CorpusLevel::kMeta : CorpusLevel::kToken; }

// By family; empty when no plan is to be scored. A corpus with names that the model does not know is read with UNK for
// them.
std::map<std::uint32_t, Fit> fit(const Hmm& hmm, const Corpus& corpus, const std::string& file, std::uint64_t every) {
  const CorpusLevel level = level_of(hmm);
  const Alphabet& own = corpus.alphabet(level);
  const Alphabet& alphabet = hmm.alphabet();
  if (level == CorpusLevel::kToken && own.size != alphabet.size) {
    throw InputError(file, str_cat("has ", own.size, " tokens, the model ", alphabet.size),
                     "score with a corpus that the same language model wrote");
  }
  const bool both_known = own.vocabulary != 0 && alphabet.vocabulary != 0;
  if (level == CorpusLevel::kToken && both_known && own.vocabulary != alphabet.vocabulary) {
    throw InputError(file, "was written in another vocabulary than the model of tokens knows",
                     "score with a corpus that the same language model wrote");
  }
  std::map<std::uint32_t, Fit> fits;
  std::map<std::vector<SymbolId>, double> known;
  const std::vector<bool> kept_back = held_out(corpus, every);
  for (std::size_t i = 0; i < corpus.records.size(); ++i) {
    const CorpusRecord& record = corpus.records[i];
    if (!record.parsed || (every > 0 && !kept_back[i])) continue;
    std::vector<SymbolId> sequence = level == CorpusLevel::kMeta ? record.symbols : record.tokens;
    for (SymbolId& symbol : sequence) symbol = alphabet.translate(own, symbol);
    const auto [at, fresh] = known.try_emplace(sequence, 0);
    if (fresh) at->second = hmm.log_likelihood(sequence);
    Fit& found = fits[record.family];
    ++found.plans;
    if (at->second == -std::numeric_limits<double>::infinity()) {
      ++found.impossible;
      continue;
    }
    found.nats -= at->second;
    found.symbols += static_cast<double>(sequence.size());
    found.actions += record.actions;
  }
  return fits;
}

std::string fixed(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(4) << value;
  return out.str();
}

// Of the plans that are possible: -log p by symbol, action and plan.
struct Rates {
  explicit Rates(const Fit& found)
      : symbol(found.nats / found.symbols),
        action(found.nats / found.actions),
        plan(found.nats / static_cast<double>(found.plans - found.impossible)) {}
  double symbol;
  double action;
  double plan;
};

// Not a number, as of plans without actions, is null.
Json to_json(const Rates& rates) {
  return {{"nats_per_symbol", rates.symbol}, {"nats_per_action", rates.action}, {"nats_per_plan", rates.plan}};
}

// One impossible plan makes -log p infinite: null. What it would be without those is said apart.
Json to_json(const Fit& found) {
  Json json = {{"plans", found.plans}, {"impossible", found.impossible}};
  const Json rates = to_json(Rates(found));
  for (const auto& [key, value] : rates.items()) json[key] = found.impossible > 0 ? Json() : value;
  if (found.impossible > 0 && found.impossible < found.plans) json["without_impossible"] = rates;
  return json;
}

std::string to_line(const std::string& name, const Fit& found) {
  if (found.plans == 0) return str_cat(name, ": no plan to score\n");
  std::string line = str_cat(name, ": ", count_text(found.plans, "plan", "plans"), ", -log p ");
  const Rates rates(found);
  const std::string numbers = str_cat(fixed(rates.symbol), " per symbol, ", fixed(rates.action), " per action, ",
                                      fixed(rates.plan), " per plan");
  if (found.impossible == 0) return line + numbers + "\n";
  line += str_cat("infinite: ", found.impossible, found.impossible == 1 ? " is" : " are", " impossible");
  if (found.impossible < found.plans) line += "; the others " + numbers;
  return line + "\n";
}

Json info_json(const std::string& file, const Hmm& hmm) {
  const Alphabet& alphabet = hmm.alphabet();
  Json json = {{"file", file},
               {"level", to_string(level_of(hmm))},
               {"hidden", hmm.num_hidden()},
               {"symbols", hmm.num_symbols()},
               {"end", alphabet.text(alphabet.end)},
               {"actions", alphabet.num_actions},
               {"slots", alphabet.num_slots},
               {"parameters", hmm.num_parameters()},
               {"steps", hmm.step()}};
  const Json made_by = Json::parse(hmm.made_by(), nullptr, false);
  json["made_by"] = made_by.is_discarded() ? Json(hmm.made_by()) : made_by;
  return json;
}

int info(const HmmArguments& arguments) {
  Json all = Json::array();
  for (const std::string& file : arguments.files) {
    const Hmm hmm = Hmm::load(file);
    all.push_back(info_json(file, hmm));
    if (arguments.json) continue;
    const Json& json = all.back();
    std::string text =
        str_cat(file, ": ", hmm.num_hidden(), " hidden states, ", hmm.num_symbols(), " symbols (",
                to_string(level_of(hmm)), " level), ", quantity_text(static_cast<double>(hmm.num_parameters())),
                " parameters, ", hmm.step(), " training steps\n");
    if (hmm.alphabet().is_meta()) {
      text += str_cat("  ", hmm.alphabet().num_actions, " actions, ", hmm.alphabet().num_slots,
                      " object slots, UNK, EOS\n");
    }
    text += str_cat("  made by: ", json["made_by"].is_string() ? hmm.made_by() : json["made_by"].dump(), "\n");
    print(text);
  }
  if (arguments.json) print(all);
  return kDone;
}

int score(const HmmArguments& arguments) {
  if (arguments.corpora.empty()) throw UsageError("--corpus FILE is missing: what shall be scored?");
  std::vector<Corpus> corpora;
  for (const std::string& file : arguments.corpora) corpora.push_back(load_corpus(file, true));
  Json all = Json::array();
  for (const std::string& file : arguments.files) {
    const Hmm hmm = Hmm::load(file);
    Json entry = {{"file", file}, {"corpora", Json::array()}};
    std::vector<std::map<std::uint32_t, Fit>> fits;
    for (std::size_t i = 0; i < corpora.size(); ++i) {
      fits.push_back(fit(hmm, corpora[i], arguments.corpora[i], arguments.held_out));
    }
    if (std::all_of(fits.begin(), fits.end(), [](const auto& families) { return families.empty(); })) {
      throw InputError(arguments.corpora[0],
                       arguments.held_out > 0
                           ? str_cat("holds no plan that --held-out ", arguments.held_out, " keeps back")
                           : std::string("holds no plan to score"),
                       arguments.held_out > 0 ? "give a smaller number, or 0 for all plans" : "sample more");
    }
    if (!arguments.json) print(str_cat(file, "\n"));
    Fit total;
    for (std::size_t i = 0; i < corpora.size(); ++i) {
      const std::map<std::uint32_t, Fit>& families = fits[i];
      Fit sum;
      for (const auto& [family, found] : families) sum.add(found);
      Json corpus = to_json(sum);
      corpus["file"] = arguments.corpora[i];
      if (!arguments.json) print("  " + to_line(arguments.corpora[i], sum));
      for (const auto& [family, found] : families) {
        Json of_family = {{"family", family}};
        of_family.update(to_json(found));
        corpus["families"].push_back(of_family);
        if (!arguments.json && families.size() > 1) print("    " + to_line(str_cat("family ", family), found));
      }
      entry["corpora"].push_back(corpus);
      total.add(sum);
    }
    entry["total"] = to_json(total);
    if (!arguments.json && corpora.size() > 1) print("  " + to_line("in all", total));
    all.push_back(entry);
  }
  if (arguments.json) print(all);
  return kDone;
}

int exchange(const HmmArguments& arguments) {
  if (arguments.files.size() != 1 || arguments.out.empty()) {
    throw UsageError(str_cat("'hmm ", arguments.action, "' takes one file and --out FILE"));
  }
  if (arguments.action == "import") {
    import_ctrl_g(arguments.files[0]).save(arguments.out);
  } else {
    export_ctrl_g(Hmm::load(arguments.files[0]), arguments.out);
  }
  return kDone;
}

constexpr const char* kHmmExamples =
    "\n"
    "  info      what the model is and what made it\n"
    "  score     -log p of a corpus: per symbol, per action, per plan, and for each family of tasks\n"
    "  compare   the same for several models\n"
    "  import    a checkpoint of Ctrl-G (safetensors, with its config.json beside it) to a model\n"
    "  export    a model to such a checkpoint, with its config.json beside it; imported again, it is the same model\n"
    "\n"
    "  metactrl hmm info household.hmm\n"
    "  metactrl hmm compare small.hmm large.hmm tokens.hmm --corpus household.corpus\n"
    "  metactrl hmm import checkpoint/model.safetensors --out ctrlg.hmm\n";

}  // namespace

Command add_hmm(CLI::App& parent) {
  auto arguments = std::make_shared<HmmArguments>();
  CLI::App* app = parent.add_subcommand("hmm", "look at hidden Markov models, score them, exchange them");
  app->add_option("action", arguments->action, "what to do")
      ->type_name("info|score|compare|import|export")
      ->required()
      ->check(one_of({"info", "score", "compare", "import", "export"}));
  app->add_option("files", arguments->files, "models")->type_name("FILE")->required();
  app->add_option("--corpus", arguments->corpora, "with score and compare: what 'metactrl sample' wrote")
      ->type_name("FILE");
  arguments->held_out_option =
      app->add_option("--held-out", arguments->held_out,
                      "with score and compare: only what 'metactrl train --held-out N' keeps back; 0: everything")
          ->type_name("N")
          ->check(finite_in_range(0, 1e9))
          ->capture_default_str();
  app->add_option("--out", arguments->out, "with import and export: file for the result")->type_name("FILE");
  app->add_flag("--json", arguments->json, "print JSON");
  app->footer(kHmmExamples);
  return {app, [arguments] {
            const std::string& action = arguments->action;
            const bool exchanges = action == "import" || action == "export";
            const bool scores = action == "score" || action == "compare";
            if (!arguments->out.empty() && !exchanges) throw UsageError("--out is for import and export");
            if (!arguments->corpora.empty() && !scores) throw UsageError("--corpus is for score and compare");
            if (arguments->held_out_option->count() > 0 && !scores) {
              throw UsageError("--held-out is for score and compare");
            }
            if (arguments->json && exchanges) throw UsageError("--json is for info, score and compare");
            if (exchanges) return exchange(*arguments);
            return scores ? score(*arguments) : info(*arguments);
          }};
}

}  // namespace metactrl::cli
