// Streams: read to their end, up to a bound, or no further than their beginning.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "flambeau/io.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

/// A descriptor that gives `content` and then ends.
class Stream {
 public:
  explicit Stream(const std::string& content) : fd_(::memfd_create("stream", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(fd_, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    ::lseek(fd_, 0, SEEK_SET);
  }
  ~Stream() { ::close(fd_); }

  SourcePtr read(const StreamOptions& options = {}) const {
    return read_stream(fd_, "stream", options);
  }
  off_t position() const { return ::lseek(fd_, 0, SEEK_CUR); }

 private:
  int fd_;
};

constexpr std::size_t kHead = std::size_t{1} << 20;

TEST(ReadStream, ReadsToTheEnd) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, kHead, 3 * kHead + 1}) {
    const std::string content(size, 'x');
    const SourcePtr source = Stream(content).read();
    EXPECT_EQ(as_text(source->view(0, source->size()).bytes), content);
    EXPECT_EQ(source->name(), "stream");
  }
}

TEST(ReadStream, StopsWhereTheBeginningIsNotWanted) {
  const Stream stream(std::string(3 * kHead, 'x'));
  const SourcePtr source = stream.read({.wants_more = [](const Source& head) {
    EXPECT_EQ(head.size(), kHead);
    return false;
  }});
  EXPECT_EQ(source->size(), kHead);
  EXPECT_EQ(stream.position(), static_cast<off_t>(kHead));
}

TEST(ReadStream, HasABound) {
  for (const std::size_t size : {std::size_t{10}, kHead, 2 * kHead}) {
    EXPECT_EQ(Stream(std::string(size, 'x')).read({.max_size = size})->size(), size);
    const Stream longer(std::string(size + 7, 'x'));
    EXPECT_EQ(code_of([&] { longer.read({.max_size = size}); }), ErrorCode::limit);
    EXPECT_EQ(longer.position(), static_cast<off_t>(size + 1));
  }
}

TEST(ReadStream, TellsWhatTheSystemSays) {
  const int folder = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  EXPECT_EQ(message_of([&] { read_stream(folder, "stream"); }),
            "stream: cannot read: Is a directory");
  ::close(folder);
}

}  // namespace
}  // namespace flambeau::testing
