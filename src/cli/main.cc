#include "cli/cli.h"

int main(int argc, char** argv) { return metactrl::cli::run(argc, argv); }
