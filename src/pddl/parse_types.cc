// Types, and the typed lists (a b - t c - (either t u)) of which PDDL makes objects, constants and variables.
//
// A name without a type is an `object`. Types form a tree: a type has one parent, so two types have a common object
// exactly when one lies below the other, or when an object is declared with (either ...).
#include <algorithm>
#include <utility>

#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

std::vector<Parser::TypedName> Parser::typed_names(SExpr list, std::size_t from) {
  std::vector<TypedName> out;
  std::size_t group = 0;  // the first name that still waits for a type
  for (std::size_t i = from; i < list.size() && !reporter_.exhausted(); ++i) {
    const SExpr entry = list[i];
    if (entry.is_list()) {
      reporter_.error(entry.where(), str_cat("expected a name but found ", entry.to_text(60)),
                      "a typed list looks like (a b - type c - type)");
      continue;
    }
    if (entry.text() != "-") {
      if (entry.text().starts_with('-')) {
        reporter_.error(entry.where(), str_cat("expected a name but found ", in_quotes(entry.text())),
                        str_cat("write a blank after the dash: '- ", entry.text().substr(1), "'"));
        types_broken_ = true;
        group = out.size();
        continue;
      }
      out.push_back({entry, std::nullopt});
      continue;
    }
    use(Feature::kTyping, entry.where());
    if (i + 1 >= list.size()) {
      reporter_.error(entry.where(), "a type is missing after '-'", "name one, or delete the dash");
      break;
    }
    if (group == out.size()) {
      reporter_.warning(entry.where(), "no name stands before '-'", "the type after it is ignored");
    }
    ++i;
    for (; group < out.size(); ++group) out[group].type = list[i];
  }
  return out;
}

TypeId Parser::resolve_type(SExpr name) {
  const auto found = types_.find(name.text());
  if (found != types_.end()) return found->second;
  types_broken_ = true;
  if (reporter_.first("type", name.text())) {
    ClosestName closest(name.text());
    for (const Type& type : ast_.types) closest.offer(type.name);
    reporter_.error(name.where(),
                    name.is_list() ? str_cat("expected a type but found ", name.to_text(60))
                                   : str_cat("type ", in_quotes(name.text()), " is not declared"),
                    closest.hint("add it to (:types ...)"));
  }
  return kObjectType;
}

std::vector<TypeId> Parser::resolve_types(const std::optional<SExpr>& type) {
  if (!type) return {kObjectType};
  if (type->head() != "either") return {resolve_type(*type)};
  std::vector<TypeId> out;
  if (type->size() < 2 || type->size() > kMaxEither + 1) {
    types_broken_ = true;
    reporter_.error(type->where(), str_cat("(either ...) names ", counted(type->size() - 1, "type")),
                    str_cat("name between 1 and ", kMaxEither));
    return {kObjectType};
  }
  for (std::size_t i = 1; i < type->size(); ++i) {
    const TypeId id = resolve_type((*type)[i]);
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  }
  return out;
}

void Parser::parse_types(const std::vector<SExpr>& sections) {
  IdVector<TypeId, std::optional<SExpr>> parents = {std::nullopt};  // as far as given
  for (const SExpr section : sections) {
    use(Feature::kTyping, section.where());
    for (const TypedName& entry : typed_names(section, 1)) add_type(entry, parents);
  }
  for (const TypeId type : ids(next_of(kObjectType), parents.next_id())) {
    if (parents[type]) set_parent(type, *parents[type]);
  }
  check_type_hierarchy(parents);
}

void Parser::add_type(const TypedName& entry, IdVector<TypeId, std::optional<SExpr>>& parents) {
  const std::string_view name = entry.name.text();
  if (name == "object") {
    if (entry.type && entry.type->text() != "object") {
      reporter_.error(entry.name.where(), "'object' cannot have a supertype", "it is the type of everything");
    } else {
      reporter_.warning(entry.name.where(), "type 'object' is declared although it always exists",
                        "every other type is below it");
    }
    return;
  }
  if (name.starts_with('?') || name.starts_with(':')) {
    reporter_.error(entry.name.where(), str_cat(in_quotes(name), " cannot be the name of a type"));
    return;
  }
  const auto [found, is_new] = types_.emplace(name, ast_.types.next_id());
  if (is_new) {
    ast_.types.push_back({std::string(name), kObjectType});
    parents.push_back(entry.type);
    return;
  }
  std::optional<SExpr>& parent = parents[found->second];
  const bool has_parent = parent && parent->text() != "object";
  const bool new_parent = entry.type && entry.type->text() != "object";
  if (has_parent && new_parent && parent->text() != entry.type->text()) {
    reporter_.error(entry.name.where(), str_cat("type ", in_quotes(name), " is declared with two supertypes"),
                    "a type has one supertype; use (either ...) where it is used");
    return;
  }
  reporter_.warning(entry.name.where(), str_cat("type ", in_quotes(name), " is declared twice"));
  if (new_parent) parent = entry.type;
}

void Parser::set_parent(TypeId type, SExpr parent) {
  if (parent.is_list()) {
    if (parent.head() != "either" || parent.size() != 2) {
      types_broken_ = true;
      reporter_.error(parent.where(),
                      str_cat("type ", in_quotes(ast_.types[type].name), " has the supertype ", parent.to_text(60)),
                      "a type has one supertype");
      return;
    }
    parent = parent[1];
  }
  const std::string_view name = parent.text();
  const auto [found, is_new] = types_.emplace(name, ast_.types.next_id());
  if (is_new) {
    ClosestName closest(name);
    for (const Type& known : ast_.types) closest.offer(known.name);
    reporter_.warning(parent.where(), str_cat("supertype ", in_quotes(name), " is not declared"),
                      closest.hint("it is taken as a type below 'object'"));
    ast_.types.push_back({std::string(name), kObjectType});
  }
  ast_.types[type].parent = found->second;
}

void Parser::check_type_hierarchy(const IdVector<TypeId, std::optional<SExpr>>& parents) {
  // Depth by following parents until a type of known depth; a walk that meets itself is a cycle.
  constexpr std::size_t kUnknown = 0;  // `object` has depth 1
  IdVector<TypeId, std::size_t> depth(ast_.types.size(), kUnknown);
  IdVector<TypeId, char> on_walk(ast_.types.size(), 0);
  depth[kObjectType] = 1;
  for (const TypeId start : ids(next_of(kObjectType), ast_.types.next_id())) {
    std::vector<TypeId> walk;
    TypeId type = start;
    for (; depth[type] == kUnknown && on_walk[type] == 0; type = ast_.types[type].parent) {
      on_walk[type] = 1;
      walk.push_back(type);
    }
    if (depth[type] == kUnknown) {
      types_broken_ = true;
      reporter_.error(parents[type]->where(),
                      str_cat("type ", in_quotes(ast_.types[type].name), " is its own supertype"),
                      "break the cycle in (:types ...)");
      ast_.types[type].parent = kObjectType;
      depth[type] = 2;
    }
    for (; !walk.empty(); walk.pop_back()) {
      const TypeId next = walk.back();
      depth[next] = depth[ast_.types[next].parent] + 1;
      on_walk[next] = 0;
      if (depth[next] <= kMaxTypeDepth) continue;
      if (reporter_.first("type depth", "")) {
        reporter_.error(parents[next]->where(),
                        str_cat("type ", in_quotes(ast_.types[next].name), " is more than ", kMaxTypeDepth,
                                " levels below 'object'"),
                        "flatten (:types ...)");
      }
      ast_.types[next].parent = kObjectType;
      depth[next] = 2;
    }
  }
}

void Parser::parse_objects(SExpr section) {
  std::vector<TypeId> types = {kObjectType};
  const SExpr* resolved = nullptr;  // names of one group share their type: look it up once
  std::vector<TypedName> names = typed_names(section, 1);
  for (TypedName& entry : names) {
    if (!entry.type) {
      types = {kObjectType};
      resolved = nullptr;
    } else if (resolved == nullptr || !resolved->same_as(*entry.type)) {
      types = resolve_types(entry.type);
      resolved = &*entry.type;
    }
    add_object(entry.name, types);
  }
}

void Parser::add_object(SExpr name, std::vector<TypeId> types) {
  const std::string_view text = name.text();
  if (text.starts_with('?') || text.starts_with(':')) {
    reporter_.error(name.where(), str_cat(in_quotes(text), " cannot be the name of an object"),
                    text.starts_with('?') ? "only variables start with '?'" : "");
    return;
  }
  const auto [found, is_new] = objects_.emplace(text, ast_.objects.next_id());
  if (is_new) {
    ast_.objects.push_back({std::string(text), std::move(types), name.where()});
    return;
  }
  const Object& first = ast_.objects[found->second];
  if (first.types == types) {
    if (!reporter_.wants_warnings()) return reporter_.count_warning();
    reporter_.warning(name.where(), str_cat("object ", in_quotes(text), " is declared twice"));
    return;
  }
  reporter_.error(
      name.where(),
      str_cat("object ", in_quotes(text), " is declared as ", type_names(types), " and, at line ", first.where.line,
              first.where.file == name.where().file ? "" : " of the domain", ", as ", type_names(first.types)),
      "keep one of the two");
}

bool Parser::check_variable_name(SExpr name) {
  if (name.text().size() > 1 && name.text().starts_with('?')) return true;
  reporter_.error(
      name.where(), str_cat("expected a variable but found ", in_quotes(name.text())),
      str_cat("variables start with '?': write '?", name.text() == "?" ? "x" : name.text().substr(0, 40), "'"));
  return false;
}

std::vector<VariableId> Parser::open_variables(SExpr list, std::size_t from, Scope& scope) {
  std::vector<VariableId> slots;
  for (const TypedName& entry : typed_names(list, from)) {
    if (!check_variable_name(entry.name)) continue;
    const std::string_view name = entry.name.text();
    const std::optional<VariableId> outer = scope.find(name);
    if (outer && !slots.empty() && *outer >= slots.front()) {
      reporter_.error(entry.name.where(), str_cat("variable ", in_quotes(name), " is declared twice in one list"),
                      "rename one");
      continue;
    }
    slots.push_back(scope.open(name, {std::string(name), resolve_types(entry.type), entry.name.where()}));
  }
  return slots;
}

VariableTable Parser::parse_parameters(SExpr declaration) {
  VariableTable out;
  Scope scope(out);
  for (const TypedName& entry : typed_names(declaration, 1)) {
    if (!check_variable_name(entry.name)) continue;
    const std::string_view name = entry.name.text();
    // The names mean nothing here, so repeating one only looks odd.
    if (scope.find(name)) {
      reporter_.warning(entry.name.where(), str_cat("parameter ", in_quotes(name), " is named twice"), "rename one");
    }
    scope.open(name, {std::string(name), resolve_types(entry.type), entry.name.where()});
  }
  return out;
}

std::string Parser::type_names(const std::vector<TypeId>& types) const {
  if (types.size() == 1) return in_quotes(ast_.types[types[0]].name);
  std::string out = "'(either";
  for (const TypeId type : types) out += " " + ast_.types[type].name;
  return out + ")'";
}

}  // namespace metactrl::pddl
