#include "signals.hpp"

#include <csignal>

namespace backplane::cli {
namespace {

// Of the process, as signals are; constant-initialised.
volatile int32_t interrupted = 0;

void on_interrupt(int) {
  interrupted = 1;
}

}  // namespace

void ignore_broken_pipes() {
  std::signal(SIGPIPE, SIG_IGN);
}

const volatile int32_t* cancel_on_interrupt() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  return &interrupted;
}

}  // namespace backplane::cli
