// One line on standard error that tells how far long work is; nothing where that is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace flambeau::cli {

class ProgressLine {
 public:
  /// `what` is being done, such as "digests"; its text lives longer than the line.
  explicit ProgressLine(std::string_view what) noexcept;
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// How long to wait between two looks at the work.
  std::chrono::milliseconds interval() const noexcept { return std::chrono::milliseconds(200); }
  /// Shows bytes done of bytes in all, in place of what stands there.
  void show(std::uint64_t done, std::uint64_t total);
  /// Removes the line.
  void clear() noexcept;

 private:
  std::string_view what_;
  bool enabled_;
  bool shown_ = false;
};

}  // namespace flambeau::cli
