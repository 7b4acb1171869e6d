// The program metactrl as a function.
#ifndef METACTRL_SRC_CLI_CLI_H_
#define METACTRL_SRC_CLI_CLI_H_

namespace metactrl::cli {

// Parses the command line, runs the subcommand and returns the exit code. Lets no exception out.
int run(int argc, const char* const* argv);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_CLI_H_
