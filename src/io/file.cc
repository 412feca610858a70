// Opening and reading regular files. Anything else is refused: the size of a pipe or a device says
// nothing, and reading one might never end. The file is opened without blocking, so that asking
// what it is cannot hang. Reads are `pread`, which keeps no position: many threads share one file.
#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/checked.h"
#include "base/fail.h"

namespace flambeau {
namespace {

ErrorCode code_of(int error) noexcept {
  switch (error) {
    case ENOENT: return ErrorCode::not_found;
    case EEXIST: return ErrorCode::exists;
    case ENOSPC:
    case EDQUOT: return ErrorCode::no_space;
    default: return ErrorCode::io;
  }
}

std::string_view kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

void fail_with_errno(int error, std::string_view where, std::string_view action) {
  fail(code_of(error), where, "{}: {}", action, std::generic_category().message(error));
}

/// Once only: after EINTR the descriptor is gone on Linux (close(2), NOTES), and its number may be
/// another thread's by now.
int Descriptor::close() noexcept {
  if (fd_ < 0) return 0;
  return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno;
}

File File::open(const std::string& path) {
  // Without O_NOCTTY a terminal that is opened by mistake could become the process's own.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!descriptor) fail_with_errno(errno, path, "cannot open");
  struct stat status = {};
  if (::fstat(descriptor.get(), &status) != 0) fail_with_errno(errno, path, "cannot look up");
  if (!S_ISREG(status.st_mode)) {
    fail(ErrorCode::io, {path}, "is {}, not a regular file", kind_of(status.st_mode));
  }
  return File(std::move(descriptor), path, static_cast<std::uint64_t>(status.st_size));
}

void File::read(std::uint64_t offset, MutableBytes out) const {
  if (!fits(offset, out.size(), size_)) {
    fail(ErrorCode::truncated, {path_, offset}, "{} bytes wanted, the file has {} in all",
         out.size(), size_);
  }
  while (!out.empty()) {
    const std::size_t wanted = std::min(out.size(), kLargestTransfer);
    const ssize_t got = ::pread(descriptor_.get(), out.data(), wanted, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno(errno, path_, "cannot read");
    // Another process has cut the file since it was opened.
    if (got == 0) {
      fail(ErrorCode::truncated, {path_, offset}, "the file ends here, it had {} bytes when opened",
           size_);
    }
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace flambeau
