#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace metactrl::cli {

namespace {

// 0: nothing can be stopped in between, so Ctrl-C ends the program. 1: the decoding looks at g_interrupted between two
// model calls.
volatile std::sig_atomic_t g_stoppable = 0;
volatile std::sig_atomic_t g_interrupted = 0;  // the signal
volatile std::sig_atomic_t g_child_group = 0;

extern "C" void on_interrupt(int signal) {
  if (g_stoppable != 0 && g_interrupted == 0) {
    g_interrupted = signal;
    return;
  }
  if (g_child_group > 0) ::kill(-g_child_group, SIGKILL);
  constexpr char kMessage[] = "\nmetactrl: stopped\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  ::_exit(128 + signal);
}

void catch_signal(int signal) {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void catch_interrupts() { catch_signal(SIGINT); }

void catch_terminations() {
  catch_signal(SIGTERM);
  catch_signal(SIGHUP);
}

void set_child_group(int group) { g_child_group = group; }

int interrupt_signal() { return g_interrupted; }

void set_stoppable(bool stoppable) { g_stoppable = stoppable ? 1 : 0; }

bool interrupted() { return g_interrupted != 0; }

}  // namespace metactrl::cli
