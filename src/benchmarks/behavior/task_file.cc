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
#include "support/words.h"

namespace metactrl::benchmarks::behavior {

namespace {

using nlohmann::json;

class RowError : public std::runtime_error {
 public:
  RowError(const std::string& field, const std::string& what)
      : std::runtime_error(str_cat("field '", field, "': ", what)) {}
};

// A value of a row and what it is called in messages: "objects[1].vol".
class Field {
 public:
  Field(const json& value, std::string name) : value_(&value), name_(std::move(name)) {}

  [[noreturn]] void fail(const std::string& what) const { throw RowError(name_, what); }
  const json& value() const { return *value_; }
  bool has(const char* key) const { return value_->contains(key); }
  Field operator[](const char* key) const {
    const std::string name = name_.empty() ? key : str_cat(name_, ".", key);
    const auto found = value_->find(key);
    if (found == value_->end()) throw RowError(name, "is missing");
    return {*found, name};
  }
  const std::string& text() const {
    if (!value_->is_string()) fail("is not a string");
    return value_->get_ref<const std::string&>();
  }
  // Of a list: they are called as it is.
  std::vector<Field> items() const {
    if (!value_->is_array()) fail("is not a list");
    std::vector<Field> items;
    for (const json& item : *value_) items.emplace_back(item, name_);
    return items;
  }
  // Of a list of objects: "objects[0]", "objects[1]".
  std::vector<Field> objects() const {
    std::vector<Field> objects = items();
    for (std::size_t i = 0; i < objects.size(); ++i) {
      objects[i].name_ += str_cat("[", i, "]");
      if (!objects[i].value_->is_object()) objects[i].fail("is not an object");
    }
    return objects;
  }

 private:
  const json* value_;
  std::string name_;
};

// Calls read(row) for every line that is not empty.
template <typename Read>
void for_each_row(const std::string& path, const Read& read) {
  const std::string content = internal::read_file(path);
  Diagnostics diagnostics;
  std::uint32_t line_number = 0;
  for (const std::string_view line : split(content, "\n")) {
    ++line_number;
    if (trim(line).empty()) continue;
    try {
      const json row = json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!row.is_object()) throw std::runtime_error("the line is not a JSON object");
      read(Field(row, ""));
    } catch (const std::runtime_error& error) {
      diagnostics.error({path, line_number, 0}, error.what(), "a task file has one task per line, as JSON");
    }
  }
  if (content.empty()) diagnostics.error({path, 0, 0}, "the file has no tasks");
  if (diagnostics.has_errors()) throw InputError(diagnostics);
}

struct ReadObject {
  Object object;
  std::vector<std::string> parts;
};

ReadObject read_object(const Field& row) {
  ReadObject result;
  Object& o = result.object;
  o.name = row["name"].text();
  o.synset = row["synset"].text();
  o.floor = row.has("floor") && row["floor"].value() == json(true);
  if (!o.floor) {
    const Field volume = row["vol"];
    if (!volume.value().is_number() || !std::isfinite(volume.value().get<double>()) ||
        volume.value().get<double>() < 0) {
      volume.fail("is not a volume");
    }
    o.volume = volume.value().get<double>();
  }
  if (!row.has("parts")) return result;
  for (const Field& part : row["parts"].items()) result.parts.push_back(part.text());
  return result;
}

std::vector<Property> read_properties(const Field& list) {
  std::vector<Property> result;
  for (const Field& entry : list.items()) {
    const auto property = property_of_name(entry.text());
    if (!property) entry.fail(str_cat("there is no property '", entry.text(), "'"));
    result.push_back(*property);
  }
  return result;
}

// A half is as the whole is before anything happens, and half as large.
void read_objects(const Field& row, ActionTask& task) {
  const std::vector<Field> rows = row["objects"].objects();
  std::vector<ReadObject> objects;
  for (const Field& entry : rows) {
    objects.push_back(read_object(entry));
    const std::string& name = objects.back().object.name;
    if (!task.scene.add(objects.back().object)) entry["name"].fail(str_cat("'", name, "' occurs twice"));
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!objects[i].parts.empty() && objects[i].object.floor) rows[i]["parts"].fail("a floor has no parts");
    for (const std::string& name : objects[i].parts) {
      if (!task.scene.add({name, {}, false, true, objects[i].object.volume / 2})) {
        rows[i]["parts"].fail(str_cat("'", name, "' occurs twice"));
      }
    }
  }
  task.start = State(task.scene.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto id = static_cast<ObjectId>(i);
    for (const Property p : read_properties(rows[i]["props"])) task.start.set(id, p, false);
    for (const std::string& name : objects[i].parts) task.start.copy_properties(id, task.scene.find(name));
    for (const Property p : read_properties(rows[i]["true"])) {
      if (!task.start.has(id, p)) rows[i]["true"].fail(str_cat("'", name_of(p), "' is not among the props"));
      task.start.set(id, p, true);
    }
  }
}

ObjectId named_object(const Scene& scene, const Field& name) {
  const ObjectId id = scene.find(name.text());
  if (id == kNothing) name.fail(str_cat("there is no object '", name.text(), "'"));
  return id;
}

// The parts of an entry of three at least.
std::vector<Field> triple(const Field& entry, const char* form) {
  std::vector<Field> parts = entry.items();
  if (parts.size() < 3) entry.fail(str_cat("an entry is not ", form));
  return parts;
}

void read_start(const Field& row, ActionTask& task) {
  const Field start = row["sim_init"];
  if (!start.value().is_object()) start.fail("is not an object");
  for (const Field& entry : start["tree"].items()) {
    const std::vector<Field> parts = triple(entry, "[child, parent, type]");
    const ObjectId child = named_object(task.scene, parts[0]);
    const ObjectId parent = named_object(task.scene, parts[1]);
    const std::string& type = parts[2].text();
    if (type != "inside" && type != "ontop") entry.fail(str_cat("'", type, "' is neither inside nor ontop"));
    if (task.scene[child].floor || task.scene[parent].floor) entry.fail("a floor has no place in the tree");
    if (task.start.parent(child) != kNothing) entry.fail(str_cat("'", task.scene.name(child), "' has two parents"));
    task.start.attach(child, parent, type == "inside" ? Holding::kInside : Holding::kOnTop);
    if (!task.start.ancestors(child)) entry.fail(str_cat("'", task.scene.name(child), "' is in a circle"));
  }
  for (const Field& entry : start["edges"].items()) {
    const std::vector<Field> parts = triple(entry, "[from, to, relation]");
    const ObjectId from = named_object(task.scene, parts[0]);
    const ObjectId to = named_object(task.scene, parts[1]);
    const std::optional<Relation> relation = relation_of_name(parts[2].text());
    if (!relation) entry.fail(str_cat("there is no relation '", parts[2].text(), "'"));
    task.start.set_edge(from, to, *relation);
    if (relation == Relation::kNextTo) task.start.set_edge(to, from, *relation);
  }
}

// The options that the file lists are the evaluator's own; without them they are made from the goal.
void read_goals(const Field& row, ActionTask& task) {
  const std::vector<Field> goals = row["goal"].items();
  const bool listed = row.has("goal_options");
  const std::vector<Field> options = listed ? row["goal_options"].items() : goals;
  if (options.size() != goals.size()) row["goal_options"].fail("has not as many conditions as goal");
  for (std::size_t i = 0; i < goals.size(); ++i) {
    try {
      task.goals.push_back({goal_text(goals[i].value()), listed ? read_goal_options(options[i].value(), task.scene)
                                                                : expand_goal(goals[i].value(), task.scene)});
    } catch (const GoalError& error) {
      throw RowError(str_cat(listed ? "goal_options[" : "goal[", i, "]"), error.what());
    }
  }
}

void read_gold(const Field& row, ActionTask& task) {
  if (!row.has("gold") || row["gold"].value().is_null()) return;
  for (const Field& step : row["gold"].items()) {
    const std::vector<Field> parts = step.items();
    if (parts.size() != 2) step.fail("a step is not [action, object]");
    task.gold.emplace_back(parts[0].text(), parts[1].text());
  }
}

// What both kinds of rows begin with.
template <typename Task>
void read_names(const Field& row, std::set<std::string>& ids, Task& task) {
  task.id = row["id"].text();
  if (!ids.insert(task.id).second) row["id"].fail(str_cat("'", task.id, "' occurs twice"));
  task.title = row.has("task") ? row["task"].text() : task.id;
}

}  // namespace

std::vector<ActionTask> load_action_tasks(const std::string& path) {
  std::vector<ActionTask> tasks;
  std::set<std::string> ids;
  for_each_row(path, [&](const Field& row) {
    ActionTask task;
    read_names(row, ids, task);
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
  for_each_row(path, [&](const Field& row) {
    SubgoalTask task;
    read_names(row, ids, task);
    const auto world = world_of.find(task.id);
    if (world == world_of.end()) row["id"].fail(str_cat("no action task has the id '", task.id, "'"));
    task.world = world->second;
    for (const Field& entry : row["objects"].objects()) {
      task.objects.push_back({entry["name"].text(), entry["category"].text(),
                              named_object(worlds[task.world].scene, entry["addressable"])});
    }
    tasks.push_back(std::move(task));
  });
  return tasks;
}

}  // namespace metactrl::benchmarks::behavior
