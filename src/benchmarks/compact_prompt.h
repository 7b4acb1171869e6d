// Benchmark prompts in fewer words, for models whose context is too short for the benchmark's own.
//
// The facts are those of the benchmark's prompt: objects with their properties, states, relations and goals, each on a
// shorter line. What stands around them, instructions, the list of actions and an example, is our own and stands in
// domains/<module>/compact.txt.
#ifndef METACTRL_SRC_BENCHMARKS_COMPACT_PROMPT_H_
#define METACTRL_SRC_BENCHMARKS_COMPACT_PROMPT_H_

#include <string>
#include <string_view>

namespace metactrl::benchmarks {

// `frame` is the text of a compact.txt:
//
//     from: Objects in the scene:      the task begins with the last line of the prompt that starts so,
//     to: Please output the list       and ends before the next line that starts so
//     ---
//     ... {task} ...
//
// Throws InputError about the prompt when it has no such lines, std::logic_error about a frame that is not of that
// form.
std::string compact_prompt(std::string_view frame, std::string_view prompt);

// Those lines, shortened: "<cup> (3) is ON to <table> (4)" is "cup 3 ON table 4". Of two lines that say that two things
// are near each other, one is left; a state's line does not repeat the properties.
std::string compact_facts(std::string_view lines);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_COMPACT_PROMPT_H_
