#include "support/random_constraint.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "support/random_definition.h"
#include "task/compile.h"
#include "task/program.h"

namespace metactrl::testing {

namespace {

using Engine = std::mt19937_64;

std::size_t below(Engine& engine, std::size_t bound) { return static_cast<std::size_t>(engine() % bound); }

// Gives the nullary actions of a random task names with zero to two arguments.
void name_actions(task::Definition& definition, Engine& engine) {
  definition.objects = {"x", "y", "xy"};
  definition.action_names = {{"go", 0}, {"a", 1}, {"ab", 1}, {"put", 2}};
  std::vector<task::ActionSymbol> symbols{{ActionNameId{0}, {}}};
  for (const ObjectId x : definition.objects.all()) {
    symbols.push_back({ActionNameId{1}, {x}});
    symbols.push_back({ActionNameId{2}, {x}});
    for (const ObjectId y : definition.objects.all()) symbols.push_back({ActionNameId{3}, {x, y}});
  }
  std::shuffle(symbols.begin(), symbols.end(), engine);
  for (const ActionId a : definition.actions.all()) {
    definition.actions.change(a, [&](task::ActionDefinition& action) { action.symbol = symbols[internal::index(a)]; });
  }
}

PlanFormat random_format(Engine& engine) {
  PlanFormat format;
  format.name = "random";
  switch (below(engine, 4)) {
    case 0:  // calls in brackets
      format.open = "[";
      format.close = "]";
      format.separators = {", "};
      format.items["*"] = "{action}({arguments})";
      break;
    case 1:  // lines
      format.close = "\n";
      format.separators = {"\n"};
      format.items["*"] = "({action} {arguments})";
      format.argument_separator = " ";
      break;
    case 2:  // two separators
      format.open = "{\"o\": [\"";
      format.close = "\"]}";
      format.separators = {" and ", "\", \""};
      format.items["*"] = "{action}({arguments})";
      format.empty = "{\"o\": []}";
      break;
    default:  // numbered
      format.close = ".";
      format.separators = {"; "};
      format.prefix = "{index}:";
      format.items["*"] = "{action}<{arguments}>";
      format.empty = "none";
      break;
  }
  return format;
}

// All bytes the formats use, and random longer tokens cut from typical texts, so that tokens straddle everything.
std::shared_ptr<const Vocabulary> random_vocabulary(Engine& engine) {
  const std::string bytes = "goabputxy[](){}<>,;:\n\". 0123456789nde\\-_";
  std::vector<std::string> tokens;
  for (char c : bytes) tokens.emplace_back(1, c);
  const std::string samples[] = {"[put(x, xy), ab(y), go()]", "(put x xy)\n(ab y)\n(go )\n",
                                 "{\"o\": [\"put(x, y) and a(x)\", \"go()\"]}", "1:put<x, xy>; 2:a<y>; 3:go<>."};
  for (int i = 0; i < 25; ++i) {
    const std::string& sample = samples[below(engine, 4)];
    const std::size_t begin = below(engine, sample.size());
    tokens.push_back(sample.substr(begin, 2 + below(engine, 3)));
  }
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  std::vector<TokenId> ends;
  for (std::size_t i = 0; i < 1 + below(engine, 2); ++i) {
    ends.push_back(TokenId{static_cast<std::int32_t>(tokens.size())});
    tokens.emplace_back();
  }
  return std::make_shared<TableVocabulary>(tokens, ends);
}

std::shared_ptr<const Vocabulary> byte_vocabulary() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  tokens.emplace_back();
  return std::make_shared<TableVocabulary>(tokens, std::vector<TokenId>{TokenId{256}});
}

}  // namespace

std::shared_ptr<const Constraint> random_constraint(std::uint64_t seed, const RandomConstraintOptions& options) {
  Engine engine(seed);
  RandomOptions random;
  random.max_facts = 5;
  random.max_derived = 1;
  random.max_actions = static_cast<std::uint32_t>(options.max_actions);
  random.max_monitors = 1;
  task::Definition definition = random_definition(engine(), random);
  name_actions(definition, engine);
  PlanFormat format = random_format(engine);
  if (options.no_closing) format.close.clear();
  std::shared_ptr<const Vocabulary> vocabulary = random_vocabulary(engine);
  if (options.byte_vocabulary) vocabulary = byte_vocabulary();
  const Task task(task::compile(std::move(definition)), nullptr);
  const std::size_t relevant = task.program().relevant_action_list().size();
  if (task.num_actions() == 0 || (options.all_relevant && relevant != task.num_actions())) return nullptr;
  ConstraintOptions compile;
  compile.lookahead.horizon = options.horizon;
  compile.lookahead.fixed_horizon = true;
  compile.tokenization = options.tokenization;
  if (options.witness_tier) compile.lookahead.exact.states = 0;
  if (options.hmm) compile.lookahead.hmm = options.hmm(task);
  try {
    std::shared_ptr<const Constraint> constraint = Constraint::compile(task, format, vocabulary, compile);
    return constraint->lookahead()->verdict() == Verdict::kSolvable ? constraint : nullptr;
  } catch (const InputError&) {
    // A vocabulary whose tokenizer cannot be cut between two actions: refused, as it should be.
    return nullptr;
  }
}

}  // namespace metactrl::testing
