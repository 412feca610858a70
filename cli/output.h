// Standard output as one big buffer that is written in blocks of a megabyte.
//
//   Output out;
//   out.append("name ");
//   out.number(12);
//   out.flush();
//
// A write that fails is remembered and silences all later ones, so that commands need not look; the
// program asks once, at its end. Not for use from several threads.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace flambeau::cli {

class Output {
 public:
  Output() : buffer_(std::make_unique_for_overwrite<char[]>(kSize)) {}

  void append(std::string_view text) {
    if (text.empty()) return;  // an empty view may point nowhere, which memcpy does not take
    if (text.size() > kSize - used_) return append_long(text);
    std::memcpy(buffer_.get() + used_, text.data(), text.size());
    used_ += text.size();
  }

  void put(char c) {
    if (used_ == kSize) flush();
    buffer_[used_++] = c;
  }

  void put(char c, std::size_t count);

  template <std::integral T>
  void number(T value) {
    char* const at = space(kLongestNumber);
    took(std::to_chars(at, at + kLongestNumber, value).ptr);
  }

  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::memory_buffer text;
    fmt::format_to(fmt::appender(text), format, std::forward<Args>(args)...);
    append({text.data(), text.size()});
  }

  /// Room for `size` characters (at most 4,096), to be filled from the pointer given back and
  /// closed by `took` with the end of what was filled.
  char* space(std::size_t size) {
    if (size > kSize - used_) flush();
    return buffer_.get() + used_;
  }
  void took(const char* end) noexcept { used_ = static_cast<std::size_t>(end - buffer_.get()); }

  /// What has not been handed to the system yet.
  std::string_view waiting() const noexcept { return {buffer_.get(), used_}; }
  /// Hands everything so far to the system.
  void flush() noexcept;
  /// Forgets what has not been handed to the system yet, and ends a rehearsal.
  void drop() noexcept {
    used_ = 0;
    discarding_ = false;
  }
  /// While set, everything is thrown away: a rehearsal, to meet errors before the first byte is
  /// out.
  void discard(bool discarding) noexcept;

  /// The `errno` of the write that failed; 0 where all went well.
  int error() const noexcept { return error_; }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 20;
  static constexpr std::size_t kLongestNumber = 24;  // of 64 bits, with sign

  void append_long(std::string_view text);

  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
  int error_ = 0;
  bool discarding_ = false;
};

}  // namespace flambeau::cli
