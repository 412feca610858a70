// A file descriptor that closes itself, and the words for what the system refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace flambeau {

/// The most that Linux moves in one call of read(2) or write(2) (NOTES there).
inline constexpr std::size_t kLargestTransfer = 0x7ffff000;

/// Throws what an `errno` of the system means: `not_found`, `exists`, `no_space`, else `io`, with
/// the system's own words after `action` ("cannot open: Permission denied").
[[noreturn]] void fail_with_errno(int error, std::string_view where, std::string_view action);

/// Owns a descriptor; an empty one owns nothing.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Gives the `errno` of the close, 0 for none.
  int close() noexcept;

 private:
  int fd_ = -1;
};

/// A regular file that is open for reading, and its size when it was opened.
class File {
 public:
  /// Errors: `not_found`; `io` for what else the system refuses and for anything but a regular
  /// file. Never waits: a pipe without a writer is refused at once.
  static File open(const std::string& path);

  int descriptor() const noexcept { return descriptor_.get(); }
  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }

  /// Fills `out` from `offset`. Errors: `io`; `truncated` where the range ends past `size()`, or
  /// past the end that the file has by now.
  void read(std::uint64_t offset, MutableBytes out) const;

 private:
  File(Descriptor descriptor, std::string path, std::uint64_t size) noexcept
      : descriptor_(std::move(descriptor)), path_(std::move(path)), size_(size) {}

  Descriptor descriptor_;
  std::string path_;
  std::uint64_t size_;
};

}  // namespace flambeau
