// --certificate: the proof of a verdict, for programs that believe nobody (lookahead/certificate.h).
#ifndef METACTRL_SRC_CLI_CERTIFICATE_H_
#define METACTRL_SRC_CLI_CERTIFICATE_H_

#include <optional>
#include <span>
#include <string>

#include "cli/common.h"
#include "metactrl/error.h"
#include "metactrl/task.h"

namespace metactrl::cli {

struct CertificateOptions {
  std::string file;  // empty: none is wanted

  bool wanted() const { return !file.empty(); }
};

void add_certificate_option(CLI::App& app, CertificateOptions& options);

// What is to be proved.
struct Proved {
  bool feasible = false;
  std::span<const ActionId> plan;   // feasible
  std::optional<unsigned> horizon;  // otherwise; none: there is no plan of any length
  std::string goal;                 // PDDL, where it is not the problem's own
};

// Writes it and says so on standard error, or says why there is none; the verdict is the same either way.
void write_certificate(const CertificateOptions& options, const TaskFiles& files, const Task& task,
                       const Proved& proved, const Stop& stop);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_CERTIFICATE_H_
