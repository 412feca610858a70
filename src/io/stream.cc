// Streams have no size and cannot be read twice, and a checkpoint is read from its end: they are
// kept in memory, as far as a bound allows.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/fail.h"
#include "flambeau/io.h"
#include "io/file.h"

namespace flambeau {
namespace {

/// What is asked for at once. A pipe gives 64 KiB at a time.
constexpr std::size_t kStep = std::size_t{1} << 20;

std::uint64_t half_of_memory() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long size = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return std::uint64_t{1} << 32;
  return static_cast<std::uint64_t>(pages) / 2 * static_cast<std::uint64_t>(size);
}

/// Appends until `bytes` has `most` bytes or the stream has ended; whether it has.
bool read_up_to(int descriptor, std::vector<std::byte>& bytes, std::size_t most,
                const std::string& name) {
  while (bytes.size() < most) {
    const std::size_t before = bytes.size();
    const std::size_t step = std::min(kStep, most - before);
    bytes.resize(before + step);
    const ssize_t got = ::read(descriptor, bytes.data() + before, step);
    const int error = errno;  // `resize` may change it
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return true;
    if (got < 0 && error != EINTR) fail_with_errno(error, name, "cannot read");
  }
  return false;
}

}  // namespace

SourcePtr read_stream(int descriptor, std::string name, const StreamOptions& options) {
  const std::uint64_t limit = options.max_size == 0 ? half_of_memory() : options.max_size;
  // One byte more tells a stream that is too long from one that just fits.
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(limit, PTRDIFF_MAX - 1) + 1);
  auto bytes = std::make_shared<std::vector<std::byte>>();
  bool ended = read_up_to(descriptor, *bytes, std::min(kStep, most), name);
  const bool is_wanted = !options.wants_more || options.wants_more(*borrow_memory(*bytes, name));
  if (!ended && is_wanted) ended = read_up_to(descriptor, *bytes, most, name);
  if (bytes->size() > limit) {
    fail(ErrorCode::limit, {name}, "over {} bytes, the most that a stream may have; give a file",
         limit);
  }
  const std::span<const std::byte> view = *bytes;
  return own_memory({view, std::move(bytes)}, std::move(name));
}

}  // namespace flambeau
