// Independent tasks on a few threads.
//
//   parallel_for(chunks.size(), threads, [&](std::size_t i) { read(chunks[i]); }, options.stop);
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

namespace flambeau {

/// How many threads a caller gets who asks for `wanted`: 0 means the machine's, at most 8.
unsigned thread_count(unsigned wanted) noexcept;

/// Calls `task(0)` … `task(count - 1)`, each once, handed out in ascending order to the calling
/// thread and up to `threads` - 1 others, and returns when all are done. The first error that a
/// task throws is thrown here, and no task is begun after it. Error: `cancelled` where `stop` is
/// asked for while tasks are left.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task,
                  std::stop_token stop = {});

}  // namespace flambeau
