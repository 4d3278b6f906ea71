// Threads that share the loops of kernels. The caller of a loop always works too, so loops may nest
// and any number of methods may use one pool at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace backplane::runtime {

class ThreadPool {
 public:
  using Body = void (*)(void* arg, int64_t begin, int64_t end);

  // `num_threads` counts the caller; 0: as many as the process may use. They start with the first
  // loop that wants them; if the system has no more threads to give, fewer serve.
  explicit ThreadPool(unsigned num_threads = 0);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  // No loop may be running.
  ~ThreadPool();

  [[nodiscard]] unsigned num_threads() const { return num_threads_; }

  // Calls `body` over ranges that cover [0, n), each at least `grain` long but the last; returns
  // when all are done. Allocates nothing once the threads run. [any thread]
  void parallel_for(int64_t n, int64_t grain, Body body, void* arg);

 private:
  struct Loop;

  void start();
  void work();
  static void run_chunks(Loop& loop);
  void remove(Loop& loop);

  const unsigned num_threads_;
  std::mutex mutex_;
  std::condition_variable wanted_;  // a loop was added, or stop_
  std::condition_variable left_;    // a worker left a loop
  Loop* loops_ = nullptr;           // that still have chunks to give, newest first
  bool stop_ = false;
  bool started_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace backplane::runtime
