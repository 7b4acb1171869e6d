// VirtualHome: tasks, prompts and scenes from the benchmark's own files.
//
// The benchmark keeps, per task, the scene before and after its reference plan, that plan, and the goals. What a prompt
// speaks of is the difference between the two scenes:
//
//   changed nodes   whose record differs, the order of properties and states left aside
//   relevant nodes  those, and the ends of every edge that is in one scene only; the objects of the prompt
//   shown           states of changed nodes; edges of the first scene that are not in the second
//
// A task's scene is written as what differs from a common one, the household: the first task's scene without the
// objects that were added for it.
//
// Prompts of subgoal decomposition are part of the checkout. Those of action sequencing in the checkout are of an older
// form that today's evaluator cannot read, so they are made here: the template's text with five places filled. Python's
// sets give the generator's lines another order in every run; here the order is that of the scene.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "benchmarks/files.h"
#include "benchmarks/import_eai.h"
#include "benchmarks/import_files.h"
#include "benchmarks/import_graph.h"
#include "benchmarks/prompt_lines.h"
#include "jobs/journal.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

namespace fs = std::filesystem;

constexpr const char* kDashes = "-----------------\n";
constexpr const char* kGenerate =
    "run 'eai-eval --dataset virtualhome --mode generate_prompts --eval-type action_sequencing' in the checkout and "
    "name the helm_prompt.json that it writes with --vh-as-prompts";

// --- a task

struct Goals {
  std::vector<std::tuple<int, std::string, std::string>> nodes;  // number, name, state
  std::vector<GraphEdge> edges;
  std::vector<std::string> actions;
  bool empty() const { return nodes.empty() && edges.empty() && actions.empty(); }
};

Goals read_goals(const ImportJson& task, const fs::path& file, const std::string& where) {
  const ImportJson& both = member(task, "vh_goal", file, where);
  Goals goals;
  const ImportJson& actions = member(both, "actions", file, where);
  const ImportJson& states = member(both, "goal", file, where);
  if (!actions.is_array() || !states.is_array()) {
    throw InputError(file.string(), str_cat(where, ": the goals are not lists"), kCheckoutHint);
  }
  for (const ImportJson& action : actions) {
    if (!action.is_string()) throw InputError(file.string(), str_cat(where, ": an action goal is not a text"));
    goals.actions.push_back(action.get<std::string>());
  }
  for (const ImportJson& goal : states) {
    if (goal.is_object() && goal.contains("from_id")) {
      goals.edges.emplace_back(number_member(goal, "from_id", file, where),
                               text_member(goal, "relation_type", file, where),
                               number_member(goal, "to_id", file, where));
    } else {
      goals.nodes.emplace_back(number_member(goal, "id", file, where), text_member(goal, "class_name", file, where),
                               text_member(goal, "state", file, where));
    }
  }
  return goals;
}

struct Program {
  std::string title;
  std::string description;
  std::vector<std::string> steps;  // "[WALK] <soap> (1002)"
};

// "[WALK] <soap> (1.1002)": the number behind the dot is the object's.
std::string plain_step(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    out += line[i];
    if (line[i] != '(') continue;
    const std::size_t dot = line.find('.', i);
    const std::size_t close = line.find(')', i);
    if (dot != std::string_view::npos && dot < close) i = dot;
  }
  return out;
}

Program read_program(const fs::path& file) {
  if (!has_file(file)) throw InputError(file.string(), "is missing from the checkout", kCheckoutHint);
  const std::string text = internal::read_file(file.string());
  Program program;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, "\n")) {
    const std::string_view line = trim(raw);
    ++number;
    if (number == 1) program.title = line;
    if (number == 2) program.description = line;
    if (line.starts_with('[')) program.steps.push_back(plain_step(line));
  }
  return program;
}

// As Python prints a list of words.
std::string python_list(const std::vector<std::string>& words) {
  std::string out = "[";
  for (const std::string& word : words) out += str_cat(out.size() > 1 ? ", " : "", "'", word, "'");
  return out + "]";
}

const std::string& name_in(const SceneGraph& graph, int id, const fs::path& file) {
  const GraphNode* node = graph.find(id);
  if (node == nullptr) {
    throw InputError(file.string(), str_cat("there is no node ", id, ", which a goal of the task names"),
                     kCheckoutHint);
  }
  return node->name;
}

// The prompt of action sequencing: a template with five places.
class ActionPrompt {
 public:
  // The text between the triple quotes of prompt = """...""". Empty, and `why` says why, when the file is not so.
  static std::optional<ActionPrompt> read(const fs::path& file, std::string& why) {
    if (!has_file(file)) {
      why = str_cat(file.string(), " is missing");
      return std::nullopt;
    }
    const std::string text = internal::read_file(file.string());
    const std::size_t begin = text.find("\"\"\"");
    const std::size_t end = begin == std::string::npos ? begin : text.find("\"\"\"", begin + 3);
    ActionPrompt out;
    if (end != std::string::npos) out.template_ = text.substr(begin + 3, end - begin - 3);
    for (const char* slot : kSlots) {
      if (out.template_.find(slot) != std::string::npos) continue;
      why = str_cat(file.string(), " has no place for ", slot);
      return std::nullopt;
    }
    // Today's template asks for numbers behind the names; the one before it forbade them.
    if (out.template_.find("object_id") == std::string::npos) {
      why = str_cat(file.string(), " is of an older form, without the objects' numbers");
      return std::nullopt;
    }
    return out;
  }

  std::string text(const SceneGraph& graph, const SceneChange& shown, const Goals& goals, const fs::path& file) const {
    std::string objects = "Objects in the scene:\n";
    std::string state = "Nodes:\n";
    for (const GraphNode& node : graph.nodes) {
      if (!shown.relevant.contains(node.id)) continue;
      objects += str_cat(node.name, ", id: ", node.id, ", properties: ", python_list(node.properties), "\n");
      if (!shown.changed.contains(node.id)) continue;
      state += str_cat(node.name, ", states: ", python_list(node.states), ", properties:", python_list(node.properties),
                       "\n");
    }
    state += "\nEdges:\n";
    for (const auto& [from, relation, to] : shown.shown) {
      state += str_cat("<", name_in(graph, from, file), "> (", from, ") is ", relation == "CLOSE" ? "NEAR" : relation,
                       " to <", name_in(graph, to, file), "> (", to, ")\n");
    }
    std::string node_goals;
    for (const auto& [id, name, value] : goals.nodes) node_goals += str_cat(name, " is ", value, "\n");
    std::string edge_goals;
    for (const auto& [from, relation, to] : goals.edges) {
      edge_goals += str_cat(name_in(graph, from, file), " is ", relation, " to ", name_in(graph, to, file), "\n");
    }
    std::string action_goals = "There is no action requirement.\n";
    if (!goals.actions.empty()) {
      action_goals = "The following action(s) should be included:\n";
      for (const std::string& goal : goals.actions)
        action_goals += str_cat(join(split(goal, "|"), " or "), "\n", goal, "\n");
      action_goals += kDashes;
    }
    std::string out = template_;
    fill(out, kSlots[0], objects + kDashes);
    fill(out, kSlots[1], state + kDashes);
    fill(out, kSlots[2], node_goals + kDashes);
    fill(out, kSlots[3], edge_goals + kDashes);
    fill(out, kSlots[4], action_goals);
    return out;
  }

 private:
  static constexpr const char* kSlots[] = {"<object_in_scene>", "<cur_change>", "<node_goals>", "<edge_goals>",
                                           "<action_goals>"};

  static void fill(std::string& text, std::string_view slot, const std::string& value) {
    const std::size_t at = text.find(slot);
    if (at != std::string::npos) text.replace(at, slot.size(), value);
  }

  std::string template_;
};

// --- all tasks

class VirtualHomeImport {
 public:
  VirtualHomeImport(const ImportOptions& options, const fs::path& package, const fs::path& folder, ImportResult& result)
      : options_(options),
        package_(package),
        folder_(folder),
        result_(result),
        data_(package / "dataset" / "programs_processed_precond_nograb_morepreconds"),
        evaluation_(package / "evaluation") {}

  void run() {
    read_tasks();
    read_action_prompts();
    const std::vector<PromptEntry> subgoal_prompts = copy_subgoal_prompts();
    for (const PromptEntry& prompt : subgoal_prompts) subgoal_prompts_.emplace(prompt.identifier, prompt.prompt);
    // Rows of tasks that are done; those of another import are of no use.
    const std::string partial = (folder_ / "import.partial").string();
    const ImportJson settings = {{"root", fs::weakly_canonical(package_).string()}, {"tasks", ids_.size()}};
    const std::optional<jobs::JournalContent> earlier = options_.resume ? jobs::read_journal(partial) : std::nullopt;
    const bool goes_on = earlier && earlier->settings == settings;
    using Begin = jobs::JournalFile::Begin;
    jobs::JournalFile journal(partial, settings, goes_on ? Begin::kGoOn : Begin::kAnew, "leave out --resume");
    std::vector<ImportJson> rows = journal.earlier();
    const auto add = [&](const ImportJson& row) {
      journal.add(row);
      rows.push_back(row);
    };
    if (!rows.empty()) household_ = graph_from_row(rows.front());
    for (std::size_t i = rows.empty() ? 0 : rows.size() - 1; i < ids_.size(); ++i) {
      if (options_.cancelled && options_.cancelled()) {
        result_.cancelled = true;
        return;
      }
      if (options_.progress) options_.progress("VirtualHome", i, ids_.size());
      add(import_task(ids_[i], add));
    }
    write(rows);
    journal.remove();
  }

 private:
  void read_tasks() {
    task_file_ = package_ / "resources" / "virtualhome" / "task_state_LTL_formula_accurate.json";
    // An older checkout has it one folder up.
    const fs::path other = package_ / "resources" / "task_state_LTL_formula_accurate.json";
    if (!has_file(task_file_) && has_file(other)) task_file_ = other;
    tasks_ = read_checkout_json(task_file_, kCheckoutHint);
    for (const auto& [title, tasks] : member(tasks_, "scene_1", task_file_, "the file").items()) {
      if (!tasks.is_object()) throw InputError(task_file_.string(), str_cat("'", title, "' holds no tasks"));
      for (const auto& [id, task] : tasks.items()) {
        if (!by_id_.emplace(id, std::make_pair(title, &task)).second) {
          throw InputError(task_file_.string(), str_cat("task '", id, "' is there twice"), kCheckoutHint);
        }
        ids_.push_back(id);
      }
    }
  }

  void read_action_prompts() {
    fs::path file = options_.vh_as_prompts;
    if (file.empty()) {
      // Where the benchmark's generator leaves them by default.
      file = fs::path(options_.root) / "output" / "virtualhome" / "generate_prompts" / "action_sequencing" /
             "helm_prompt.json";
      if (!has_file(file)) file.clear();
    }
    if (!file.empty()) {
      for (PromptEntry& prompt : read_prompts(file.string())) {
        action_prompts_.emplace(prompt.identifier, std::move(prompt.prompt));
      }
      result_.notes.push_back(str_cat("prompts of vh-as are those of ", file.string()));
      return;
    }
    std::string why;
    template_ = ActionPrompt::read(evaluation_ / "action_sequencing" / "prompts" / "one_shot.py", why);
    if (template_) {
      result_.notes.emplace_back(
          "prompts of vh-as were made from the checkout's template; the benchmark's generator writes the same lines, "
          "in "
          "another order in every run");
    } else {
      result_.missing.push_back(str_cat("there are no prompts for vh-as: ", why, "; ", kGenerate));
    }
  }

  std::vector<PromptEntry> copy_subgoal_prompts() {
    const fs::path prompts = evaluation_ / "subgoal_decomposition" / "prompts";
    if (!has_file(prompts / "helm_prompts.json")) {
      result_.missing.push_back(
          str_cat("there are no prompts for vh-sd: ", (prompts / "helm_prompts.json").string(),
                  " is missing; run 'eai-eval --dataset virtualhome --mode generate_prompts --eval-type "
                  "subgoal_decomposition' in the checkout and copy the helm_prompt.json that it writes there"));
      return {};
    }
    const std::vector<PromptEntry> entries = read_prompts((prompts / "helm_prompts.json").string());
    write_import(folder_, "sd_prompts.json", entries, result_);
    const ImportJson system = read_checkout_json(prompts / "system_setup.json", kCheckoutHint);
    text_member(system, "system_prompt", prompts / "system_setup.json", "the file");
    write_import(folder_, "sd_system.json", system.dump(1) + "\n", result_);
    return entries;
  }

  // The first row holds the household, each other one a task.
  ImportJson import_task(const std::string& id, const std::function<void(const ImportJson&)>& add) {
    const fs::path graphs = data_ / "init_and_final_graphs" / "TrimmedTestScene1_graph" /
                            "results_intentions_march-13-18" / str_cat("file", id, ".json");
    const fs::path programs = data_ / "executable_programs" / "TrimmedTestScene1_graph" /
                              "results_intentions_march-13-18" / str_cat("file", id, ".txt");
    const ImportJson json = read_checkout_json(graphs, kCheckoutHint);
    const SceneGraph before = read_graph(json, "init_graph", graphs);
    const SceneGraph after = read_graph(json, "final_graph", graphs);
    const Program program = read_program(programs);
    if (!household_) {
      household_ = household_of(before);
      ImportJson nodes = ImportJson::array();
      for (const GraphNode& node : household_->nodes) nodes.push_back(to_json(node));
      add({{"character", character(before, graphs)}, {"nodes", nodes}, {"edges", to_json(household_->edges)}});
    }
    const auto& [title, task] = by_id_.at(id);
    const Goals goals = read_goals(*task, task_file_, str_cat("task '", id, "'"));
    const SceneChange shown = difference(before, after);
    ImportJson row = {{"as", action_row(id, title, before, shown, goals, program, graphs)},
                      {"graph", scene_row(id, *household_, before)}};
    if (task->contains("tl_goal") && (*task)["tl_goal"].is_string() && !goals.empty()) {
      row["sd"] = subgoal_row(id, title, before, shown, goals, program, (*task)["tl_goal"], graphs);
    }
    return row;
  }

  static int character(const SceneGraph& graph, const fs::path& file) {
    for (const GraphNode& node : graph.nodes) {
      if (node.name == "character") return node.id;
    }
    throw InputError(file.string(), "the scene has no character", kCheckoutHint);
  }

  static SceneGraph graph_from_row(const ImportJson& row) {
    SceneGraph graph;
    for (const ImportJson& node : row.at("nodes")) {
      graph.nodes.push_back({node.at("id").get<int>(), node.at("name").get<std::string>(),
                             node.at("category").get<std::string>(),
                             node.at("properties").get<std::vector<std::string>>(),
                             node.at("states").get<std::vector<std::string>>(), ""});
    }
    for (const ImportJson& edge : row.at("edges")) {
      graph.edges.emplace_back(edge.at(0).get<int>(), edge.at(1).get<std::string>(), edge.at(2).get<int>());
    }
    return graph;
  }

  static ImportJson objects(const SceneGraph& graph, const SceneChange& shown) {
    ImportJson list = ImportJson::array();
    for (const GraphNode& node : graph.nodes) {
      if (shown.relevant.contains(node.id)) list.push_back(to_json(node));
    }
    return list;
  }

  ImportJson action_row(const std::string& id, const std::string& title, const SceneGraph& graph,
                        const SceneChange& shown, const Goals& goals, const Program& program, const fs::path& file) {
    ImportJson node_goals = ImportJson::array();
    for (const auto& [node, name, state] : goals.nodes) node_goals.push_back({node, name, state});
    const std::set<GraphEdge> different(goals.edges.begin(), goals.edges.end());
    ImportJson row = {{"id", id},
                      {"scene", 1},
                      {"task", title},
                      {"description", program.description},
                      {"scored", different.size() < 2},
                      {"objects", objects(graph, shown)},
                      {"prompt_state_nodes", shown.changed},
                      {"prompt_edges", to_json(shown.shown)},
                      {"node_goals", node_goals},
                      {"edge_goals", to_json(goals.edges)},
                      {"action_goals", goals.actions},
                      {"gold", program.steps}};
    const auto given = action_prompts_.find(id);
    if (given != action_prompts_.end()) {
      row["prompt"] = given->second;
    } else if (template_) {
      row["prompt"] = template_->text(graph, shown, goals, file);
    }
    return row;
  }

  ImportJson subgoal_row(const std::string& id, const std::string& title, const SceneGraph& graph,
                         const SceneChange& shown, const Goals& goals, const Program& program,
                         const ImportJson& formula, const fs::path& file) {
    const auto named = [&](int node) { return str_cat(name_in(graph, node, file), ".", node); };
    const auto relation_text = [&](const GraphEdge& edge, const char* close) {
      const auto& [from, relation, to] = edge;
      const std::string word = relation == "ON" ? "ONTOP" : relation == "CLOSE" ? close : relation;
      return str_cat(word, "(", named(from), ", ", named(to), ")");
    };
    std::vector<std::string> initial;
    for (const GraphNode& node : graph.nodes) {
      if (!shown.changed.contains(node.id)) continue;
      for (const std::string& state : node.states) initial.push_back(str_cat(state, "(", named(node.id), ")"));
    }
    for (const GraphEdge& edge : shown.shown) {
      if (std::get<1>(edge) != "CLOSE") initial.push_back(relation_text(edge, ""));
    }
    std::vector<std::string> wanted;
    for (const auto& [node, name, state] : goals.nodes) wanted.push_back(str_cat(state, "(", name, ".", node, ")"));
    std::set<GraphEdge> seen;
    for (const GraphEdge& edge : goals.edges) {
      if (seen.insert(edge).second) wanted.push_back(relation_text(edge, "NEXT_TO"));
    }
    std::vector<std::string> actions;
    for (const std::string& goal : goals.actions) actions.push_back(join(split(goal, "|"), " or "));
    const std::string identifier = "scene_1_" + id;
    ImportJson row = {{"id", identifier},
                      {"scene", 1},
                      {"task", title},
                      {"description", program.description},
                      {"objects", objects(graph, shown)},
                      {"initial_states", initial},
                      {"goal_states", wanted},
                      {"goal_actions", actions},
                      {"necessity", actions.empty() ? "No" : "Yes"},
                      {"tl_goal", formula},
                      {"gold_actions", program.steps}};
    const auto prompt = subgoal_prompts_.find(identifier);
    if (prompt != subgoal_prompts_.end()) row["prompt"] = prompt->second;
    return row;
  }

  void write(const std::vector<ImportJson>& rows) {
    std::vector<ImportJson> actions, subgoals, graphs;
    std::vector<PromptEntry> prompts;
    std::vector<std::string> without;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      actions.push_back(rows[i].at("as"));
      graphs.push_back(rows[i].at("graph"));
      if (rows[i].contains("sd")) subgoals.push_back(rows[i].at("sd"));
      const std::string id = rows[i].at("as").at("id");
      if (rows[i].at("as").contains("prompt")) {
        prompts.push_back({id, rows[i].at("as").at("prompt").get<std::string>()});
      } else if (!action_prompts_.empty()) {
        without.push_back(id);
      }
    }
    if (rows.empty()) throw InputError(task_file_.string(), "has no tasks in scene_1", kCheckoutHint);
    write_import(folder_, "scene1_base.json", rows.front().dump() + "\n", result_);
    write_import(folder_, "graphs.jsonl", rows_text(graphs), result_);
    write_import(folder_, "as.jsonl", rows_text(actions), result_);
    write_import(folder_, "sd.jsonl", rows_text(subgoals), result_);
    if (!prompts.empty()) write_import(folder_, "as_prompts.json", prompts, result_);
    if (!without.empty()) {
      result_.missing.push_back(
          str_cat(without.size(), " tasks of vh-as have no prompt, ", without.front(), " for example; ", kGenerate));
    }
  }

  const ImportOptions& options_;
  fs::path package_;
  fs::path folder_;
  ImportResult& result_;
  fs::path data_;
  fs::path evaluation_;
  fs::path task_file_;
  ImportJson tasks_;
  std::vector<std::string> ids_;
  std::map<std::string, std::pair<std::string, const ImportJson*>> by_id_;
  std::map<std::string, std::string> action_prompts_;
  std::map<std::string, std::string> subgoal_prompts_;
  std::optional<ActionPrompt> template_;
  std::optional<SceneGraph> household_;
};

}  // namespace

void import_virtualhome(const ImportOptions& options, const fs::path& package, const fs::path& folder,
                        ImportResult& result) {
  VirtualHomeImport(options, package, folder, result).run();
}

}  // namespace metactrl::benchmarks
