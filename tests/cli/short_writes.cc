// A library to be loaded before a program (LD_PRELOAD): its writes take at most SHORT_WRITES_MOST
// bytes each, as a system may do at any time.
#include <dlfcn.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

std::size_t most() {
  const char* text = std::getenv("SHORT_WRITES_MOST");
  return text == nullptr ? SIZE_MAX : std::strtoul(text, nullptr, 10);
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, std::size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  return real(fd, bytes, std::min(size, most()));
}

ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
  return real(fd, bytes, std::min(size, most()), offset);
}

ssize_t pwrite64(int fd, const void* bytes, std::size_t size, off64_t offset) {
  return pwrite(fd, bytes, size, offset);
}

// Of several pieces the first is taken, or a part of it.
ssize_t writev(int fd, const iovec* pieces, int count) {
  return count == 0 ? 0 : write(fd, pieces->iov_base, pieces->iov_len);
}

ssize_t pwritev(int fd, const iovec* pieces, int count, off_t offset) {
  return count == 0 ? 0 : pwrite(fd, pieces->iov_base, pieces->iov_len, offset);
}

ssize_t pwritev64(int fd, const iovec* pieces, int count, off64_t offset) {
  return pwritev(fd, pieces, count, offset);
}

}  // extern "C"
