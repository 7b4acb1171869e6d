// Writes a small checkout of the Embodied Agent Interface, for tests that are no C++: make_checkout FOLDER.
#include "support/eai_checkout.h"

int main(int count, char** arguments) {
  if (count != 2) return 30;
  const metactrl::testing::EaiCheckout checkout(arguments[1]);
  return 0;
}
