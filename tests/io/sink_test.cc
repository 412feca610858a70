// Files that appear whole or not at all.
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

  TemporaryFolder folder_;
};

TEST_F(CreateFile, ShowsTheFileAtCommit) {
  for (const auto durability : {Durability::none, Durability::file, Durability::full}) {
    const auto sink = create_file(folder_ / "out", {.overwrite = true, .durability = durability});
    sink->write(as_bytes("some "));
    sink->write({});
    sink->write(as_bytes("content"));
    EXPECT_EQ(names().size(), durability == Durability::none ? 1u : 2u);
    sink->commit();
    EXPECT_THAT(names(), ElementsAre("out"));
    EXPECT_EQ(folder_.read("out"), "some content");
  }
}

TEST_F(CreateFile, WritesBesideTheTargetUntilThen) {
  const auto sink = create_file(folder_ / "out");
  EXPECT_THAT(names(), ElementsAre(::testing::MatchesRegex(R"(\.out\.[0-9a-f]{16})")));
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
  EXPECT_EQ(code_of([&] { create_file("/dev/null", {.overwrite = true}); }), ErrorCode::io);
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

TEST_F(CreateFile, FailsAtCommitWhenTheTemporaryIsGone) {
  for (const bool overwrite : {false, true}) {
    const auto sink = create_file(folder_ / "out", {.overwrite = overwrite});
    for (const auto& name : names()) fs::remove(folder_.path() / name);
    EXPECT_EQ(code_of([&] { sink->commit(); }), ErrorCode::not_found);
  }
}

}  // namespace
}  // namespace flambeau::testing
