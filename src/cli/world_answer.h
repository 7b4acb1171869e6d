// What a world that is another program answers. docs/closed-loop.md has the protocol.
#ifndef METACTRL_SRC_CLI_WORLD_ANSWER_H_
#define METACTRL_SRC_CLI_WORLD_ANSWER_H_

#include <cstdint>
#include <string>

#include "metactrl/robot/closed_loop.h"

namespace metactrl::cli {

// `text` is one line, the answer to request `id`. All throw WorldError that quotes the line and says what is wrong.
bool read_greeting(const std::string& text, std::uint64_t id);  // whether the world can look at a single object
Observation read_observation(const std::string& text, std::uint64_t id);
Execution read_execution(const std::string& text, std::uint64_t id);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_WORLD_ANSWER_H_
