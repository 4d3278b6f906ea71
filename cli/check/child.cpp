#include "check/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

namespace backplane::cli {
namespace {

// The answer in the pipe: the code as one byte, then the message.
void answer(int pipe, const Status& status) {
  std::string text(1, status.ok() ? '\0' : static_cast<char>(status.error().code));
  if (!status.ok()) text += status.error().message;
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::write(pipe, text.data() + sent, text.size() - sent);
    if (n <= 0) return;
    sent += static_cast<size_t>(n);
  }
}

// Everything until the pipe is closed; nothing if that takes longer.
bool read_all(int pipe, int timeout_s, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready{pipe, POLLIN, 0};
    const int count = left.count() <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left.count()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    char buffer[4096];
    const ssize_t n = ::read(pipe, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    text.append(buffer, static_cast<size_t>(n));
  }
}

[[noreturn]] void be_child(int pipe, const std::function<Status()>& work) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  answer(pipe, work());
  // Not _exit: that a plugin lets the process end is part of what is asked.
  std::exit(0);  // NOLINT(concurrency-mt-unsafe): the child has run what it was made for
}

}  // namespace

Status run_in_child(const std::function<Status()>& work, int timeout_s) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{Code::unavailable, std::string("no pipe: ") + std::strerror(errno)};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    be_child(ends[1], work);
  }
  ::close(ends[1]);
  std::string text;
  const bool in_time = child > 0 && read_all(ends[0], timeout_s, text);
  ::close(ends[0]);
  if (child < 0) return Error{Code::unavailable, "no child process can be made"};
  if (!in_time) ::kill(child, SIGKILL);
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    return Error{Code::cancelled, "took longer than " + std::to_string(timeout_s) + " s"};
  if (WIFSIGNALED(state))
    return Error{Code::internal, "was killed by signal " + std::to_string(WTERMSIG(state)) + " (" +
                                     strsignal(WTERMSIG(state)) + ")"};
  if (text.empty()) return Error{Code::internal, "the process ended without an answer"};
  if (text[0] == '\0') return Ok{};
  return Error{static_cast<Code>(text[0]), text.substr(1)};
}

}  // namespace backplane::cli
