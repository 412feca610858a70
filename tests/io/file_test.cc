// Opening and reading files, mapped and not, and everything that is no regular file.
#include "io/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/bytes.h"
#include "flambeau/io.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace flambeau::testing {
namespace {

using ::testing::HasSubstr;

std::string read_text(const Source& source, std::uint64_t offset, std::size_t size) {
  std::vector<std::byte> out(size);
  source.read(offset, out);
  return std::string(as_text(out));
}

class OpenFile : public ::testing::TestWithParam<bool> {
 protected:
  SourcePtr open(const std::string& path) { return open_file(path, {.mapped = GetParam()}); }
  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(MappedAndNot, OpenFile, ::testing::Bool());

TEST_P(OpenFile, GivesTheBytes) {
  const std::string path = folder_.write("file", "0123456789");
  const SourcePtr source = open(path);
  EXPECT_EQ(source->name(), path);
  EXPECT_EQ(source->size(), 10u);
  EXPECT_EQ(source->in_memory(), GetParam());
  EXPECT_EQ(read_text(*source, 3, 4), "3456");
  EXPECT_EQ(as_text(source->view(3, 4).bytes), "3456");
  EXPECT_EQ(read_text(*source, 10, 0), "");
  EXPECT_EQ(source->view(10, 0).bytes.size(), 0u);
}

TEST_P(OpenFile, RefusesRangesPastTheEnd) {
  const SourcePtr source = open(folder_.write("file", "0123456789"));
  for (const auto& [offset, size] : {std::pair<std::uint64_t, std::size_t>{9, 2},
                                     {11, 0},
                                     {UINT64_MAX, 1},
                                     {1, 10},
                                     {UINT64_MAX - 1, 3}}) {
    EXPECT_EQ(code_of([&] { read_text(*source, offset, size); }), ErrorCode::truncated);
    EXPECT_EQ(code_of([&] { source->view(offset, size); }), ErrorCode::truncated);
  }
  EXPECT_EQ(code_of([&] { source->view(0, UINT64_MAX); }), ErrorCode::truncated);
  const auto error = error_of([&] { source->view(9, 2); });
  EXPECT_EQ(error->where(), source->name());
  EXPECT_EQ(error->offset(), 9u);
}

TEST_P(OpenFile, TakesAnEmptyFile) {
  const SourcePtr source = open(folder_.write("empty", ""));
  EXPECT_EQ(source->size(), 0u);
  EXPECT_FALSE(source->in_memory());
  EXPECT_EQ(source->view(0, 0).bytes.size(), 0u);
  EXPECT_EQ(code_of([&] { source->view(0, 1); }), ErrorCode::truncated);
}

TEST_P(OpenFile, SaysWhatIsMissing) {
  const std::string path = folder_ / "missing";
  EXPECT_EQ(code_of([&] { open(path); }), ErrorCode::not_found);
  EXPECT_EQ(message_of([&] { open(path); }), path + ": cannot open: No such file or directory");
  EXPECT_EQ(code_of([&] { open(""); }), ErrorCode::not_found);
}

TEST_P(OpenFile, RefusesFolders) {
  const std::string path = folder_.path().string();
  EXPECT_EQ(code_of([&] { open(path); }), ErrorCode::io);
  EXPECT_EQ(message_of([&] { open(path); }), path + ": is a folder, not a regular file");
}

TEST_P(OpenFile, RefusesPipesWithoutWaiting) {
  const std::string path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(code_of([&] { open(path); }), ErrorCode::io);
  EXPECT_THAT(message_of([&] { open(path); }), HasSubstr("is a pipe, not a regular file"));
}

TEST_P(OpenFile, RefusesDevicesAndSockets) {
  EXPECT_THAT(message_of([&] { open("/dev/zero"); }), HasSubstr("is a device"));
  const std::string path = folder_ / "socket";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, path.c_str());
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  const void* raw = &address;
  ASSERT_EQ(::bind(socket.get(), static_cast<const sockaddr*>(raw), sizeof address), 0);
  EXPECT_EQ(code_of([&] { open(path); }), ErrorCode::io);
}

TEST_P(OpenFile, SaysWhenItMayNotRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const std::string path = folder_.write("secret", "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  EXPECT_EQ(message_of([&] { open(path); }), path + ": cannot open: Permission denied");
}

TEST_P(OpenFile, ViewsOutliveTheSource) {
  Block block;
  { block = open(folder_.write("file", "0123456789"))->view(2, 3); }
  std::filesystem::remove(folder_ / "file");
  EXPECT_EQ(as_text(block.bytes), "234");
}

TEST_P(OpenFile, ReadsTheSameAfterARelease) {
  const std::string content(100'000, 'r');
  const SourcePtr source = open(folder_.write("file", content));
  const Block block = source->view(0, content.size());
  EXPECT_EQ(as_text(block.bytes), content);
  source->release(0, content.size());
  source->release(5000, 10);
  source->release(content.size(), 1);
  source->release(UINT64_MAX, UINT64_MAX);
  EXPECT_EQ(as_text(block.bytes), content);
}

TEST_P(OpenFile, NoticesAFileThatWasCut) {
  const std::string path = folder_.write("file", std::string(10'000, 'x'));
  const SourcePtr source = open(path);
  std::filesystem::resize_file(path, 5000);
  EXPECT_EQ(read_text(*source, 0, 5000).size(), 5000u);
  EXPECT_EQ(code_of([&] { read_text(*source, 0, 6000); }), ErrorCode::truncated);
  EXPECT_THAT(message_of([&] { read_text(*source, 4000, 2000); }),
              HasSubstr("+0x1388: the file ends here, it had 10000 bytes when opened"));
}

TEST(File, SaysWhatCannotBeRead) {
  // A folder's descriptor can be opened, but not read; `File` never holds one, the words are alike.
  EXPECT_EQ(message_of([] { fail_with_errno(EIO, "x.pt", "cannot read"); }),
            "x.pt: cannot read: Input/output error");
  EXPECT_EQ(code_of([] { fail_with_errno(EIO, "x", ""); }), ErrorCode::io);
  EXPECT_EQ(code_of([] { fail_with_errno(ENOENT, "x", ""); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([] { fail_with_errno(EEXIST, "x", ""); }), ErrorCode::exists);
  EXPECT_EQ(code_of([] { fail_with_errno(ENOSPC, "x", ""); }), ErrorCode::no_space);
  EXPECT_EQ(code_of([] { fail_with_errno(EDQUOT, "x", ""); }), ErrorCode::no_space);
}

TEST(Descriptor, ClosesOnce) {
  Descriptor first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(first);
  const int fd = first.get();
  Descriptor second(std::move(first));
  EXPECT_EQ(second.get(), fd);
  EXPECT_EQ(second.close(), 0);
  EXPECT_FALSE(second);
  EXPECT_EQ(second.close(), 0);
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
  EXPECT_EQ(Descriptor(fd).close(), EBADF);
}

}  // namespace
}  // namespace flambeau::testing
