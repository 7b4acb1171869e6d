// PDDL files -> Task.
#include <memory>
#include <string>
#include <utility>

#include "metactrl/domain.h"
#include "pddl/parse.h"
#include "pddl/why_not.h"
#include "support/files.h"
#include "support/meter.h"

namespace metactrl {

namespace {

Task load(const pddl::Source& domain, const pddl::Source& problem, const LoadOptions& options) {
  Diagnostics local;
  Diagnostics& diagnostics = options.diagnostics != nullptr ? *options.diagnostics : local;
  internal::Meter meter(options.stop, {.work = options.max_work});
  meter.ask();
  auto ast = std::make_shared<pddl::Ast>(pddl::parse(domain, problem, diagnostics));
  if (diagnostics.has_errors()) throw InputError(diagnostics);
  return pddl::make_task(std::move(ast), {options.max_ground_actions, options.max_ground_facts}, meter, &diagnostics);
}

}  // namespace

Task load_pddl(const std::string& domain_file, const std::string& problem_file, const LoadOptions& options) {
  const std::string domain = internal::read_file(domain_file);
  const std::string problem = internal::read_file(problem_file);
  return load({domain_file, domain}, {problem_file, problem}, options);
}

Task load_pddl_text(std::string_view domain, std::string_view problem, const LoadOptions& options) {
  return load({"domain", domain}, {"problem", problem}, options);
}

}  // namespace metactrl
