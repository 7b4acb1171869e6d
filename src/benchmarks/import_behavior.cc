// BEHAVIOR: prompts as the checkout has them, and tasks made from what the prompts say.
//
// A task of the scorer is the world at the start and the goal. Objects, their places and their states are those of the
// prompt; what an object can be is looked up in the taxonomy by its category, as the evaluator does. Beyond the prompt:
//
//   rooms      The activity's definition (transition_modeling/resources/pddl_behavior) says in which room furniture is;
//              what stands on the floor there has an edge to it. Things on walls and in worktops do not stand on it.
//   measured   The checkout holds what the real simulator said of each goal condition at the start
//              (error_list_dict.json). Where that decides a literal and the prompt differs, the simulator is right.
//   goals      are those of action sequencing: the checkout's prompts of subgoals are older for two activities.
//   cartons    start open, unless the prompt says otherwise. Our reading of the benchmark's own annotated plans, which put
//              things into cartons and never open one, though they open everything else that has a lid. It belongs to the
//              executor: the planner is not told.
//   sizes      The checkout has none; see ImportOptions.
//
// The definition numbers the objects of a class in the order of the prompt: its jar.n.01_2 is the prompt's second jar.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "benchmarks/behavior/prompt_reader.h"
#include "benchmarks/behavior/prompt_scene.h"
#include "benchmarks/behavior/taxonomy.h"
#include "benchmarks/behavior/world.h"
#include "benchmarks/files.h"
#include "benchmarks/import_eai.h"
#include "benchmarks/import_files.h"
#include "benchmarks/prompt_lines.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

using behavior::prompt::Atom;
using behavior::prompt::Goal;
using behavior::prompt::PromptObject;
using behavior::prompt::PromptScene;
namespace fs = std::filesystem;

// What an ability lets an object be; the last two are flags of tools. The names on the left are bddl's, those on the
// right the evaluator's in its prompts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kStateOfAbility = {
    {{"cookable", "cooked"},
     {"dustyable", "dusty"},
     {"freezable", "frozen"},
     {"openable", "open"},
     {"sliceable", "sliced"},
     {"soakable", "soaked"},
     {"stainable", "stained"},
     {"toggleable", "toggled_on"},
     {"cleaningTool", "cleaningtool"},
     {"slicer", "slicer"}}};

// Our reading, not the checkout's, which does not say what stands on a floor: of the simulator's categories that
// definitions put into a room, those that are built into a wall or a worktop. Only where a thing lands that is put next to
// such furniture depends on it.
constexpr std::array<std::string_view, 8> kNotOnFloor = {"burner", "countertop", "door",        "mirror",
                                                         "shower", "sink",       "top_cabinet", "window"};

// Without sizes: small enough for a hand and for any container; too large for a hand, and a container of all.
constexpr double kSmall = 0.001;
constexpr double kLarge = 2;

// --- sizes

class Sizes {
 public:
  explicit Sizes(const std::string& file) {
    if (!file.empty()) json_ = read_checkout_json(file, "name a file of sizes with --sizes, or leave the option out");
  }

  double of(const std::string& scene, const std::string& object, bool placed) const {
    if (json_.is_null()) return placed ? kSmall : kLarge;
    const auto known = json_.find("known");
    if (known != json_.end() && known->contains(scene) && (*known)[scene].contains(object)) {
      const ImportJson& box = (*known)[scene][object];
      if (box.is_array() && box.size() == 3) {
        return box[0].get<double>() * box[1].get<double>() * box[2].get<double>();
      }
    }
    const auto estimate = json_.find("estimate");
    const std::string category(behavior::prompt::category_of(object));
    if (estimate != json_.end() && estimate->contains(category)) return (*estimate)[category].get<double>();
    return placed ? kSmall : kLarge;
  }

 private:
  ImportJson json_;
};

// --- the activity's definition

// The objects of the prompt by the names of the definition: "jar.n.01_2".
std::map<std::string, std::string> defined_names(const PromptScene& scene) {
  std::map<std::string, std::size_t> count;
  std::map<std::string, std::string> out;
  for (const PromptObject& object : scene.objects) {
    out.emplace(str_cat(object.synset, "_", ++count[object.synset]), object.name);
  }
  return out;
}

// From (inroom floor.n.01_1 kitchen): the room of each object, by the names of the prompt.
std::map<std::string, std::string> read_rooms(const fs::path& file, const std::map<std::string, std::string>& names) {
  std::map<std::string, std::string> rooms;
  if (!has_file(file)) return rooms;
  const std::string text = internal::read_file(file.string());
  constexpr std::string_view kInRoom = "(inroom ";
  for (std::size_t at = text.find(kInRoom); at != std::string::npos; at = text.find(kInRoom, at + 1)) {
    const std::size_t end = text.find(')', at);
    if (end == std::string::npos) break;
    const std::string_view inside = trim(std::string_view(text).substr(at + kInRoom.size(), end - at - kInRoom.size()));
    const std::size_t space = inside.find(' ');
    if (space == std::string_view::npos) continue;
    const auto name = names.find(std::string(inside.substr(0, space)));
    if (name != names.end()) rooms.emplace(name->second, trim(inside.substr(space)));
  }
  return rooms;
}

// --- what was measured

// What a condition's truth says of single literals: all parts of a true "and" are true, of a false "or" false.
void settle(const Goal& goal, bool truth, std::map<Atom, bool>& out) {
  switch (goal.kind) {
    case Goal::Kind::kAtom:
      out.emplace(goal.atom, truth);
      break;
    case Goal::Kind::kNot:
      settle(goal.children[0], !truth, out);
      break;
    case Goal::Kind::kAnd:
    case Goal::Kind::kOr:
      if (truth != (goal.kind == Goal::Kind::kAnd)) break;
      for (const Goal& child : goal.children) settle(child, truth, out);
      break;
    default:
      break;
  }
}

// The literals whose truth in the simulator follows from that of the conditions.
std::map<Atom, bool> read_measured(const ImportJson& all, const std::string& id,
                                   const std::map<std::string, std::string>& names) {
  std::map<Atom, bool> out;
  const auto task = all.find(id);
  if (task == all.end() || !task->contains("subgoals") || !task->contains("subgoal_success")) return out;
  const ImportJson& conditions = (*task)["subgoals"];
  const ImportJson& truth = (*task)["subgoal_success"];
  for (std::size_t i = 0; i < conditions.size() && i < truth.size(); ++i) {
    if (!conditions[i].is_array() || !truth[i].is_boolean()) continue;
    std::vector<std::string> words;
    for (const ImportJson& entry : conditions[i]) {
      std::string word = entry.is_string() ? entry.get<std::string>() : "";
      const auto name = names.find(word);
      words.push_back(name == names.end() ? word : name->second);
    }
    try {
      settle(behavior::prompt::read_flat_goal(words), truth[i].get<bool>(), out);
    } catch (const behavior::prompt::ReadError&) {
      continue;  // of an activity that was changed since
    }
  }
  return out;
}

// --- goals

ImportJson goal_json(const Goal& goal) {
  using Kind = Goal::Kind;
  constexpr std::array<std::pair<Kind, const char*>, 8> kWords = {{{Kind::kNot, "not"},
                                                                   {Kind::kAnd, "and"},
                                                                   {Kind::kOr, "or"},
                                                                   {Kind::kForall, "forall"},
                                                                   {Kind::kExists, "exists"},
                                                                   {Kind::kForN, "forn"},
                                                                   {Kind::kForPairs, "forpairs"},
                                                                   {Kind::kForNPairs, "fornpairs"}}};
  ImportJson words = ImportJson::array();
  for (const auto& [kind, word] : kWords) {
    if (kind == goal.kind) words.push_back(word);
  }
  if (goal.kind == Kind::kAtom) words.push_back(goal.atom.predicate);
  for (const std::string& argument : goal.atom.arguments) words.push_back(argument);
  if (goal.kind == Kind::kForN || goal.kind == Kind::kForNPairs) {
    words.push_back(ImportJson::array({str_cat(goal.count)}));
  }
  for (std::size_t i = 0; i < goal.variables.size(); ++i) {
    words.push_back(ImportJson::array({goal.variables[i], "-", goal.kinds[i]}));
  }
  for (const Goal& child : goal.children) words.push_back(goal_json(child));
  return words;
}

// --- tasks

// "bottling_fruit_0_Wainscott_0_int_0_2021-05-24_19-46-46": the activity, and the scene "Wainscott_0_int".
std::pair<std::string, std::string> activity_and_scene(const std::string& id) {
  const std::size_t end = id.rfind("_int");
  if (end == std::string::npos) return {id, ""};
  // Rs_int has no number, the other scenes have one.
  std::size_t begin = id.rfind('_', end - 1);
  const bool numbered = begin != std::string::npos && id.find_first_not_of("0123456789", begin + 1) == end;
  if (numbered) begin = id.rfind('_', begin - 1);
  if (begin == std::string::npos || begin < 2) return {id, ""};
  return {id.substr(0, begin - 2), id.substr(begin + 1, end + 4 - begin - 1)};
}

class BehaviorImport {
 public:
  BehaviorImport(const ImportOptions& options, const fs::path& package, const fs::path& folder, ImportResult& result)
      : options_(options),
        folder_(folder),
        result_(result),
        actions_(package / "evaluation" / "action_sequencing" / "resources"),
        subgoals_(package / "evaluation" / "subgoal_decomposition" / "resources"),
        definitions_(package / "evaluation" / "transition_modeling" / "resources" / "pddl_behavior"),
        sizes_(options.sizes) {}

  void run() {
    const std::string generate =
        "run 'eai-eval --dataset behavior --mode generate_prompts --eval-type action_sequencing' in the checkout and "
        "put the helm_prompt.json that it writes there";
    const std::vector<PromptEntry> actions = copy_prompts(actions_ / "prompts" / "helm_prompts.json", generate);
    const std::vector<PromptEntry> subgoals =
        copy_prompts(subgoals_ / "prompts" / "helm_prompts.json", "see the same option with subgoal_decomposition");
    const fs::path system = subgoals_ / "prompts" / "system_setup.json";
    const ImportJson setup = read_checkout_json(system, kCheckoutHint);
    text_member(setup, "system_prompt", system, "the file");
    if (has_file(subgoals_ / "error_list_dict.json")) {
      measured_ = read_checkout_json(subgoals_ / "error_list_dict.json", kCheckoutHint);
    }
    for (const PromptEntry& entry : subgoals) {
      scenes_.emplace(entry.identifier, read(entry, behavior::read_behavior_subgoals_scene));
    }
    std::vector<ImportJson> action_rows;
    std::size_t done = 0;
    for (const PromptEntry& entry : actions) {
      if (options_.cancelled && options_.cancelled()) {
        result_.cancelled = true;
        return;
      }
      if (options_.progress) options_.progress("BEHAVIOR", done++, actions.size());
      action_rows.push_back(action_row(entry));
    }
    std::vector<ImportJson> subgoal_rows;
    std::set<std::string> ids;
    for (const ImportJson& row : action_rows) ids.insert(row.at("id").get<std::string>());
    for (const PromptEntry& entry : subgoals) {
      if (!ids.contains(entry.identifier)) {
        throw InputError((subgoals_ / "prompts" / "helm_prompts.json").string(),
                         str_cat("'", entry.identifier, "' has no prompt of action sequencing, which tells its world"),
                         kCheckoutHint);
      }
      subgoal_rows.push_back(subgoal_row(entry));
    }
    write_import(folder_, "as_prompts.json", actions, result_);
    write_import(folder_, "as_tasks.jsonl", rows_text(action_rows), result_);
    write_import(folder_, "sd_prompts.json", subgoals, result_);
    write_import(folder_, "sd_system.json", setup.dump(1) + "\n", result_);
    write_import(folder_, "sd_tasks.jsonl", rows_text(subgoal_rows), result_);
    if (options_.sizes.empty()) {
      result_.notes.emplace_back(
          "BEHAVIOR's sizes of objects are not part of the checkout: what the prompts place fits into every hand and "
          "container, and furniture stays where it is; name a file with --sizes for others");
    }
    if (without_rooms_ > 0) {
      result_.notes.push_back(str_cat(without_rooms_, " tasks have no definition in ", definitions_.string(),
                                      ": their furniture stands on no floor, which matters for nextto alone"));
    }
  }

 private:
  std::vector<PromptEntry> copy_prompts(const fs::path& file, const std::string& hint) {
    if (!has_file(file)) throw InputError(file.string(), "is missing from the checkout", hint);
    return read_prompts(file.string());
  }

  template <typename Read>
  PromptScene read(const PromptEntry& entry, Read reader) {
    try {
      return reader(entry.prompt);
    } catch (const InputError& error) {
      throw InputError(options_.root, str_cat("the prompt of '", entry.identifier, "' cannot be read: ", error.what()),
                       "give the checkout's own helm_prompts.json");
    }
  }

  static std::vector<std::string> properties_of(const std::string& name) {
    const behavior::Taxonomy::Class* entry =
        behavior::Taxonomy::builtin().of_category(behavior::prompt::category_of(name));
    std::vector<std::string> out;
    for (const auto& [ability, state] : kStateOfAbility) {
      if (entry != nullptr && entry->evaluator.contains(ability)) out.emplace_back(state);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  ImportJson action_row(const PromptEntry& entry) {
    const PromptScene scene = read(entry, behavior::read_behavior_actions_scene);
    const auto [activity, place] = activity_and_scene(entry.identifier);
    const std::map<std::string, std::string> names = defined_names(scene);
    std::map<std::string, std::string> defined;
    for (const auto& [definition, name] : names) defined.emplace(name, definition);
    std::set<Atom> facts(scene.init.begin(), scene.init.end());
    for (const auto& [atom, truth] : read_measured(measured_, entry.identifier, names)) {
      if (!truth) {
        facts.erase(atom);
      } else if (!facts.contains(atom) && atom.arguments.size() == 2 && atom.predicate == "nextto") {
        facts.insert(atom);
      }
    }
    const fs::path definition = definitions_ / (entry.identifier + ".pddl");
    if (!has_file(definition)) ++without_rooms_;
    const std::map<std::string, std::string> rooms = read_rooms(definition, names);

    ImportJson objects = ImportJson::array();
    std::map<std::string, std::string> floor_of_room;
    for (const PromptObject& object : scene.objects) {
      const bool floor = object.synset == "floor.n.01";
      const auto room = rooms.find(object.name);
      if (floor && room != rooms.end()) floor_of_room.emplace(room->second, object.name);
      const std::string category(behavior::prompt::category_of(object.name));
      const behavior::Taxonomy::Class* sliced = behavior::Taxonomy::builtin().of_synset(object.synset);
      const std::vector<std::string> properties =
          floor ? std::vector<std::string>{"dusty", "stained"} : properties_of(object.name);
      std::vector<std::string> true_now;
      for (const std::string& property : properties) {
        const bool carton =
            property == "open" && category == "carton" && !facts.contains({true, "open", {object.name}});
        if (carton || facts.contains({false, property, {object.name}})) true_now.push_back(property);
      }
      const bool placed = std::any_of(scene.init.begin(), scene.init.end(), [&](const Atom& atom) {
        return !atom.negated && behavior::prompt::is_place(atom.predicate) && atom.arguments[0] == object.name;
      });
      ImportJson row = {{"name", object.name},     {"bddl", defined.at(object.name)},
                        {"synset", object.synset}, {"category", category},
                        {"props", properties},     {"true", true_now}};
      if (floor) {
        row["floor"] = true;
      } else {
        row["vol"] = sizes_.of(place, object.name, placed);
      }
      if (room != rooms.end()) row["room"] = room->second;
      if (sliced != nullptr && sliced->evaluator.contains("sliceable")) {
        row["parts"] = {object.name + "_part_0", object.name + "_part_1"};
      }
      objects.push_back(std::move(row));
    }
    ImportJson row = {{"id", entry.identifier}, {"task", activity}, {"scene", place}, {"prompt", entry.prompt}};
    row["objects"] = std::move(objects);
    row["sim_init"] = start(scene, facts, rooms, floor_of_room);
    ImportJson goals = ImportJson::array();
    for (const Goal& goal : scene.goals) goals.push_back(goal_json(goal));
    row["goal"] = std::move(goals);
    const fs::path gold = actions_ / "human_annotations" / (entry.identifier + ".json");
    if (has_file(gold)) {
      ImportJson steps = ImportJson::array();
      for (const ImportJson& step : read_checkout_json(gold, kCheckoutHint)) {
        steps.push_back({text_member(step, "action", gold, "a step"), text_member(step, "object", gold, "a step")});
      }
      row["gold"] = std::move(steps);
    }
    return row;
  }

  static ImportJson start(const PromptScene& scene, const std::set<Atom>& facts,
                          const std::map<std::string, std::string>& rooms,
                          const std::map<std::string, std::string>& floor_of_room) {
    ImportJson tree = ImportJson::array();
    ImportJson edges = ImportJson::array();
    std::set<std::string> held;  // by the tree, where a thing has one place
    const auto take = [&](const Atom& atom) {
      if (atom.negated || atom.arguments.size() != 2) return;
      const std::string& from = atom.arguments[0];
      const std::string& to = atom.arguments[1];
      if (atom.predicate == "inside" || atom.predicate == "ontop") {
        if (held.insert(from).second) tree.push_back({from, to, atom.predicate});
      } else {
        edges.push_back({from, to, atom.predicate == "touching" ? "nextto" : atom.predicate});
      }
    };
    for (const PromptObject& object : scene.objects) {
      const auto room = rooms.find(object.name);
      if (object.synset == "floor.n.01" || room == rooms.end()) continue;
      const auto floor = floor_of_room.find(room->second);
      const std::string_view category = behavior::prompt::category_of(object.name);
      const bool stands = std::find(kNotOnFloor.begin(), kNotOnFloor.end(), category) == kNotOnFloor.end();
      if (stands && floor != floor_of_room.end()) edges.push_back({object.name, floor->second, "onfloor"});
    }
    for (const Atom& atom : scene.init) {
      if (facts.contains(atom)) take(atom);
    }
    for (const Atom& atom : facts) {
      if (std::find(scene.init.begin(), scene.init.end(), atom) == scene.init.end()) take(atom);
    }
    return {{"tree", tree}, {"edges", edges}};
  }

  ImportJson subgoal_row(const PromptEntry& entry) {
    ImportJson objects = ImportJson::array();
    for (const PromptObject& object : scenes_.at(entry.identifier).objects) {
      std::string dotted = object.name;
      const std::size_t last = dotted.rfind('_');
      if (last != std::string::npos) dotted[last] = '.';
      std::string category = object.synset;
      std::replace(category.begin(), category.end(), '.', '_');
      objects.push_back({{"name", dotted}, {"category", category}, {"addressable", object.name}});
    }
    const auto [activity, place] = activity_and_scene(entry.identifier);
    return {
        {"id", entry.identifier}, {"task", activity}, {"scene", place}, {"prompt", entry.prompt}, {"objects", objects}};
  }

  const ImportOptions& options_;
  fs::path folder_;
  ImportResult& result_;
  fs::path actions_;
  fs::path subgoals_;
  fs::path definitions_;
  Sizes sizes_;
  ImportJson measured_ = ImportJson::object();
  std::map<std::string, PromptScene> scenes_;
  std::size_t without_rooms_ = 0;
};

}  // namespace

void import_behavior(const ImportOptions& options, const fs::path& package, const fs::path& folder,
                     ImportResult& result) {
  BehaviorImport(options, package, folder, result).run();
}

}  // namespace metactrl::benchmarks
