// Actions that offer something only while they run, and what follows for plans.
#ifndef METACTRL_SRC_PDDL_HOSTS_H_
#define METACTRL_SRC_PDDL_HOSTS_H_

#include <string>
#include <vector>

#include "pddl/ast.h"

namespace metactrl::pddl {

// A fact that one action makes true at its start and false at its end, and an action that needs it: a plan that uses it
// runs the two at the same time.
struct Envelope {
  ActionNameId offers{};
  ActionNameId needs{};
  Atom fact;  // in the variables of the first
};
std::vector<Envelope> envelopes(const Ast& ast);
// "(light-match ?m) makes (light ?m) true only while it runs, and mend-fuse needs it"
std::string to_string(const Ast& ast, const Envelope& envelope);

// Sets Durative::hosts and Ast::has_hosts.
void find_hosts(Ast& ast);
// One action at a time, whatever it offers, and why.
void forget_hosts(Ast& ast, std::string why);
// Why others cannot run inside an action that offers something; empty where they can.
std::string why_no_host(const Ast& ast, ActionNameId action);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_HOSTS_H_
