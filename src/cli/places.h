// Folders that only the build knows: a file of its own, since what names a checkout is of no use to a compiler's cache in another.
#ifndef METACTRL_SRC_CLI_PLACES_H_
#define METACTRL_SRC_CLI_PLACES_H_

#include <string_view>

namespace metactrl::cli {

// The models of the checkout that this program was built from; empty in a program that was made to be given to others.
std::string_view source_models();

// From the program's folder to that of the programs that it starts.
std::string_view libexec_from_program();

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_PLACES_H_
