#include <metactrl/error.h>

#include <iostream>

int main() {
  metactrl::Diagnostics diagnostics;
  diagnostics.error({"domain.pddl", 41, 18}, "object 'wrench' is not declared", "add it to (:constants ...)");
  try {
    throw metactrl::InputError(diagnostics);
  } catch (const metactrl::InputError& error) {
    std::cout << error.what() << '\n';
  }
  return 0;
}
