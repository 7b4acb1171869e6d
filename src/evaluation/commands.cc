#include "evaluation/commands.h"

namespace metactrl::evaluation {

cli::Additions additions() { return {{add_eval, add_score, add_reproduce, add_import}, benchmark_source()}; }

}  // namespace metactrl::evaluation
