// metactrl corpus: how diverse a corpus is, and which actions it shows how often.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/load_corpus.h"
#include "cli/output.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/str_cat.h"
#include "support/words.h"
#include "training/diversity.h"

namespace metactrl::cli {

namespace {

using internal::str_cat;
using training::Diversity;
using training::NeededAction;

struct CorpusArguments {
  std::vector<std::string> files;
  std::string answers;
  OutputOptions output;
};

// Below this share of all actions, one that is needed is rare.
constexpr double kRare = 0.001;

double rounded_number(double value, double digits = 1000) { return std::round(digits * value) / digits; }

// The actions of answers as `eval` writes them, whatever their form: the words in them that are names of actions.
class AnsweredActions {
 public:
  AnsweredActions(const std::string& file, const Diversity& found) {
    std::set<std::string> known;
    for (const Diversity::Action& action : found.by_frequency) {
      known.insert(training::plain_action_name(action.name));
    }
    const Json list = Json::parse(internal::read_file(file), nullptr, false);
    if (!list.is_array()) fail(file);
    for (const Json& answer : list) {
      if (!answer.is_object() || !answer.contains("llm_output") || !answer["llm_output"].is_string()) fail(file);
      std::set<std::string> used;
      for (const std::string& word : words(answer["llm_output"].get<std::string>())) {
        if (known.contains(word)) used.insert(word);
      }
      answers_.push_back(std::move(used));
    }
  }

  std::size_t size() const { return answers_.size(); }
  std::vector<std::string> names() const {
    std::set<std::string> all;
    for (const std::set<std::string>& used : answers_) all.insert(used.begin(), used.end());
    return {all.begin(), all.end()};
  }
  // How many answers have it.
  std::size_t with(const std::string& name) const {
    return static_cast<std::size_t>(std::count_if(
        answers_.begin(), answers_.end(), [&](const std::set<std::string>& used) { return used.contains(name); }));
  }
  // How many have at least one of them.
  std::size_t with_any(const std::set<std::string>& names) const {
    const auto has_one = [&](const std::set<std::string>& used) {
      return std::any_of(used.begin(), used.end(), [&](const std::string& name) { return names.contains(name); });
    };
    return static_cast<std::size_t>(std::count_if(answers_.begin(), answers_.end(), has_one));
  }

 private:
  [[noreturn]] static void fail(const std::string& file) {
    throw InputError(file, "holds no answers", "give a file that 'metactrl eval' wrote: a list with llm_output");
  }

  static std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> out;
    std::string word;
    for (const char c : text + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
        word += c;
      } else if (!word.empty()) {
        out.push_back(training::plain_action_name(word));
        word.clear();
      }
    }
    return out;
  }

  std::vector<std::set<std::string>> answers_;
};

// Of the actions that answers need, those that the corpus lacks or nearly lacks.
Json needed_json(const AnsweredActions& answered, const Diversity& found) {
  Json list = Json::array();
  std::set<std::string> never;
  std::set<std::string> rare;
  for (const NeededAction& action : training::coverage(found, answered.names())) {
    list.push_back({{"name", action.name},
                    {"answers", answered.with(action.name)},
                    {"times", action.times},
                    {"share", action.share}});
    if (action.times == 0) never.insert(action.name);
    if (action.share < kRare) rare.insert(action.name);
  }
  return {{"answers", answered.size()},
          {"actions", list},
          {"never", never},
          {"rare", rare},
          {"answers_with_never", answered.with_any(never)},
          {"answers_with_rare", answered.with_any(rare)}};
}

Json diversity_json(const Diversity& found) {
  Json growth = Json::array();
  for (const Diversity::Growth& part : found.growth) {
    growth.push_back({{"plans", part.plans}, {"distinct", part.distinct}});
  }
  Json actions = Json::array();
  for (const Diversity::Action& action : found.by_frequency) {
    actions.push_back({{"name", action.name}, {"times", action.times}, {"plans", action.plans}});
  }
  return {{"generations", found.generations},
          {"plans", found.plans},
          {"prompts", found.prompts},
          {"actions", found.actions},
          {"tokens", found.tokens},
          {"distinct_plans", found.distinct_plans},
          {"distinct_texts", found.distinct_texts},
          {"distinct_plans_per_prompt", found.distinct_plans_per_prompt},
          {"distinct_texts_per_prompt", found.distinct_texts_per_prompt},
          {"entropy", found.entropy},
          {"entropy_per_prompt", found.entropy_per_prompt},
          {"growth", growth},
          {"by_frequency", actions}};
}

std::string share_text(double share) { return number_text(rounded_number(100 * share)) + " %"; }

std::string diversity_text(const Diversity& found) {
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  std::string out = str_cat(found.plans, " plans of ", found.generations, " generations, for ", found.prompts,
                            " prompts; ", found.actions, " actions, ", found.tokens, " tokens\n");
  out += str_cat("distinct: ", found.distinct_plans, " plans (", share_text(share(found.distinct_plans, found.plans)),
                 "), ", found.distinct_texts, " texts; for a prompt ",
                 number_text(rounded_number(found.distinct_plans_per_prompt, 10)), " plans, ",
                 number_text(rounded_number(found.distinct_texts_per_prompt, 10)), " texts\n");
  out += str_cat("entropy of a plan: ", number_text(rounded_number(found.entropy)), " nats, for a prompt ",
                 number_text(rounded_number(found.entropy_per_prompt)), "\n");
  out += "distinct plans among the first";
  for (const Diversity::Growth& part : found.growth) out += str_cat("  ", part.plans, ": ", part.distinct);
  out += "\nactions by frequency (times, share, plans that have it):\n";
  std::vector<std::string> never;
  std::size_t all = 0;
  for (const Diversity::Action& action : found.by_frequency) all += action.times;
  for (const Diversity::Action& action : found.by_frequency) {
    if (action.times == 0) {
      never.push_back(action.name);
      continue;
    }
    out += str_cat("  ", action.name, "  ", action.times, "  ", share_text(share(action.times, all)), "  ",
                   action.plans, "\n");
  }
  if (!never.empty()) out += str_cat("never: ", internal::join(never, ", "), "\n");
  return out;
}

std::string needed_text(const Json& needed) {
  const auto list = [](const Json& names) {
    std::string out;
    for (const Json& name : names) out += (out.empty() ? ": " : ", ") + name.get<std::string>();
    return out;
  };
  const auto count = [&](const char* key) { return needed[key].get<std::size_t>(); };
  std::string out = str_cat("of the ", needed["actions"].size(), " actions in ", count("answers"), " answers\n");
  out += str_cat("  ", needed["never"].size(), " never occur here, and ", count("answers_with_never"),
                 " answers have one of them", list(needed["never"]), "\n");
  out += str_cat("  ", needed["rare"].size(), " are fewer than 1 in 1000 here, and ", count("answers_with_rare"),
                 " answers have one of them", list(needed["rare"]), "\n");
  return out;
}

int describe_corpora(const CorpusArguments& arguments) {
  const Diversity found = training::diversity(load_corpora(arguments.files, true));
  Json json = diversity_json(found);
  std::string text = diversity_text(found);
  if (!arguments.answers.empty()) {
    json["needed"] = needed_json(AnsweredActions(arguments.answers, found), found);
    text += needed_text(json["needed"]);
  }
  arguments.output.json() ? print(arguments.output, json) : print(arguments.output, text);
  return kDone;
}

constexpr const char* kCorpusExamples =
    "\n"
    "Several corpora are looked at as one. With --answers, actions that plans need and that the model hardly ever "
    "writes:\n"
    "\n"
    "  metactrl corpus household.corpus\n"
    "  metactrl corpus vh-as.1.corpus vh-as.2.corpus --answers vh_as_answers.json\n";

}  // namespace

Command add_corpus(CLI::App& parent) {
  auto arguments = std::make_shared<CorpusArguments>();
  CLI::App* app = parent.add_subcommand("corpus", "how diverse a corpus is, and which actions are rare in it");
  app->add_option("files", arguments->files, "what 'metactrl sample' wrote")->type_name("FILE")->required();
  app->add_option("--answers", arguments->answers,
                  "answers of 'metactrl eval' that reach their goals: how rare is what they need?")
      ->type_name("FILE");
  add_output_options(*app, arguments->output);
  app->footer(kCorpusExamples);
  return {app, [arguments] { return describe_corpora(*arguments); }};
}

}  // namespace metactrl::cli
