// make_tiny_model FILE: writes the tests' small random GGUF model, for tests that run a program on one.
#include <exception>
#include <iostream>

#include "support/tiny_gguf.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_tiny_model FILE\n";
    return 30;
  }
  try {
    metactrl::testing::write_tiny_gguf(argv[1], {.context = 2048});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 31;
  }
  return 0;
}
