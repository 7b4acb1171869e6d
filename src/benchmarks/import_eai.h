// From a checkout of the Embodied Agent Interface to the files that `metactrl eval` and `metactrl score` read.
//
//     ImportResult result = import_eai({.root = "embodied-agent-interface", .out = "data"});
//     // data/eai_vh/: as_prompts.json, as.jsonl, sd_prompts.json, sd_system.json, sd.jsonl, graphs.jsonl,
//     //               scene1_base.json
//     // data/eai_beh/: as_prompts.json, as_tasks.jsonl, sd_prompts.json, sd_system.json, sd_tasks.jsonl
//
// Either half of the benchmark (src/virtualhome_eval, src/behavior_eval) may be absent. A file that is needed and not
// there, or not of the form the benchmark gives it, is an InputError that names it. What a checkout may lack without
// harm to the rest is listed in `missing`, each with the way to get it.
//
// Files appear whole or not at all. The scene graphs, a third of a gigabyte, are read one task at a time; rows that are
// done are kept in DIR/eai_vh/import.partial, so an import that was interrupted goes on where it was with `resume`.
//
// Cost: reading the checkout, some seconds. Thread safety: calls for different folders are independent.
#ifndef METACTRL_SRC_BENCHMARKS_IMPORT_EAI_H_
#define METACTRL_SRC_BENCHMARKS_IMPORT_EAI_H_

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::benchmarks {

struct ImportOptions {
  std::string root;
  std::string out;
  // Prompts of vh-as that the benchmark's generator wrote. Without it, those in the checkout's own folder output/, and
  // where there are none they are made from the checkout's template and scene graphs.
  std::string vh_as_prompts;
  // Sizes of BEHAVIOR's objects: {"known": {scene: {object: [x, y, z]}}, "estimate": {category: cubic metres}}. The
  // checkout has none; without them every thing that the prompt places fits everywhere, and furniture stays put.
  std::string sizes;
  bool resume = false;
  std::function<void(std::string_view what, std::size_t done, std::size_t total)> progress;
  // Asked between two tasks; true ends the work.
  std::function<bool()> cancelled;
};

struct ImportResult {
  std::vector<std::string> files;    // what was written, in order
  std::vector<std::string> notes;    // what a reader of the files should know
  std::vector<std::string> missing;  // what could not be made, and how to get it
  bool cancelled = false;
};

ImportResult import_eai(const ImportOptions& options);

// The halves; `package` is the folder virtualhome_eval or behavior_eval, `folder` an existing one for the files.
void import_virtualhome(const ImportOptions& options, const std::filesystem::path& package,
                        const std::filesystem::path& folder, ImportResult& result);
void import_behavior(const ImportOptions& options, const std::filesystem::path& package,
                     const std::filesystem::path& folder, ImportResult& result);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_IMPORT_EAI_H_
