// Ctrl-C, and the signals that ask a program to end.
//
// Once caught, a signal is remembered while the program looks at interrupted() now and then (set_stoppable); at all other
// times it ends the program at once.
#ifndef METACTRL_SRC_CLI_INTERRUPT_H_
#define METACTRL_SRC_CLI_INTERRUPT_H_

namespace metactrl::cli {

// The exit code of what Ctrl-C stopped.
inline constexpr int kInterrupted = 130;

// From here to the end of the program, for Ctrl-C.
void catch_interrupts();
// The same for SIGTERM and SIGHUP.
void catch_terminations();
// Whether the program looks at interrupted() now and then.
void set_stoppable(bool stoppable);
// True once a signal came.
bool interrupted();
// The signal that came; 0 when none did.
int interrupt_signal();
// While it is not 0, this process group is killed when a signal ends the program.
void set_child_group(int group);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_INTERRUPT_H_
