// Types, and the typed lists (a b - t c - (either t u)) of which PDDL makes objects, constants and variables.
//
// A name without a type is an `object`. A type declared below two others is below both, without a circle. Two types can
// have a common object when one lies below the other or a third lies below both, or when an object is declared with
// (either ...).
//
// What people write and other readers take is read here, too, with a warning: a dash without a blank, a type below
// itself, one supertype more, a parameter named twice.
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
    if (!entry.text().starts_with('-')) {
      out.push_back({entry, std::nullopt});
      continue;
    }
    use(Feature::kTyping, entry.where());
    const bool apart = entry.text() == "-";
    if (apart && i + 1 >= list.size()) {
      reporter_.error(entry.where(), "a type is missing after '-'", "name one, or delete the dash");
      break;
    }
    if (!apart && reporter_.first("dash", "")) {
      reporter_.warning(entry.where(),
                        str_cat("no blank after the dash: ", in_quotes(entry.text()),
                                " is read as the type of what stands before it"),
                        str_cat("write '- ", cut(entry.text().substr(1), 40), "', here and wherever it is missing"));
    }
    if (group == out.size()) {
      reporter_.warning(entry.where(), "no name stands before '-'", "the type after it is ignored");
    }
    if (apart) ++i;
    for (; group < out.size(); ++group) out[group].type = apart ? list[i] : entry.without_first();
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

std::vector<TypeId> Parser::resolve_declared_types(const std::optional<SExpr>& type) {
  const auto unknown = [&](SExpr name) { return name.is_name() && !types_.contains(name.text()); };
  std::optional<SExpr> missing;
  if (type && unknown(*type)) missing = type;
  for (std::size_t i = 1; type && type->head() == "either" && i < type->size(); ++i) {
    if (unknown((*type)[i])) missing = (*type)[i];
  }
  if (!missing) return resolve_types(type);
  if (reporter_.first("declared type", missing->text())) {
    ClosestName closest(missing->text());
    for (const Type& known : ast_.types) closest.offer(known.name);
    reporter_.warning(missing->where(),
                      str_cat("type ", in_quotes(missing->text()), " is not declared, so any object is taken here"),
                      closest.hint("add it to (:types ...)"));
  }
  return {kObjectType};
}

void Parser::parse_types(const std::vector<SExpr>& sections) {
  DeclaredParents parents(1);
  for (const SExpr section : sections) {
    use(Feature::kTyping, section.where());
    for (const TypedName& entry : typed_names(section, 1)) add_type(entry, parents);
  }
  for (const TypeId type : ids(next_of(kObjectType), parents.next_id())) {
    for (const SExpr parent : parents[type]) add_parent(type, parent);
  }
  for (const TypeId type : ids(next_of(kObjectType), ast_.types.next_id())) {
    // Below another type, it need not be said that it is an object.
    std::vector<TypeId>& above = ast_.types[type].parents;
    if (above.size() > 1) std::erase(above, kObjectType);
    if (above.empty()) above.push_back(kObjectType);
  }
  num_declared_types_ = ast_.types.size();
  check_type_hierarchy(parents);
  check_ancestors(parents);
}

void Parser::add_type(const TypedName& entry, DeclaredParents& parents) {
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
    ast_.types.push_back({std::string(name)});
    parents.push_back({});
  }
  std::vector<SExpr>& own = parents[found->second];
  const auto same = [&](SExpr parent) { return parent.text() == entry.type->text(); };
  const bool known = !entry.type || std::any_of(own.begin(), own.end(), same);
  if (!is_new) {
    const auto other = std::find_if(own.begin(), own.end(), [](SExpr parent) { return parent.text() != "object"; });
    if (!known && other != own.end() && entry.type->text() != "object") {
      reporter_.warning(entry.name.where(),
                        str_cat("type ", in_quotes(name), " is declared with two supertypes, ",
                                in_quotes(other->to_text(40)), " and ", in_quotes(entry.type->to_text(40))),
                        "its objects belong to both; a line break does not end a list of types");
    } else {
      reporter_.warning(entry.name.where(), str_cat("type ", in_quotes(name), " is declared twice"));
    }
  }
  if (!known) own.push_back(*entry.type);
}

void Parser::add_parent(TypeId type, SExpr parent) {
  if (parent.is_list()) {
    if (parent.head() != "either" || parent.size() != 2) {
      types_broken_ = true;
      reporter_.error(parent.where(),
                      str_cat("type ", in_quotes(ast_.types[type].name), " has the supertype ", parent.to_text(60)),
                      "name one supertype; for a type below two others declare it once below each");
      return;
    }
    parent = parent[1];
  }
  const std::string_view name = parent.text();
  if (name == ast_.types[type].name) {
    reporter_.warning(parent.where(), str_cat("type ", in_quotes(name), " is declared below itself, which is ignored"),
                      "a line break does not end a list: '- TYPE' counts for all names before it that have none yet");
    return;
  }
  const auto [found, is_new] = types_.emplace(name, ast_.types.next_id());
  if (is_new) {
    ClosestName closest(name);
    for (const Type& known : ast_.types) closest.offer(known.name);
    reporter_.warning(parent.where(), str_cat("supertype ", in_quotes(name), " is not declared"),
                      closest.hint("it is taken as a type below 'object'"));
    ast_.types.push_back({std::string(name)});
  }
  ast_.types[type].parents.push_back(found->second);
}

// No circles, and no type too far below `object`: the depth of a type is one more than the largest of its parents'.
void Parser::check_type_hierarchy(const DeclaredParents& parents) {
  constexpr std::size_t kUnknown = 0;  // `object` has depth 1
  IdVector<TypeId, std::size_t> depth(ast_.types.size(), kUnknown);
  IdVector<TypeId, char> on_walk(ast_.types.size(), 0);
  const auto put_below_object = [&](TypeId type) {
    ast_.types[type].parents = {kObjectType};
    depth[type] = 2;
  };
  depth[kObjectType] = 1;
  for (const TypeId start : ids(next_of(kObjectType), ast_.types.next_id())) {
    std::vector<TypeId> walk = {start};  // each is a parent of the one before it
    while (!walk.empty()) {
      const TypeId type = walk.back();
      on_walk[type] = 1;
      const std::vector<TypeId>& above = ast_.types[type].parents;
      const auto open =
          std::find_if(above.begin(), above.end(), [&](TypeId parent) { return depth[parent] == kUnknown; });
      if (depth[type] == kUnknown && open != above.end() && on_walk[*open] == 0) {
        walk.push_back(*open);
        continue;
      }
      if (depth[type] == kUnknown && open != above.end()) {
        types_broken_ = true;
        const TypeId again = *open;
        reporter_.error(parents[again][0].where(),
                        str_cat("type ", in_quotes(ast_.types[again].name), " is its own supertype"),
                        "break the cycle in (:types ...)");
        put_below_object(again);
        continue;
      }
      if (depth[type] == kUnknown) {
        for (const TypeId parent : above) depth[type] = std::max(depth[type], depth[parent] + 1);
      }
      on_walk[type] = 0;
      walk.pop_back();
      if (depth[type] <= kMaxTypeDepth) continue;
      if (reporter_.first("type depth", "")) {
        reporter_.error(parents[type][0].where(),
                        str_cat("type ", in_quotes(ast_.types[type].name), " is more than ", kMaxTypeDepth,
                                " levels below 'object'"),
                        "flatten (:types ...)");
      }
      put_below_object(type);
    }
  }
}

// Types with two supertypes can have many above them, and each question of types asks for all of them.
void Parser::check_ancestors(const DeclaredParents& parents) {
  may_overlap_.assign(ast_.types.size(), false);
  IdVector<TypeId, char> reached(ast_.types.size(), 0);
  for (const TypeId type : ids(next_of(kObjectType), ast_.types.next_id())) {
    if (ast_.types[type].parents.size() < 2) continue;
    std::vector<TypeId> above = {type};
    for (std::size_t next = 0; next < above.size() && above.size() <= kMaxAncestors; ++next) {
      for (const TypeId parent : ast_.types[above[next]].parents) {
        if (reached[parent] == 0) above.push_back(parent);
        reached[parent] = 1;
      }
    }
    for (const TypeId seen : above) {
      reached[seen] = 0;
      may_overlap_[seen] = true;
    }
    if (above.size() <= kMaxAncestors) continue;
    reporter_.error(parents[type][0].where(),
                    str_cat("type ", in_quotes(ast_.types[type].name), " is below more than ", kMaxAncestors, " types"),
                    "flatten (:types ...)");
    ast_.types[type].parents = {kObjectType};
  }
}

void Parser::declare_type_of_constants(SExpr name) {
  if (types_.contains(name.text())) return;
  ClosestName closest(name.text());
  for (const TypeId known : ids(kObjectType, to_id<TypeId>(num_declared_types_))) closest.offer(ast_.types[known].name);
  if (closest.found()) return;  // misspelt
  types_.emplace(name.text(), ast_.types.next_id());
  ast_.types.push_back({std::string(name.text()), {kObjectType}});
  may_overlap_.push_back(false);
  reporter_.warning(name.where(), str_cat("type ", in_quotes(name.text()), " is not declared"),
                    "it is taken as a type below 'object', since constants have it; add it to (:types ...)");
}

void Parser::parse_objects(SExpr section, bool constants) {
  std::vector<TypeId> types = {kObjectType};
  const SExpr* resolved = nullptr;  // names of one group share their type: look it up once
  std::vector<TypedName> names = typed_names(section, 1);
  for (TypedName& entry : names) {
    if (!entry.type) {
      types = {kObjectType};
      resolved = nullptr;
    } else if (resolved == nullptr || !resolved->same_as(*entry.type)) {
      if (constants && entry.type->is_name()) declare_type_of_constants(*entry.type);
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
  reporter_.error(name.where(), str_cat("expected a variable but found ", in_quotes(name.text())),
                  str_cat("variables start with '?': write '?", name.text() == "?" ? "x" : cut(name.text(), 40), "'"));
  return false;
}

std::vector<VariableId> Parser::open_variables(SExpr list, std::size_t from, Scope& scope,
                                               std::vector<Condition>* same) {
  std::vector<VariableId> slots;
  for (const TypedName& entry : typed_names(list, from)) {
    if (!check_variable_name(entry.name)) continue;
    const std::string_view name = entry.name.text();
    const std::optional<VariableId> outer = scope.find(name);
    std::vector<TypeId> types = resolve_types(entry.type);
    if (outer && !slots.empty() && *outer >= slots.front()) {
      const std::string what = str_cat("variable ", in_quotes(name), " is declared twice in one list");
      if (types != scope[*outer].types) {
        reporter_.error(entry.name.where(), what, "rename one");
        continue;
      }
      reporter_.warning(entry.name.where(), what, "both are the same object; rename one if they are not");
      if (same == nullptr) continue;
      Condition equal;
      equal.kind = Condition::Kind::kEquals;
      equal.terms = {*outer, scope.next()};
      equal.where = entry.name.where();
      same->push_back(std::move(equal));
    }
    slots.push_back(scope.open(name, {std::string(name), std::move(types), entry.name.where()}));
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
    scope.open(name, {std::string(name), resolve_declared_types(entry.type), entry.name.where()});
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
