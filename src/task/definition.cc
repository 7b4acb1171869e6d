#include "task/definition.h"

namespace metactrl::task {

namespace {

std::string symbol_text(const std::string& name, std::span<const ObjectId> arguments,
                        const IdVector<ObjectId, std::string>& objects) {
  std::string out = "(" + name;
  for (const ObjectId argument : arguments) out += " " + objects[argument];
  return out + ")";
}

}  // namespace

std::string fact_text(const Definition& definition, FactId fact) {
  const FactSymbol& symbol = definition.facts[fact];
  return symbol_text(definition.predicate_names[symbol.name], symbol.arguments, definition.objects);
}

std::string action_text(const Definition& definition, ActionId action) {
  const ActionTable& actions = definition.actions;
  return symbol_text(definition.action_names[actions.name(action)].name, actions.arguments(action), definition.objects);
}

}  // namespace metactrl::task
