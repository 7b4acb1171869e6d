// metactrl hmm: what a model is, how well it knows a corpus, and models that know nothing.
#include "metactrl/hmm.h"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/load_corpus.h"
#include "cli/model_store.h"
#include "cli/options.h"
#include "cli/output.h"
#include "metactrl/language_model.h"
#include "metactrl/training/corpus.h"
#include "metactrl/training/ctrl_g.h"
#include "support/str_cat.h"
#include "training/corpora.h"

namespace metactrl::cli {

namespace {

using internal::str_cat;
using training::Fit;
using training::level_of;
using training::NamedCorpus;

struct HmmArguments {
  std::string action;
  std::vector<std::string> files;
  std::vector<std::string> corpora;
  std::uint64_t held_out = 0;
  CLI::Option* held_out_option = nullptr;
  // Of what a uniform model speaks: the tokens of a language model, or the actions of a task.
  std::string model;
  TaskFiles task;
  std::size_t slots = 49;
  std::size_t hidden = 1;
  std::vector<CLI::Option*> uniform_options;
  OutputOptions output;
};

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
  const Json made_by = parse_shallow(hmm.made_by());
  json["made_by"] = made_by.is_discarded() ? Json(hmm.made_by()) : made_by;
  return json;
}

void print_either(const OutputOptions& output, const Json& json, const std::string& text) {
  output.json() ? print(output, json) : print(output, text);
}

int info(const HmmArguments& arguments) {
  Json all = Json::array();
  std::string text;
  for (const std::string& file : arguments.files) {
    const Hmm hmm = Hmm::load(file);
    all.push_back(info_json(file, hmm));
    const Json& json = all.back();
    text += str_cat(file, ": ", hmm.num_hidden(), " hidden states, ", hmm.num_symbols(), " symbols (",
                    to_string(level_of(hmm)), " level), ", quantity_text(static_cast<double>(hmm.num_parameters())),
                    " parameters, ", hmm.step(), " training steps\n");
    if (hmm.alphabet().is_meta()) {
      text += str_cat("  ", hmm.alphabet().num_actions, " actions, ", hmm.alphabet().num_slots,
                      " object slots, UNK, EOS\n");
    }
    text += str_cat("  made by: ", json["made_by"].is_string() ? hmm.made_by() : json["made_by"].dump(), "\n");
  }
  print_either(arguments.output, all, text);
  return kDone;
}

int score(const HmmArguments& arguments) {
  if (arguments.corpora.empty()) throw UsageError("--corpus FILE is missing: what shall be scored?");
  const std::vector<NamedCorpus> corpora = load_corpora(arguments.corpora, true);
  Json all = Json::array();
  std::string text;
  for (const std::string& file : arguments.files) {
    const Hmm hmm = Hmm::load(file);
    Json entry = {{"file", file}, {"corpora", Json::array()}};
    std::vector<std::map<std::uint32_t, Fit>> fits;
    for (const NamedCorpus& corpus : corpora) fits.push_back(fit(hmm, corpus, arguments.held_out));
    if (std::all_of(fits.begin(), fits.end(), [](const auto& families) { return families.empty(); })) {
      throw InputError(arguments.corpora[0],
                       arguments.held_out > 0
                           ? str_cat("holds no plan that --held-out ", arguments.held_out, " keeps back")
                           : std::string("holds no plan to score"),
                       arguments.held_out > 0 ? "give a smaller number, or 0 for all plans" : "sample more");
    }
    text += str_cat(file, "\n");
    Fit total;
    for (std::size_t i = 0; i < corpora.size(); ++i) {
      const std::map<std::uint32_t, Fit>& families = fits[i];
      Fit sum;
      for (const auto& [family, found] : families) sum.add(found);
      Json corpus = to_json(sum);
      corpus["file"] = arguments.corpora[i];
      text += "  " + to_line(arguments.corpora[i], sum);
      for (const auto& [family, found] : families) {
        Json of_family = {{"family", family}};
        of_family.update(to_json(found));
        corpus["families"].push_back(of_family);
        if (families.size() > 1) text += "    " + to_line(str_cat("family ", family), found);
      }
      entry["corpora"].push_back(corpus);
      total.add(sum);
    }
    entry["total"] = to_json(total);
    if (corpora.size() > 1) text += "  " + to_line("in all", total);
    all.push_back(entry);
  }
  print_either(arguments.output, all, text);
  return kDone;
}

int exchange(const HmmArguments& arguments) {
  if (arguments.files.size() != 1 || arguments.output.file.empty()) {
    throw UsageError(str_cat("'hmm ", arguments.action, "' takes one file and --out FILE"));
  }
  if (arguments.action == "import") {
    import_ctrl_g(arguments.files[0]).save(arguments.output.file);
  } else {
    export_ctrl_g(Hmm::load(arguments.files[0]), arguments.output.file);
  }
  return kDone;
}

Alphabet alphabet_of_vocabulary(const std::string& model) {
  const std::optional<std::filesystem::path> file = model_file(model);
  if (!file) throw UsageError(str_cat("--model ", model, " has no vocabulary of its own; name a GGUF file"));
  const std::unique_ptr<Vocabulary> vocabulary = load_vocabulary(file->string());
  return Alphabet::tokens(vocabulary->size(), static_cast<std::uint32_t>(vocabulary->end_of_turn().front()),
                          vocabulary->fingerprint());
}

Alphabet alphabet_of_task(const TaskFiles& files, std::size_t slots) {
  check_task_options(files);
  const Task task = load_task(files);
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < task.num_action_names(); ++i) names.push_back(task.action_name(ActionNameId{i}));
  return Alphabet::meta(names, slots);
}

int make_uniform(const HmmArguments& arguments) {
  const bool task = !arguments.task.domain.empty() || !arguments.task.problem.empty();
  const int sources = static_cast<int>(arguments.files.size()) + (arguments.model.empty() ? 0 : 1) + (task ? 1 : 0);
  if (sources != 1 || arguments.output.file.empty()) {
    throw UsageError(
        "'hmm uniform' takes --out FILE and one of: a model whose alphabet it gets, --model, --domain with --problem");
  }
  const Alphabet alphabet = task                      ? alphabet_of_task(arguments.task, arguments.slots)
                            : arguments.files.empty() ? alphabet_of_vocabulary(arguments.model)
                                                      : Hmm::load(arguments.files[0]).alphabet();
  Hmm::uniform(alphabet, arguments.hidden).save(arguments.output.file);
  return kDone;
}

constexpr const char* kHmmExamples =
    "\n"
    "  info      what the model is and what made it\n"
    "  score     -log p of a corpus: per symbol, per action, per plan, and for each family of tasks\n"
    "  compare   the same for several models\n"
    "  import    a checkpoint of Ctrl-G (safetensors, with its config.json beside it) to a model\n"
    "  export    a model to such a checkpoint, with its config.json beside it; imported again, it is the same model\n"
    "  uniform   a model in which every symbol is as likely as any other, without training: of the tokens of a "
    "language\n"
    "            model, of the actions of a task, or of what another model speaks of\n"
    "\n"
    "  metactrl hmm info household.hmm\n"
    "  metactrl hmm compare small.hmm large.hmm tokens.hmm --corpus household.corpus\n"
    "  metactrl hmm import checkpoint/model.safetensors --out ctrlg.hmm\n"
    "  metactrl hmm uniform --model pocket --out uniform.tok.hmm\n";

}  // namespace

Command add_hmm(CLI::App& parent) {
  auto arguments = std::make_shared<HmmArguments>();
  CLI::App* app =
      parent.add_subcommand("hmm", "look at hidden Markov models, score them, exchange them, make uniform ones");
  app->add_option("action", arguments->action, "what to do")
      ->type_name("info|score|compare|import|export|uniform")
      ->required()
      ->check(one_of({"info", "score", "compare", "import", "export", "uniform"}));
  app->add_option("files", arguments->files, "models")->type_name("FILE");
  app->add_option("--corpus", arguments->corpora, "with score and compare: what 'metactrl sample' wrote")
      ->type_name("FILE");
  arguments->held_out_option =
      add_number(*app, "--held-out", "N", arguments->held_out, 0, 1e9,
                 "with score and compare: only what 'metactrl train --held-out N' keeps back; 0: everything");
  arguments->uniform_options.push_back(
      app->add_option("--model,-m", arguments->model,
                      "with uniform: GGUF file or stored model whose tokens it speaks of")
          ->type_name("MODEL"));
  add_pddl_options(*app, arguments->task.domain, arguments->task.problem);
  for (const char* name : {"--domain", "--problem"}) arguments->uniform_options.push_back(app->get_option(name));
  arguments->uniform_options.push_back(
      add_number(*app, "--slots", "N", arguments->slots, 1, 1e6,
                 "with uniform and a task: objects that have a symbol of their own; the others are UNK"));
  arguments->uniform_options.push_back(add_number(*app, "--hidden", "H", arguments->hidden, 1, 65536,
                                                  "with uniform: hidden states; the probabilities are the same"));
  add_output_options(*app, arguments->output);
  app->footer(kHmmExamples);
  return {app, [arguments] {
            const std::string& action = arguments->action;
            const bool exchanges = action == "import" || action == "export";
            const bool scores = action == "score" || action == "compare";
            if (!arguments->corpora.empty() && !scores) throw UsageError("--corpus is for score and compare");
            if (arguments->held_out_option->count() > 0 && !scores) {
              throw UsageError("--held-out is for score and compare");
            }
            const bool uniform = action == "uniform";
            for (const CLI::Option* option : arguments->uniform_options) {
              if (option->count() > 0 && !uniform) throw UsageError(option->get_name() + " is for uniform");
            }
            if (arguments->files.empty() && !uniform) throw UsageError("no model is named");
            if (arguments->output.json() && (exchanges || uniform))
              throw UsageError("--output is for info, score and compare");
            if (uniform) return make_uniform(*arguments);
            if (exchanges) return exchange(*arguments);
            return scores ? score(*arguments) : info(*arguments);
          }};
}

}  // namespace metactrl::cli
