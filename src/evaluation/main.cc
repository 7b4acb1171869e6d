#include "cli/cli.h"
#include "evaluation/commands.h"

int main(int argc, char** argv) { return metactrl::cli::run(argc, argv, metactrl::evaluation::additions); }
