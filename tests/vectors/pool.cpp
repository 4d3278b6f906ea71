#include "pool.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace backplane::vectors {
namespace {

// The cases next, next + step, … and the child that works on them.
struct Worker {
  pid_t pid = -1;
  int pipe = -1;
  size_t next = 0;
  std::string text;  // of answers, until their end of line
  double deadline_s = 0;
};

double now_s() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Pool {
 public:
  Pool(size_t num_cases, size_t processes, int timeout_s, const std::function<Judge()>& make_judge)
      : outcomes_(num_cases), timeout_s_(timeout_s), make_judge_(make_judge), workers_(processes) {
    for (size_t w = 0; w < processes; ++w) {
      workers_[w].next = w;
      start(workers_[w]);
    }
  }

  std::vector<Outcome> run() {
    while (wait()) {
    }
    return std::move(outcomes_);
  }

 private:
  void start(Worker& worker) {
    worker.pipe = -1;
    worker.text.clear();
    if (worker.next >= outcomes_.size()) return;
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    std::fflush(nullptr);
    worker.pid = ::fork();
    if (worker.pid < 0) std::abort();
    if (worker.pid == 0) {
      ::close(ends[0]);
      work(worker, ends[1]);
    }
    ::close(ends[1]);
    worker.pipe = ends[0];
    worker.deadline_s = now_s() + timeout_s_;
  }

  // In the child. An answer is the verdict's letter and the reason in one line.
  [[noreturn]] void work(const Worker& worker, int pipe) {
    const Judge judge = make_judge_();
    for (size_t i = worker.next; i < outcomes_.size(); i += workers_.size()) {
      const Outcome outcome = judge(i);
      std::string line(1, static_cast<char>(outcome.verdict));
      for (const char c : outcome.reason) line += c == '\n' ? ' ' : c;
      line += '\n';
      for (size_t sent = 0; sent < line.size();) {
        const ssize_t n = ::write(pipe, line.data() + sent, line.size() - sent);
        if (n <= 0) ::_exit(1);
        sent += static_cast<size_t>(n);
      }
    }
    ::_exit(0);
  }

  // Until something happened. False: all is done.
  bool wait() {
    std::vector<pollfd> ready;
    std::vector<Worker*> of;
    double first = 1e300;
    for (Worker& worker : workers_) {
      if (worker.pipe < 0) continue;
      ready.push_back({worker.pipe, POLLIN, 0});
      of.push_back(&worker);
      first = std::min(first, worker.deadline_s);
    }
    if (ready.empty()) return false;
    const double left_ms = std::max(0.0, (first - now_s()) * 1000) + 1;
    ::poll(ready.data(), ready.size(), static_cast<int>(left_ms));
    for (size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents != 0) {
        read(*of[i]);
      } else if (now_s() > of[i]->deadline_s) {
        ::kill(of[i]->pid, SIGKILL);
        end(*of[i], "gave no answer for " + std::to_string(timeout_s_) + " s");
      }
    }
    return true;
  }

  void read(Worker& worker) {
    char buffer[4096];
    const ssize_t n = ::read(worker.pipe, buffer, sizeof buffer);
    if (n <= 0) return end(worker, "");
    worker.text.append(buffer, static_cast<size_t>(n));
    for (size_t line = worker.text.find('\n'); line != std::string::npos;
         line = worker.text.find('\n')) {
      outcomes_[worker.next] = {static_cast<Verdict>(worker.text[0]),
                                worker.text.substr(1, line - 1)};
      worker.text.erase(0, line + 1);
      worker.next += workers_.size();
      worker.deadline_s = now_s() + timeout_s_;
    }
  }

  // The child is gone: it was done, or its case is to blame.
  void end(Worker& worker, std::string reason) {
    ::close(worker.pipe);
    int state = 0;
    ::waitpid(worker.pid, &state, 0);
    if (worker.next < outcomes_.size()) {
      if (reason.empty() && WIFSIGNALED(state))
        reason = "killed by signal " + std::to_string(WTERMSIG(state));
      if (reason.empty()) reason = "the process ended with " + std::to_string(WEXITSTATUS(state));
      outcomes_[worker.next] = {Verdict::crashed, reason};
      worker.next += workers_.size();
    }
    start(worker);
  }

  std::vector<Outcome> outcomes_;
  int timeout_s_;
  const std::function<Judge()>& make_judge_;
  std::vector<Worker> workers_;
};

}  // namespace

std::vector<Outcome> run_all(size_t num_cases, size_t processes, int timeout_s,
                             const std::function<Judge()>& make_judge) {
  return Pool(num_cases, processes, timeout_s, make_judge).run();
}

}  // namespace backplane::vectors
