#include "cli/certificate.h"

#include "lookahead/certificate.h"
#include "support/files.h"

namespace metactrl::cli {

void add_certificate_option(CLI::App& app, CertificateOptions& options) {
  app.add_option(
         "--certificate", options.file,
         "file for a proof of the verdict, which scripts/check_certificate checks: the plan with the state after "
         "each step, or a set of states that no action leaves and that holds no goal")
      ->type_name("FILE");
}

void write_certificate(const CertificateOptions& options, const TaskFiles& files, const Task& task,
                       const Proved& proved, const Stop& stop) {
  if (!options.wanted()) return;
  if (!files.sas.empty()) {
    note("no certificate: it would be about PDDL files");
    return;
  }
  const lookahead::CertificateTexts texts{internal::read_file(files.domain), internal::read_file(files.problem),
                                          proved.goal};
  lookahead::Certificate certificate;
  try {
    certificate = proved.feasible ? lookahead::certify_plan(task, proved.plan, texts, stop)
                                  : lookahead::certify_infeasible(task, proved.horizon, lookahead::certificate_budget(),
                                                                  texts, stop);
  } catch (const Stopped&) {
    certificate.missing = "the time limit ended";
  }
  if (!certificate.missing.empty()) {
    note("no certificate: " + certificate.missing);
    return;
  }
  internal::write_file(options.file, certificate.text);
  note("wrote a certificate to " + options.file);
}

}  // namespace metactrl::cli
