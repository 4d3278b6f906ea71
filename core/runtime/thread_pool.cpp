#include "runtime/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>

namespace backplane::runtime {
namespace {

// Chunks a thread, so that a slow one does not hold up the others.
constexpr int64_t kChunksPerThread = 4;

}  // namespace

// Lives on the stack of the caller of parallel_for.
struct ThreadPool::Loop {
  Body body;
  void* arg;
  int64_t n;
  int64_t chunk;
  std::atomic<int64_t> next = 0;
  int workers = 0;  // guarded by the pool's mutex, as `following`
  Loop* following = nullptr;
};

ThreadPool::ThreadPool(unsigned num_threads)
    : num_threads_(num_threads != 0 ? num_threads
                                    : std::max(1U, std::thread::hardware_concurrency())) {}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wanted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::start() {
  started_ = true;
  threads_.reserve(num_threads_ - 1);
  try {
    while (threads_.size() + 1 < num_threads_) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
  }
}

void ThreadPool::run_chunks(Loop& loop) {
  for (;;) {
    const int64_t begin = loop.next.fetch_add(loop.chunk, std::memory_order_relaxed);
    if (begin >= loop.n) return;
    loop.body(loop.arg, begin, std::min(loop.n, begin + loop.chunk));
  }
}

void ThreadPool::remove(Loop& loop) {
  for (Loop** at = &loops_; *at != nullptr; at = &(*at)->following) {
    if (*at == &loop) {
      *at = loop.following;
      return;
    }
  }
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [this] { return stop_ || loops_ != nullptr; });
    if (stop_) return;
    Loop& loop = *loops_;
    ++loop.workers;
    lock.unlock();
    run_chunks(loop);
    lock.lock();
    remove(loop);
    if (--loop.workers == 0) left_.notify_all();
  }
}

void ThreadPool::parallel_for(int64_t n, int64_t grain, Body body, void* arg) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (num_threads_ == 1 || n <= grain) {
    body(arg, 0, n);
    return;
  }
  const int64_t even = n / (num_threads_ * kChunksPerThread);
  Loop loop{.body = body, .arg = arg, .n = n, .chunk = std::max(grain, even)};
  {
    const std::lock_guard lock(mutex_);
    if (!started_) start();
    loop.following = loops_;
    loops_ = &loop;
  }
  wanted_.notify_all();
  run_chunks(loop);
  std::unique_lock lock(mutex_);
  remove(loop);
  left_.wait(lock, [&] { return loop.workers == 0; });
}

}  // namespace backplane::runtime
