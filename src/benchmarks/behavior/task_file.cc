// A row is read field by field; the first thing that is wrong in it throws a RowError, which becomes a diagnostic with
// the line, and the next row is read.
#include "benchmarks/behavior/task_file.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#include "metactrl/error.h"
#include "support/files.h"
#include "support/str_cat.h"

namespace metactrl::benchmarks::behavior {

namespace {

using internal::str_cat;
using nlohmann::json;

class RowError : public std::runtime_error {
 public:
  RowError(const std::string& field, const std::string& what)
      : std::runtime_error(str_cat("field '", field, "': ", what)) {}
};

const json& member(const json& object, const char* key, const std::string& field) {
  const auto found = object.find(key);
  if (found == object.end()) throw RowError(field, "is missing");
  return *found;
}

const std::string& text(const json& value, const std::string& field) {
  if (!value.is_string()) throw RowError(field, "is not a string");
  return value.get_ref<const std::string&>();
}

const json& list(const json& value, const std::string& field) {
  if (!value.is_array()) throw RowError(field, "is not a list");
  return value;
}

const json& object(const json& value, const std::string& field) {
  if (!value.is_object()) throw RowError(field, "is not an object");
  return value;
}

const std::string& text_member(const json& row, const char* key, const std::string& where = {}) {
  const std::string field = where + key;
  return text(member(row, key, field), field);
}

const json& list_member(const json& row, const char* key, const std::string& where = {}) {
  const std::string field = where + key;
  return list(member(row, key, field), field);
}

// Calls read(row) for every line that is not empty.
template <typename Read>
void for_each_row(const std::string& path, const Read& read) {
  const std::string content = internal::read_file(path);
  Diagnostics diagnostics;
  std::uint32_t line_number = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    std::size_t end = content.find('\n', begin);
    if (end == std::string::npos) end = content.size();
    const std::string_view line = std::string_view(content).substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      const json row = json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!row.is_object()) throw std::runtime_error("the line is not a JSON object");
      read(row);
    } catch (const std::runtime_error& error) {
      diagnostics.error({path, line_number, 0}, error.what(), "a task file has one task per line, as JSON");
    }
  }
  if (line_number == 0) diagnostics.error({path, 0, 0}, "the file has no tasks");
  if (diagnostics.has_errors()) throw InputError(diagnostics);
}

bool flag(const json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_boolean() && found->get<bool>();
}

struct ReadObject {
  Object object;
  std::vector<std::string> parts;
};

ReadObject read_object(const json& row, const std::string& where) {
  ReadObject result;
  Object& o = result.object;
  o.name = text_member(row, "name", where);
  o.synset = text_member(row, "synset", where);
  o.floor = flag(row, "floor");
  if (!o.floor) {
    const json& volume = member(row, "vol", where + "vol");
    if (!volume.is_number() || !std::isfinite(volume.get<double>()) || volume.get<double>() < 0) {
      throw RowError(where + "vol", "is not a volume");
    }
    o.volume = volume.get<double>();
  }
  if (row.contains("parts")) {
    for (const json& part : list_member(row, "parts", where)) result.parts.push_back(text(part, where + "parts"));
  }
  return result;
}

std::vector<Property> read_properties(const json& row, const char* key, const std::string& where) {
  std::vector<Property> result;
  for (const json& entry : list_member(row, key, where)) {
    const std::string& name = text(entry, where + key);
    const auto property = property_of_name(name);
    if (!property) throw RowError(where + key, str_cat("there is no property '", name, "'"));
    result.push_back(*property);
  }
  return result;
}

// A half is as the whole is before anything happens, and half as large.
void read_objects(const json& row, ActionTask& task) {
  const json& rows = list_member(row, "objects");
  std::vector<ReadObject> objects;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string where = str_cat("objects[", i, "].");
    objects.push_back(read_object(object(rows[i], where), where));
    const std::string& name = objects.back().object.name;
    if (!task.scene.add(objects.back().object)) throw RowError(where + "name", str_cat("'", name, "' occurs twice"));
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::string field = str_cat("objects[", i, "].parts");
    if (!objects[i].parts.empty() && objects[i].object.floor) throw RowError(field, "a floor has no parts");
    for (const std::string& name : objects[i].parts) {
      if (!task.scene.add({name, {}, false, true, objects[i].object.volume / 2})) {
        throw RowError(field, str_cat("'", name, "' occurs twice"));
      }
    }
  }
  task.start = State(task.scene.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::string where = str_cat("objects[", i, "].");
    const auto id = static_cast<ObjectId>(i);
    for (const Property p : read_properties(rows[i], "props", where)) task.start.set(id, p, false);
    for (const std::string& name : objects[i].parts) task.start.copy_properties(id, task.scene.find(name));
    for (const Property p : read_properties(rows[i], "true", where)) {
      if (!task.start.has(id, p)) throw RowError(where + "true", str_cat("'", name_of(p), "' is not among the props"));
      task.start.set(id, p, true);
    }
  }
}

ObjectId named_object(const Scene& scene, const json& name, const std::string& field) {
  const ObjectId id = scene.find(text(name, field));
  if (id == kNothing) throw RowError(field, str_cat("there is no object '", name.get_ref<const std::string&>(), "'"));
  return id;
}

void read_start(const json& row, ActionTask& task) {
  const json& start = object(member(row, "sim_init", "sim_init"), "sim_init");
  for (const json& entry : list_member(start, "tree", "sim_init.")) {
    const std::string field = "sim_init.tree";
    if (list(entry, field).size() < 3) throw RowError(field, "an entry is not [child, parent, type]");
    const ObjectId child = named_object(task.scene, entry[0], field);
    const ObjectId parent = named_object(task.scene, entry[1], field);
    const std::string& type = text(entry[2], field);
    if (type != "inside" && type != "ontop") throw RowError(field, str_cat("'", type, "' is neither inside nor ontop"));
    if (task.scene[child].floor || task.scene[parent].floor) throw RowError(field, "a floor has no place in the tree");
    if (task.start.parent(child) != kNothing) {
      throw RowError(field, str_cat("'", task.scene.name(child), "' has two parents"));
    }
    task.start.attach(child, parent, type == "inside" ? Holding::kInside : Holding::kOnTop);
    if (!task.start.ancestors(child)) throw RowError(field, str_cat("'", task.scene.name(child), "' is in a circle"));
  }
  for (const json& entry : list_member(start, "edges", "sim_init.")) {
    const std::string field = "sim_init.edges";
    if (list(entry, field).size() < 3) throw RowError(field, "an entry is not [from, to, relation]");
    const ObjectId from = named_object(task.scene, entry[0], field);
    const ObjectId to = named_object(task.scene, entry[1], field);
    const std::string& relation = text(entry[2], field);
    if (relation == "onfloor") {
      task.start.set_edge(from, to, Relation::kOnFloor);
    } else if (relation == "under") {
      task.start.set_edge(from, to, Relation::kUnder);
    } else if (relation == "nextto") {
      task.start.set_edge(from, to, Relation::kNextTo);
      task.start.set_edge(to, from, Relation::kNextTo);
    } else {
      throw RowError(field, str_cat("there is no relation '", relation, "'"));
    }
  }
}

// The options that the file lists are the evaluator's own; without them they are made from the goal.
void read_goals(const json& row, ActionTask& task) {
  const json& goals = list_member(row, "goal");
  const bool listed = row.contains("goal_options");
  if (listed && list_member(row, "goal_options").size() != goals.size()) {
    throw RowError("goal_options", "has not as many conditions as goal");
  }
  for (std::size_t i = 0; i < goals.size(); ++i) {
    try {
      task.goals.push_back({goal_text(goals[i]), listed ? read_goal_options(row["goal_options"][i], task.scene)
                                                        : expand_goal(goals[i], task.scene)});
    } catch (const GoalError& error) {
      throw RowError(str_cat(listed ? "goal_options[" : "goal[", i, "]"), error.what());
    }
  }
}

void read_gold(const json& row, ActionTask& task) {
  const auto gold = row.find("gold");
  if (gold == row.end() || gold->is_null()) return;
  for (const json& step : list(*gold, "gold")) {
    if (list(step, "gold").size() != 2) throw RowError("gold", "a step is not [action, object]");
    task.gold.emplace_back(text(step[0], "gold"), text(step[1], "gold"));
  }
}

std::string title_of(const json& row, const std::string& id) {
  return row.contains("task") ? text_member(row, "task") : id;
}

}  // namespace

std::vector<ActionTask> load_action_tasks(const std::string& path) {
  std::vector<ActionTask> tasks;
  std::set<std::string> ids;
  for_each_row(path, [&](const json& row) {
    ActionTask task;
    task.id = text_member(row, "id");
    if (!ids.insert(task.id).second) throw RowError("id", str_cat("'", task.id, "' occurs twice"));
    task.title = title_of(row, task.id);
    read_objects(row, task);
    read_start(row, task);
    read_goals(row, task);
    read_gold(row, task);
    tasks.push_back(std::move(task));
  });
  return tasks;
}

std::vector<SubgoalTask> load_subgoal_tasks(const std::string& path, const std::vector<ActionTask>& worlds) {
  std::map<std::string, std::size_t> world_of;
  for (std::size_t i = 0; i < worlds.size(); ++i) world_of.emplace(worlds[i].id, i);
  std::vector<SubgoalTask> tasks;
  std::set<std::string> ids;
  for_each_row(path, [&](const json& row) {
    SubgoalTask task;
    task.id = text_member(row, "id");
    if (!ids.insert(task.id).second) throw RowError("id", str_cat("'", task.id, "' occurs twice"));
    task.title = title_of(row, task.id);
    const auto world = world_of.find(task.id);
    if (world == world_of.end()) throw RowError("id", str_cat("no action task has the id '", task.id, "'"));
    task.world = world->second;
    const json& rows = list_member(row, "objects");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string where = str_cat("objects[", i, "].");
      const json& entry = object(rows[i], where);
      SubgoalObject o{text_member(entry, "name", where), text_member(entry, "category", where), kNothing};
      o.id = named_object(worlds[task.world].scene, member(entry, "addressable", where + "addressable"),
                          where + "addressable");
      task.objects.push_back(std::move(o));
    }
    tasks.push_back(std::move(task));
  });
  return tasks;
}

}  // namespace metactrl::benchmarks::behavior
