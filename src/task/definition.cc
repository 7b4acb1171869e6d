#include "task/definition.h"

#include <utility>

namespace metactrl::task {

namespace {

std::string symbol_text(const std::string& name, std::span<const ObjectId> arguments,
                        const IdVector<ObjectId, std::string>& objects) {
  std::string out = "(" + name;
  for (const ObjectId argument : arguments) out += " " + objects[argument];
  return out + ")";
}

}  // namespace

FactId add_fact(Definition& definition, std::string predicate, bool at_start) {
  const FactId fact = definition.facts.next_id();
  definition.facts.push_back({definition.predicate_names.next_id(), {}});
  definition.predicate_names.push_back(std::move(predicate));
  definition.fact_layer.push_back(-1);
  definition.init.push_back(at_start);
  return fact;
}

std::string fact_text(const Definition& definition, FactId fact) {
  const FactSymbol& symbol = definition.facts[fact];
  return symbol_text(definition.predicate_names[symbol.name], symbol.arguments, definition.objects);
}

std::string action_text(const Definition& definition, ActionId action) {
  const ActionTable& actions = definition.actions;
  return symbol_text(definition.action_names[actions.name(action)].name, actions.arguments(action), definition.objects);
}

}  // namespace metactrl::task
