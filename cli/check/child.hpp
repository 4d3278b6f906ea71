// Work done in a child process, so that a crash or a hang there is an answer and not the end.
#pragma once

#include <backplane/result.hpp>

#include <functional>

namespace backplane::cli {

// Forks, runs `work` in the child and waits for what it answers. internal: the child was killed by
// a signal or left without an answer; cancelled: it took longer than `timeout_s` and was killed.
// What the child prints is dropped. Call it from a process that has one thread.
[[nodiscard]] Status run_in_child(const std::function<Status()>& work, int timeout_s);

}  // namespace backplane::cli
