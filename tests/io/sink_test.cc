// Files that appear whole or not at all.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <vector>

#include "base/bytes.h"
#include "flambeau/io.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace flambeau::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CreateFile : public ::testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  mode_t mode_of(const std::string& name) const {
    struct stat status = {};
    EXPECT_EQ(::lstat((folder_ / name).c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  /// Whether the file system has files without a name; else they have a temporary one.
  bool has_nameless_files() const {
    const int fd = ::open(folder_.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
    return fd >= 0 && ::close(fd) == 0;
  }

  TemporaryFolder folder_;
};

TEST_F(CreateFile, ShowsTheFileAtCommit) {
  const std::size_t temporaries = has_nameless_files() ? 0 : 1;
  for (const auto durability : {Durability::none, Durability::file, Durability::full}) {
    const auto sink = create_file(folder_ / "out", {.overwrite = true, .durability = durability});
    sink->write(as_bytes("some "));
    sink->write({});
    sink->write(as_bytes("content"));
    EXPECT_EQ(names().size(), temporaries + (durability == Durability::none ? 0 : 1));
    sink->commit();
    EXPECT_THAT(names(), ElementsAre("out"));
    EXPECT_EQ(folder_.read("out"), "some content");
  }
}

TEST_F(CreateFile, HasNoNameUntilThen) {
  const auto sink = create_file(folder_ / "out");
  if (has_nameless_files()) {
    EXPECT_THAT(names(), IsEmpty());
  } else {
    EXPECT_THAT(names(), ElementsAre(::testing::MatchesRegex(R"(\.out\.[0-9a-f]{16})")));
  }
  sink->commit();
  EXPECT_EQ(folder_.read("out"), "");
}

TEST_F(CreateFile, LeavesNoTraceWithoutCommit) {
  { create_file(folder_ / "out")->write(as_bytes("half")); }
  EXPECT_THAT(names(), IsEmpty());
  folder_.write("out", "old");
  { create_file(folder_ / "out", {.overwrite = true})->write(as_bytes("half")); }
  EXPECT_THAT(names(), ElementsAre("out"));
  EXPECT_EQ(folder_.read("out"), "old");
}

TEST_F(CreateFile, TakesLargeContent) {
  std::string content(20'000'000, 'x');
  content.back() = 'y';
  const auto sink = create_file(folder_ / "out", {.durability = Durability::none});
  sink->write(as_bytes(content));
  sink->commit();
  EXPECT_EQ(folder_.read("out"), content);
}

TEST_F(CreateFile, RefusesAFileThatExists) {
  const std::string path = folder_.write("out", "old");
  EXPECT_EQ(code_of([&] { create_file(path); }), ErrorCode::exists);
  EXPECT_EQ(message_of([&] { create_file(path); }), path + ": the file exists already");
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(CreateFile, RefusesAFileThatCameMeanwhile) {
  {
    const auto sink = create_file(folder_ / "out");
    sink->write(as_bytes("new"));
    folder_.write("out", "of another");
    EXPECT_EQ(code_of([&] { sink->commit(); }), ErrorCode::exists);
  }
  EXPECT_THAT(names(), ElementsAre("out"));
  EXPECT_EQ(folder_.read("out"), "of another");
}

TEST_F(CreateFile, KeepsTheModeOfAReplacedFile) {
  folder_.write("out", "old");
  for (const mode_t mode : {mode_t{0640}, mode_t{0600}, mode_t{0755}}) {
    ASSERT_EQ(::chmod((folder_ / "out").c_str(), mode), 0);
    const auto sink = create_file(folder_ / "out", {.overwrite = true});
    sink->write(as_bytes("new"));
    for (const auto& name : names()) {
      EXPECT_TRUE(name == "out" || mode_of(name) == 0600u) << name;
    }
    sink->commit();
    EXPECT_EQ(mode_of("out"), mode);
  }
  EXPECT_EQ(folder_.read("out"), "new");
}

TEST_F(CreateFile, GivesNewFilesTheUsualMode) {
  const mode_t old = ::umask(027);
  create_file(folder_ / "out")->commit();
  ::umask(old);
  EXPECT_EQ(mode_of("out"), 0640u);
}

TEST_F(CreateFile, KeepsSymbolicLinks) {
  fs::create_directory(folder_.path() / "sub");
  folder_.write("sub/real", "old");
  fs::create_symlink("sub/real", folder_.path() / "link");
  fs::create_symlink(folder_.path() / "link", folder_.path() / "second");
  const auto sink = create_file(folder_ / "second", {.overwrite = true});
  sink->write(as_bytes("new"));
  sink->commit();
  EXPECT_EQ(folder_.read("sub/real"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_.path() / "link"));
  EXPECT_TRUE(fs::is_symlink(folder_.path() / "second"));
}

TEST_F(CreateFile, FollowsALinkToNothing) {
  fs::create_symlink("later", folder_.path() / "link");
  create_file(folder_ / "link")->commit();
  EXPECT_THAT(names(), ElementsAre("later", "link"));
}

TEST_F(CreateFile, RefusesLinksInACircle) {
  fs::create_symlink("b", folder_.path() / "a");
  fs::create_symlink("a", folder_.path() / "b");
  EXPECT_EQ(code_of([&] { create_file(folder_ / "a", {.overwrite = true}); }), ErrorCode::io);
}

TEST_F(CreateFile, RefusesWhatIsNoFile) {
  const std::string path = folder_.path().string();
  EXPECT_EQ(code_of([&] { create_file(path, {.overwrite = true}); }), ErrorCode::io);
  for (const std::string end : {"/", "/.", "/.."}) {
    EXPECT_THAT(message_of([&] { create_file(path + end); }), HasSubstr("is a folder"));
  }
  EXPECT_EQ(code_of([&] { create_file(""); }), ErrorCode::io);
}

TEST_F(CreateFile, NeedsTheFolder) {
  EXPECT_EQ(code_of([&] { create_file(folder_ / "missing/out"); }), ErrorCode::not_found);
  folder_.write("file", "");
  EXPECT_THAT(message_of([&] { create_file(folder_ / "file/out"); }),
              HasSubstr("cannot open its folder: Not a directory"));
}

TEST_F(CreateFile, TakesNamesAsLongAsTheSystemDoes) {
  const std::string longest(255, 'n');
  create_file(folder_ / longest)->commit();
  EXPECT_THAT(names(), ElementsAre(longest));
  EXPECT_EQ(code_of([&] { create_file(folder_ / (longest + "n")); }), ErrorCode::io);
}

TEST_F(CreateFile, SurvivesAMovedFolder) {
  fs::create_directory(folder_.path() / "before");
  const auto sink = create_file(folder_ / "before/out");
  fs::rename(folder_.path() / "before", folder_.path() / "after");
  sink->write(as_bytes("content"));
  sink->commit();
  EXPECT_EQ(folder_.read("after/out"), "content");
}

/// A bound on the size of files, as a full disk would be: writes past it fail with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t size) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit now{size, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    static_cast<void>(std::signal(SIGXFSZ, handler_));
  }

 private:
  rlimit old_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(CreateFile, KeepsTheOldFileWhenAWriteFails) {
  folder_.write("out", "old");
  {
    const FileSizeLimit limit(1000);
    const auto sink = create_file(folder_ / "out", {.overwrite = true});
    // Half fits: a short write, and then none.
    EXPECT_EQ(code_of([&] { sink->write(as_bytes(std::string(2000, 'x'))); }), ErrorCode::io);
  }
  EXPECT_THAT(names(), ElementsAre("out"));
  EXPECT_EQ(folder_.read("out"), "old");
}

TEST_F(CreateFile, FailsAtCommitWhenTheFolderIsGone) {
  for (const bool overwrite : {false, true}) {
    fs::create_directory(folder_.path() / "sub");
    const auto sink = create_file(folder_ / "sub/out", {.overwrite = overwrite});
    fs::remove_all(folder_.path() / "sub");
    EXPECT_EQ(code_of([&] { sink->commit(); }), ErrorCode::not_found);
  }
}

TEST_F(CreateFile, KeepsTheOwnerOfAReplacedFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const std::string path = folder_.write("out", "old");
  ASSERT_EQ(::chown(path.c_str(), 12'345, 23'456), 0);
  ASSERT_EQ(::chmod(path.c_str(), 06751), 0);
  create_file(path, {.overwrite = true})->commit();
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 12'345u);
  EXPECT_EQ(status.st_gid, 23'456u);
  EXPECT_EQ(status.st_mode & 07777, 06751u);
}

TEST_F(CreateFile, KnowsAtOnceThatThereIsNoRoom) {
  folder_.write("out", "old");
  const std::uint64_t size = std::uint64_t{1} << 62;
  try {
    create_file(folder_ / "out", {.overwrite = true, .expected_size = size});
    GTEST_SKIP() << "the file system does not reserve room";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("no room for 4611686018427387904 bytes"));
  }
  EXPECT_THAT(names(), ElementsAre("out"));
  EXPECT_EQ(folder_.read("out"), "old");
}

TEST_F(CreateFile, ReservesNoMoreThanIsWritten) {
  const auto sink = create_file(folder_ / "out", {.expected_size = 100'000});
  sink->write(as_bytes("few"));
  sink->commit();
  EXPECT_EQ(folder_.read("out"), "few");
}

TEST_F(CreateFile, TellsHowFarItCame) {
  EXPECT_EQ(message_of([&] {
              const auto full = create_file("/dev/full", {.expected_size = 7});
              full->write(as_bytes("content"));
            }),
            "/dev/full: cannot write after 0 bytes of at least 7: No space left on device");
  EXPECT_EQ(code_of([&] { create_file("/dev/full")->write(as_bytes("x")); }), ErrorCode::no_space);
}

TEST_F(CreateFile, BlamesTheInputForLostPages) {
  const std::string path = folder_.write("in", std::string(8192, 'x'));
  const SourcePtr source = open_file(path);
  const Block block = source->view(0, source->size());
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  const auto sink = create_file(folder_ / "out");
  EXPECT_EQ(code_of([&] { sink->write(block.bytes); }), ErrorCode::truncated);
  EXPECT_EQ(message_of([&] { sink->write(block.bytes); }),
            "a mapped file was truncated while it was being read");
}

TEST_F(CreateFile, WritesStreamsDirectly) {
  create_file("/dev/null")->commit();
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto sink = create_file(pipe);
  sink->write(as_bytes("content"));
  char buffer[8] = {};
  EXPECT_EQ(::read(reader, buffer, sizeof buffer), 7);
  EXPECT_STREQ(buffer, "content");
  sink->commit();
  EXPECT_EQ(::read(reader, buffer, sizeof buffer), 0) << "closed";
  ::close(reader);
  EXPECT_THAT(names(), ElementsAre("pipe"));
}

TEST_F(CreateFile, AppendsToADescriptor) {
  const std::string path = folder_.write("log", "old ");
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const std::string number = std::to_string(fd);
  fs::create_symlink("/proc/self/fd/" + number, folder_.path() / "link");
  for (const std::string& way : {"/dev/fd/" + number, folder_ / "link"}) {
    const auto sink = create_file(way);
    sink->write(as_bytes("new "));
    sink->commit();
  }
  ::close(fd);
  EXPECT_EQ(folder_.read("log"), "old new new ");
  EXPECT_EQ(code_of([&] { create_file("/dev/fd/" + number); }), ErrorCode::io);
}

}  // namespace
}  // namespace flambeau::testing
