#include "cli/places.h"

namespace metactrl::cli {

std::string_view source_models() { return METACTRL_SOURCE_MODELS; }

std::string_view libexec_from_program() { return METACTRL_LIBEXEC; }

}  // namespace metactrl::cli
