// Programs by others that judge us, and what the plan validator VAL says.
#ifndef METACTRL_TESTS_SUPPORT_OTHER_PROGRAMS_H_
#define METACTRL_TESTS_SUPPORT_OTHER_PROGRAMS_H_

#include <sys/wait.h>

#include <cstddef>
#include <cstdio>
#include <string>

namespace metactrl::testing {

// For a shell.
inline std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

struct ProgramResult {
  int status = -1;  // -1: it was not started, or a signal ended it
  std::string output;
};

inline ProgramResult execute(const std::string& command) {
  ProgramResult result;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (std::size_t n = 0; (n = ::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, n);
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

// Its exit code alone does not tell a plan that it cannot read.
inline bool val_accepts(const ProgramResult& val) { return val.output.find("Plan valid") != std::string::npos; }

// Whether it came to a verdict: some files it refuses for their types, whatever the plan, of some domains it cannot read
// the actions of a plan, and some end it.
inline bool val_decides(const ProgramResult& val) {
  for (const char* unread : {"Bad plan", "Error: ", "Error occurred"}) {
    if (val.output.find(unread) != std::string::npos) return false;
  }
  return val.output.find("Successful plans:") != std::string::npos ||
         val.output.find("Failed plans:") != std::string::npos;
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_OTHER_PROGRAMS_H_
