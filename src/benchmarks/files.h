// The files that benchmarks exchange with models: prompts in, answers out, as JSON.
//
//     PROMPTS.json    [{"identifier": "307_2", "llm_prompt": "..."}, ...]
//     SYSTEM.json     {"system_prompt": "...", ...}
//     RESPONSES.json  [{"identifier": "307_2", "llm_output": "..."}, ...]
//
// While an evaluation runs, its answers are kept in a journal beside the answer file, RESPONSES.json.partial: a line of
// settings, then one line per answer, each written before the next prompt begins. So a run that was killed can be
// resumed, and nothing is lost or done twice.
#ifndef METACTRL_SRC_BENCHMARKS_FILES_H_
#define METACTRL_SRC_BENCHMARKS_FILES_H_

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/score.h"

namespace metactrl::benchmarks {

using Json = nlohmann::ordered_json;

// All throw InputError that names the file and the entry.
std::vector<PromptEntry> read_prompts(const std::string& file);
std::string read_system_prompt(const std::string& file);
std::vector<Response> read_responses(const std::string& file);
// The same form as read_prompts reads.
void write_prompts(const std::string& file, const std::vector<PromptEntry>& prompts);
// What `metactrl eval --report DIR` calls the prompts that it wrote itself.
inline constexpr const char* kPromptsOfReport = "prompts.json";
void write_responses(const std::string& file, const std::vector<Response>& responses);

Json to_json(const Answer& answer);
Answer answer_from_json(const Json& json);

class Journal {
 public:
  // Begins a new journal for `answers_file`, or with `resume` goes on with one whose settings are the same; throws
  // InputError when they differ. A last line that was cut off is forgotten.
  Journal(const std::string& answers_file, const Json& settings, bool resume);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  // What an earlier run had done.
  const std::vector<Answer>& earlier() const { return earlier_; }
  // Returns once the line is with the operating system; throws InputError when it cannot be written.
  void add(const Answer& answer);
  // Removes the file: the answers are in their own now.
  void remove();

 private:
  Answer earlier_answer(const Json& json, std::size_t line) const;

  std::string file_;
  std::FILE* out_ = nullptr;
  std::vector<Answer> earlier_;
};

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_FILES_H_
