#include <memory>
#include <utility>

#include "metactrl/domain.h"
#include "metactrl/exchange/sas.h"
#include "sas/sas.h"
#include "support/files.h"
#include "support/meter.h"
#include "support/words.h"
#include "task/compile.h"

namespace metactrl {

namespace {

void check_size(const sas::SasTask& task, const LoadOptions& options) {
  std::size_t facts = 0;
  for (const sas::Variable& variable : task.variables) facts += variable.values.size();
  const auto refuse = [&](std::size_t count, const char* what, std::size_t limit, const char* option) {
    if (count <= limit) return;
    throw InputError(task.file, str_cat("the task has ", count, ' ', what, ", more than the limit of ", limit),
                     str_cat("raise LoadOptions::", option, " or use a smaller task"));
  };
  refuse(task.operators.size(), "operators", options.max_ground_actions, "max_ground_actions");
  refuse(facts, "facts", options.max_ground_facts, "max_ground_facts");
}

Task load(std::string_view text, const std::string& file, const LoadOptions& options) {
  Diagnostics diagnostics;
  internal::Meter meter(options.stop, {.work = options.max_work});
  meter.ask();
  auto sas = std::make_shared<const sas::SasTask>(sas::parse(text, file, diagnostics));
  if (diagnostics.has_errors()) throw InputError(std::move(diagnostics));
  check_size(*sas, options);
  auto program = task::compile(sas::to_definition(*sas), meter);
  return {std::move(program), std::make_shared<const sas::SasReference>(std::move(sas))};
}

}  // namespace

Task load_sas(const std::string& file, const LoadOptions& options) {
  return load(internal::read_file(file), file, options);
}

Task load_sas_text(std::string_view text, const LoadOptions& options) { return load(text, "sas", options); }

}  // namespace metactrl
