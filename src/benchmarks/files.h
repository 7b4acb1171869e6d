// The files that benchmarks exchange with models: prompts in, answers out, as JSON.
//
//     PROMPTS.json    [{"identifier": "some_id", "llm_prompt": "..."}, ...]
//     SYSTEM.json     {"system_prompt": "...", ...}
//     RESPONSES.json  [{"identifier": "some_id", "llm_output": "..."}, ...]
//
// While an evaluation runs, its answers are kept in a journal (jobs/journal.h) beside the answer file,
// RESPONSES.json.partial.
#ifndef METACTRL_SRC_BENCHMARKS_FILES_H_
#define METACTRL_SRC_BENCHMARKS_FILES_H_

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/score.h"
#include "jobs/journal.h"

namespace metactrl::benchmarks {

using jobs::Json;

// All throw InputError that names the file and the entry.
std::vector<PromptEntry> read_prompts(const std::string& file);
std::string read_system_prompt(const std::string& file);
// What stands beside a prompt file as sd_system.json or system_setup.json; nothing when neither is there.
std::optional<std::string> system_prompt_beside(const std::string& prompts_file);
std::vector<Response> read_responses(const std::string& file);
// The same form as read_prompts reads.
void write_prompts(const std::string& file, const std::vector<PromptEntry>& prompts);
// What is behind the name of the answer file in that of the journal.
inline constexpr const char* kPartial = ".partial";
// What `metactrl eval --report DIR` calls the prompts that it wrote itself.
inline constexpr const char* kPromptsOfReport = "prompts.json";
void write_responses(const std::string& file, const std::vector<Response>& responses);

Json to_json(const Answer& answer);
Answer answer_from_json(const Json& json);

// Tells two lists of prompts apart (SHA-256).
std::string digest(const std::vector<PromptEntry>& prompts);

class Journal {
 public:
  // Begins a new journal for `answers_file`, or with `resume` goes on with one whose settings are the same; throws
  // InputError when they differ.
  Journal(const std::string& answers_file, const Json& settings, bool resume);

  // What an earlier run had done, but for answers that failed: those are to be tried again.
  const std::vector<Answer>& earlier() const { return earlier_; }
  // Returns once the line is with the operating system; throws InputError when it cannot be written.
  void add(const Answer& answer) { file_.add(to_json(answer)); }
  // Removes the file: the answers are in their own now.
  void remove() { file_.remove(); }

 private:
  jobs::JournalFile file_;
  std::vector<Answer> earlier_;
};

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_FILES_H_
