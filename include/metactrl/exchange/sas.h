// Tasks as Fast Downward's translator writes them: SAS files, version 3.
#ifndef METACTRL_EXCHANGE_SAS_H_
#define METACTRL_EXCHANGE_SAS_H_

#include <string>
#include <string_view>

#include "metactrl/domain.h"

namespace metactrl {

// Throws InputError with every mistake found.
Task load_sas(const std::string& file, const LoadOptions& options = {});
Task load_sas_text(std::string_view text, const LoadOptions& options = {});

}  // namespace metactrl

#endif  // METACTRL_EXCHANGE_SAS_H_
