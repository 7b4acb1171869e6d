// Certificates: a verdict with its proof, as text that a program without any code of this library can check.
//
//     CertificateTexts texts{domain, problem, ""};
//     Certificate proof = certify_infeasible(task, std::nullopt, budget, texts);
//     if (proof.missing.empty()) write(proof.text);
//
// Of a plan: the plan with the state after each step. Of infeasibility: a set of states that contains the start, that no
// action leads out of, and in which the goal holds nowhere. docs/guarantees.md has the format, scripts/check_certificate
// checks it.
//
// Cost: of a plan, its execution; of infeasibility, one enumeration of the projected states within the budget, unless the
// facts that can ever become true suffice. Thread safety: the functions share nothing.
#ifndef METACTRL_SRC_LOOKAHEAD_CERTIFICATE_H_
#define METACTRL_SRC_LOOKAHEAD_CERTIFICATE_H_

#include <optional>
#include <span>
#include <string>

#include "metactrl/error.h"
#include "metactrl/lookahead.h"
#include "metactrl/task.h"

namespace metactrl::lookahead {

// What the task was read from. A certificate is about these texts, byte for byte.
struct CertificateTexts {
  std::string domain;
  std::string problem;
  std::string goal;  // PDDL, where it is not the problem's own
};

struct Certificate {
  std::string text;     // JSON
  std::string missing;  // why there is none: "certificates do not know numbers"; empty when there is one
};

// What a certificate of infeasibility may list.
inline Budget certificate_budget() { return LookaheadOptions{}.exact; }

// Of a plan that Task::validate has found valid.
Certificate certify_plan(const Task& task, std::span<const ActionId> plan, const CertificateTexts& texts,
                         const Stop& stop = {});

// That no plan exists, with a horizon: none of at most so many actions. Nothing is believed: where there is a plan, or the
// budget ends first, `missing` says so. Throws Stopped when `stop` says so.
Certificate certify_infeasible(const Task& task, std::optional<unsigned> horizon, const Budget& budget,
                               const CertificateTexts& texts, const Stop& stop = {});

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_CERTIFICATE_H_
