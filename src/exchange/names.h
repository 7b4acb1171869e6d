// Names and text that other programs accept.
#ifndef METACTRL_SRC_EXCHANGE_NAMES_H_
#define METACTRL_SRC_EXCHANGE_NAMES_H_

#include <set>
#include <string>
#include <string_view>

#include "support/lower_case.h"

namespace metactrl::exchange {

// Hands out each name once: "grab", "grab-2", "grab-3".
class UniqueNames {
 public:
  enum class Case { kMatters, kIgnored };

  explicit UniqueNames(std::string separator, Case letters = Case::kMatters)
      : separator_(std::move(separator)), letters_(letters) {}
  // Names that are taken from the start. Says whether this one was free.
  bool reserve(const std::string& name) { return taken_.insert(key(name)).second; }
  std::string make(const std::string& wanted);

 private:
  std::string key(const std::string& name) const {
    return letters_ == Case::kIgnored ? internal::lower_case(name) : name;
  }

  std::string separator_;
  Case letters_;
  std::set<std::string> taken_;
};

// A letter, then letters, digits, '-' and '_', and no word of the language: what every PDDL reader takes. Other
// characters become '_', a name that begins otherwise gets `prefix` in front.
std::string pddl_name(std::string_view name, std::string_view prefix);

// "pick-up" -> "PickUp": a C++ class name that BehaviorTree.CPP does not use itself.
std::string class_name(std::string_view name);
// Takes the names that BehaviorTree.CPP uses itself: a number behind a name may lead to one of them, "Switch2".
void reserve_tree_words(UniqueNames& names);
// "?from-room" -> "from_room": a name that BehaviorTree.CPP accepts for a port.
std::string port_name(std::string_view name);
// Text for the attribute `name`, which is shown and never read: words and blanks.
std::string label(std::string_view text);

// For an attribute in double quotes. Throws InputError for what XML cannot hold: control characters, bytes that are not
// UTF-8.
std::string xml_text(std::string_view text);

}  // namespace metactrl::exchange

#endif  // METACTRL_SRC_EXCHANGE_NAMES_H_
