// Arbitrary bytes as files of benchmarks: the first byte says which, the rest is the file. A line "====" stands between two
// files that belong together: tasks of Watch-And-Help, their apartment, and what things can do; or tasks of the two modules
// of BEHAVIOR. What is accepted is written, too: the prompts of tasks, and lists and answers, which read as the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/behavior/task_file.h"
#include "benchmarks/files.h"
#include "benchmarks/virtualhome/task_file.h"
#include "benchmarks/watch_and_help/prompt.h"
#include "benchmarks/watch_and_help/task_file.h"
#include "memory_file.h"
#include "metactrl/error.h"

namespace {

using namespace metactrl::benchmarks;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

void put(const std::filesystem::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

// The files that the bytes are, in a folder of their own.
class Folder {
 public:
  Folder(std::string_view bytes, const std::vector<std::string>& names) {
    constexpr std::string_view kSeparator = "\n====\n";
    std::filesystem::create_directory(name_.path());
    for (const std::string& name : names) {
      const std::size_t end = bytes.find(kSeparator);
      put(path(name), bytes.substr(0, end));
      bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + kSeparator.size());
    }
  }
  std::string path(const std::string& name) const { return name_.path() + "/" + name; }
  const std::string& path() const { return name_.path(); }

 private:
  MemoryName name_;
};

void read_apartments(std::string_view bytes) {
  const Folder folder(bytes, {"tasks", "scene_1.json", "object_classes.json"});
  for (const watch_and_help::HelpTask& task : watch_and_help::read_tasks(folder.path("tasks"), folder.path())) {
    const watch_and_help::Listing listing = list_things(*task.scene, task.goal);
    const std::string prompt = plan_prompt(*task.scene, listing, task.goal, task.instructions[0]);
    const std::string words = goal_prompt(watch_and_help::Inventory(*task.scene), task.instructions[0]);
    require(!prompt.empty() && !words.empty());
  }
  require(!watch_and_help::plan_system_prompt().empty() && !watch_and_help::goal_system_prompt().empty());
}

void read_behavior(std::string_view bytes) {
  const Folder folder(bytes, {"as_tasks.jsonl", "sd_tasks.jsonl"});
  const auto worlds = behavior::load_action_tasks(folder.path("as_tasks.jsonl"));
  for (const behavior::SubgoalTask& task : behavior::load_subgoal_tasks(folder.path("sd_tasks.jsonl"), worlds)) {
    require(task.world < worlds.size());
  }
}

void read_prompt_list(const std::string& file) {
  const std::vector<PromptEntry> prompts = read_prompts(file);
  const MemoryName copy;
  write_prompts(copy.path(), prompts);
  require(digest(read_prompts(copy.path())) == digest(prompts));
}

void read_response_list(const std::string& file) {
  const std::vector<Response> responses = read_responses(file);
  const MemoryName copy;
  write_responses(copy.path(), responses);
  const std::vector<Response> again = read_responses(copy.path());
  require(std::ranges::equal(again, responses, [](const Response& a, const Response& b) {
    return a.identifier == b.identifier && a.output == b.output;
  }));
}

void read_system_prompt_beside(std::string_view bytes) {
  const Folder folder(bytes, {"sd_system.json"});
  require(system_prompt_beside(folder.path("prompts.json")) == read_system_prompt(folder.path("sd_system.json")));
}

// Answers so far, which a run goes on with.
void read_answers(std::string_view bytes) {
  const Folder folder(bytes, {std::string("answers") + kPartial});
  const auto content = metactrl::jobs::read_journal(folder.path(std::string("answers") + kPartial));
  if (!content) return;
  Journal journal(folder.path("answers"), content->settings, true);
  for (const Answer& answer : journal.earlier()) {
    const Json json = to_json(answer);
    require(to_json(answer_from_json(json)) == json);
    journal.add(answer);
  }
  journal.remove();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const MemoryFile file(data + 1, size - 1);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 8) {
      case 0:
        read_apartments(bytes);
        break;
      case 1:
        virtualhome::read_action_tasks(file.path());
        break;
      case 2:
        virtualhome::read_subgoal_tasks(file.path());
        break;
      case 3:
        read_prompt_list(file.path());
        break;
      case 4:
        read_system_prompt_beside(bytes);
        break;
      case 5:
        read_response_list(file.path());
        break;
      case 6:
        read_behavior(bytes);
        break;
      default:
        read_answers(bytes);
    }
  } catch (const metactrl::InputError& error) {
    require(error.diagnostics().has_errors());
  }
  return 0;
}
