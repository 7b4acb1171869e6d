// metactrl check: everything that is wrong with the files, and how large the task is.
#include <memory>

#include "cli/common.h"
#include "cli/output.h"
#include "metactrl/domain.h"
#include "pddl/check_task.h"
#include "sas/sas.h"
#include "support/files.h"
#include "support/str_cat.h"
#include "task/asks_nothing.h"
#include "task/compile.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

struct CheckOptions {
  TaskFiles files;
  OutputOptions output;
};

// What the summary counts, in order: "3 types", "7 objects", ...
using Summary = std::vector<std::pair<std::string, std::size_t>>;

void append(Diagnostics& to, const Diagnostics& from) {
  for (const Diagnostic& d : from.items()) {
    if (d.severity == Diagnostic::Severity::kError) {
      to.error(d.where, d.message, d.hint);
    } else {
      to.warning(d.where, d.message, d.hint);
    }
  }
}

Summary check_pddl(const TaskFiles& files, Diagnostics& diagnostics, std::vector<std::string>& notes) {
  const std::string domain = internal::read_file(files.domain);
  const std::string problem = internal::read_file(files.problem);
  const LoadOptions limits;
  pddl::TaskCheck check =
      pddl::check_task({files.domain, domain}, {files.problem, problem},
                       {limits.max_ground_actions, limits.max_ground_facts}, internal::no_meter(), diagnostics);
  if (diagnostics.has_errors()) return {};
  notes = std::move(check.notes);
  return {{"types", check.types},
          {"objects", check.objects},
          {"predicates", check.predicates},
          {"actions", check.actions},
          {"ground actions", check.ground_actions}};
}

Summary check_sas(const TaskFiles& files, Diagnostics& diagnostics) {
  const std::string text = internal::read_file(files.sas);
  const sas::SasTask sas = sas::parse(text, files.sas, diagnostics);
  if (diagnostics.has_errors()) return {};
  const auto program = task::compile(sas::to_definition(sas));
  if (program->num_actions() == 0) {
    diagnostics.warning({files.sas, 0, 0}, "no action can ever be taken: the task has no ground action",
                        sas.operators.empty() ? "the file has no operator" : "no operator's preconditions can be met");
  }
  if (task::asks_nothing(*program)) {
    diagnostics.warning({files.sas, 0, 0}, "the goal holds whatever is done, so the empty plan reaches it",
                        sas.goal.empty() ? "the file states no goal" : "it is about what never changes");
  }
  return {{"variables", sas.variables.size()},
          {"operators", sas.operators.size()},
          {"axioms", sas.axioms.size()},
          {"ground actions", program->num_actions()}};
}

int check(const CheckOptions& options) {
  check_task_options(options.files);
  Diagnostics diagnostics;
  Summary summary;
  std::vector<std::string> notes;
  bool too_large = false;
  try {
    const ProgressLine progress("checking");
    summary = options.files.sas.empty() ? check_pddl(options.files, diagnostics, notes)
                                        : check_sas(options.files, diagnostics);
  } catch (const TaskTooLarge& error) {
    append(diagnostics, error.diagnostics());
    too_large = true;
  } catch (const InputError& error) {
    append(diagnostics, error.diagnostics());
  }
  const bool failed = diagnostics.has_errors();
  const ExitCode code = too_large ? kOutOfMemory : kBadInput;
  if (options.output.json()) {
    Json json{{"errors", diagnostics.num_errors()},
              {"warnings", diagnostics.num_warnings()},
              {"diagnostics", to_json(diagnostics)},
              {"diagnostics_not_shown", diagnostics.num_dropped()},
              {"notes", notes}};
    for (const auto& [what, count] : summary) json[what == "ground actions" ? "ground_actions" : what] = count;
    print(options.output, json);
    return failed ? code : kDone;
  }
  print_diagnostics(diagnostics);
  if (failed) {
    note(str_cat(count_text(diagnostics.num_errors(), "error", "errors"), ", ",
                 count_text(diagnostics.num_warnings(), "warning", "warnings")));
    return code;
  }
  for (const std::string& text : notes) note("note: " + text);
  std::string line;
  for (const auto& [what, count] : summary) {
    line += str_cat(line.empty() ? "" : ", ", count_text(count, what.substr(0, what.size() - 1), what));
  }
  print(options.output,
        str_cat("ok: ", line, "; ", count_text(diagnostics.num_warnings(), "warning", "warnings"), "\n"));
  return kDone;
}

constexpr const char* kCheckExamples =
    "\nExample, from the root of the source tree:\n"
    "\n"
    "  metactrl check -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl\n"
    "\n"
    "Prints 'ok' and the size of the task, or every mistake as 'file:line:column: error: what is wrong; what to do'.\n"
    "Notes name the types without objects and the actions that can never be taken: in order where the domain is for\n"
    "more than this problem, and the place to look where no plan is found.\n";

}  // namespace

Command add_check(CLI::App& parent) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* app = parent.add_subcommand("check", "find the mistakes in a task's files");
  add_task_options(*app, options->files);
  add_output_options(*app, options->output);
  app->footer(kCheckExamples);
  return {app, [options] { return check(*options); }};
}

}  // namespace metactrl::cli
