// The program metactrl as a function.
#ifndef METACTRL_SRC_CLI_CLI_H_
#define METACTRL_SRC_CLI_CLI_H_

namespace metactrl::cli {

struct Additions;  // cli/additions.h

// Parses the command line, runs the subcommand and returns the exit code. Lets no exception out. What only the program
// metactrl-benchmarks can do is handed over to it (cli/benchmarks_program.h), so `argv` must end with a null pointer.
int run(int argc, const char* const* argv);
// The same for a program that has more than that; nothing is handed over.
int run(int argc, const char* const* argv, Additions (*additions)());

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_CLI_H_
