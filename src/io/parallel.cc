// One counter that all threads take the next task from. Threads are made for the call and joined in
// it: a pool would be state of the process, and the calls are long beside a thread's start.
#include "io/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/fail.h"

namespace flambeau {
namespace {

/// What `f` throws, or null. An exception must not leave a thread, so this is a boundary: it
/// catches everything, and what it catches is thrown again by the caller's thread.
template <typename F>
std::exception_ptr attempt(F&& f) noexcept {
  try {
    std::forward<F>(f)();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

class Crew {
 public:
  Crew(std::size_t count, const std::function<void(std::size_t)>& task, std::stop_token stop)
      : count_(count), task_(task), stop_(std::move(stop)) {}

  /// Takes tasks until none is left, one has failed, or the caller asks to stop.
  void work() noexcept {
    while (!failed_.load(std::memory_order_relaxed) && !stop_.stop_requested()) {
      const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count_) return;
      if (std::exception_ptr error = attempt([&] { task_(index); })) record(std::move(error));
      done_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  /// An error comes before a request to stop: the caller learns what is wrong with the file.
  void finish() const {
    if (error_) std::rethrow_exception(error_);
    if (done_.load() < count_) fail(ErrorCode::cancelled, {}, "the caller asked to stop");
  }

 private:
  // The thread that finds `failed_` unset is the only writer; `finish` reads after all are joined.
  void record(std::exception_ptr error) noexcept {
    if (!failed_.exchange(true)) error_ = std::move(error);
  }

  const std::size_t count_;
  const std::function<void(std::size_t)>& task_;
  const std::stop_token stop_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;
};

}  // namespace

/// Copying is bound by memory, which a few threads fill; more of them only cost their starts.
unsigned thread_count(unsigned wanted) noexcept {
  constexpr unsigned kMost = 8;
  if (wanted > 0) return wanted;
  return std::clamp(std::thread::hardware_concurrency(), 1u, kMost);
}

void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task,
                  std::stop_token stop) {
  Crew crew(count, task, std::move(stop));
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min<std::size_t>(threads, count);
    // A system that gives fewer threads makes the call slower, nothing else.
    attempt([&] {
      while (others.size() + 1 < wanted) others.emplace_back([&crew] { crew.work(); });
    });
    crew.work();
  }
  crew.finish();
}

}  // namespace flambeau
