// Blocks go to the system by `terminal::write`, without a second buffer behind the first. Text
// longer than the buffer is split, never grown into: memory stays at one block whatever is printed.
#include "output.h"

#include <algorithm>

#include "terminal.h"

namespace flambeau::cli {

void Output::append_long(std::string_view text) {
  while (!text.empty()) {
    if (used_ == kSize) flush();
    const std::size_t part = std::min(text.size(), kSize - used_);
    std::memcpy(buffer_.get() + used_, text.data(), part);
    used_ += part;
    text.remove_prefix(part);
  }
}

void Output::put(char c, std::size_t count) {
  for (; count > 0; --count) put(c);
}

// After an error nothing is written any more: a reader that has gone away will not come back.
void Output::flush() noexcept {
  if (!discarding_ && error_ == 0) {
    error_ = terminal::write(terminal::Stream::output, {buffer_.get(), used_});
  }
  used_ = 0;
}

void Output::discard(bool discarding) noexcept {
  flush();
  discarding_ = discarding;
}

}  // namespace flambeau::cli
