// The line is rewritten with a carriage return and "erase to end of line" (ECMA-48, EL).
#include "progress.h"

#include <fmt/format.h>

#include "terminal.h"
#include "text.h"

namespace flambeau::cli {

ProgressLine::ProgressLine(std::string_view what) noexcept
    : what_(what), enabled_(terminal::is_terminal(terminal::Stream::error)) {}

void ProgressLine::show(std::uint64_t done, std::uint64_t total) {
  if (!enabled_) return;
  shown_ = true;
  const std::string line =
      fmt::format("\r{}: {} of {}\x1b[K", what_, human_size(done), human_size(total));
  terminal::write(terminal::Stream::error, line);
}

// Called before anything else goes to standard error, and at the end.
void ProgressLine::clear() noexcept {
  if (shown_) terminal::write(terminal::Stream::error, "\r\x1b[K");
  shown_ = false;
}

}  // namespace flambeau::cli
