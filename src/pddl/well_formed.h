// A domain in which every action can be taken at any time: its plans are all that can be written down.
//
//     Task reading = load_pddl_text(well_formed_domain(domain), problem);
//
// The task of such a domain has every action whose arguments are of the right types, also those that no state of the task
// itself allows. What it is good for is to read plans: whether a text is one, and of which actions. Its goals mean nothing.
#ifndef METACTRL_SRC_PDDL_WELL_FORMED_H_
#define METACTRL_SRC_PDDL_WELL_FORMED_H_

#include <string>
#include <string_view>

namespace metactrl::pddl {

// Linear in the text. Actions keep their names and parameters; durative ones stay as they are. A text that is no domain
// comes back as it is: loading it says what is wrong.
std::string well_formed_domain(std::string_view domain);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_WELL_FORMED_H_
