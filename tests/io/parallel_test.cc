// Tasks on several threads: each once, errors carried over, stops obeyed.
#include "io/parallel.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "base/fail.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

TEST(ParallelFor, CallsEachTaskOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 8u}) {
    for (const std::size_t count : {0u, 1u, 7u, 1000u}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
      for (const auto& n : calls) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ParallelFor, StaysOnTheCallingThreadWhenAskedForOne) {
  std::set<std::thread::id> ids;
  parallel_for(100, 1, [&](std::size_t) { ids.insert(std::this_thread::get_id()); });
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
}

/// A stack that no address space has room for, so that the system refuses every thread.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&old_);
    pthread_attr_t huge = old_;
    pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
    pthread_setattr_default_np(&huge);
  }
  ~NoThreads() { pthread_setattr_default_np(&old_); }

 private:
  pthread_attr_t old_{};
};

TEST(ParallelFor, DoesWithoutThreadsThatTheSystemRefuses) {
  const NoThreads none;
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  std::set<std::thread::id> ids;
  std::size_t calls = 0;
  parallel_for(100, 4, [&](std::size_t) {
    ++calls;
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(calls, 100u);
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
}

TEST(ParallelFor, ThrowsTheErrorOfATask) {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<int> calls = 0;
    const auto task = [&](std::size_t i) {
      ++calls;
      if (i == 10) fail(ErrorCode::checksum, {"record"}, "task {}", i);
    };
    EXPECT_EQ(message_of([&] { parallel_for(100'000, threads, task); }), "record: task 10");
    EXPECT_LT(calls, 100'000);
  }
}

TEST(ParallelFor, ThrowsOneOfManyErrors) {
  EXPECT_EQ(
      code_of([] { parallel_for(100, 4, [](std::size_t) { fail(ErrorCode::io, {}, "each"); }); }),
      ErrorCode::io);
}

TEST(ParallelFor, ThrowsWhateverATaskThrows) {
  EXPECT_THROW(parallel_for(3, 2, [](std::size_t) { static_cast<void>(std::vector<int>().at(1)); }),
               std::out_of_range);
}

TEST(ParallelFor, StopsWhenAsked) {
  for (const unsigned threads : {1u, 4u}) {
    std::stop_source source;
    std::atomic<int> calls = 0;
    const auto task = [&](std::size_t) {
      if (++calls == 5) source.request_stop();
    };
    EXPECT_EQ(code_of([&] { parallel_for(100'000, threads, task, source.get_token()); }),
              ErrorCode::cancelled);
    EXPECT_LT(calls, 100'000);
  }
}

TEST(ParallelFor, IsDoneWhenTheStopComesAfterTheLastTask) {
  std::stop_source source;
  parallel_for(
      3, 1,
      [&](std::size_t i) {
        if (i == 2) source.request_stop();
      },
      source.get_token());
  EXPECT_TRUE(source.stop_requested());
}

TEST(ThreadCount, IsBounded) {
  EXPECT_EQ(thread_count(3), 3u);
  EXPECT_EQ(thread_count(100), 100u);
  EXPECT_GE(thread_count(0), 1u);
  EXPECT_LE(thread_count(0), 8u);
}

}  // namespace
}  // namespace flambeau::testing
