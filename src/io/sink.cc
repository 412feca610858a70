// Files that appear whole or not at all: bytes go to a new file in the target's folder, which takes
// the target's name at `commit` (rename(2) replaces atomically within one file system). The folder
// is held open and every name is looked up in it, so that moving the folder meanwhile does no harm.
// After a failed fsync nothing is retried: the kernel may have dropped the pages, and a second
// fsync would then report success (fsync(2), NOTES). Owner, access lists and extended attributes of
// a replaced file are not carried over; its mode is.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <random>
#include <utility>

#include "base/fail.h"
#include "flambeau/io.h"
#include "io/file.h"

namespace flambeau {
namespace {

namespace fs = std::filesystem;

/// NAME_MAX of the usual file systems, in bytes.
constexpr std::size_t kLongestName = 255;
/// As many links as the kernel follows in one path (path_resolution(7)).
constexpr int kMostLinks = 40;

/// The path that `path` leads to when it is a symbolic link, so that the link stays one.
fs::path resolve_links(const std::string& path) {
  fs::path target(path);
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) fail_with_errno(error.value(), path, "cannot follow the link");
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target;
}

/// ".NAME.0123456789abcdef", cut to what a file system takes.
std::string temporary_name(std::string_view target) {
  std::random_device random;
  const std::string suffix = fmt::format(".{:08x}{:08x}", random(), random());
  const std::size_t room = kLongestName - 1 - suffix.size();
  return fmt::format(".{}{}", target.substr(0, room), suffix);
}

void write_all(int fd, Bytes bytes, std::string_view where) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), std::min(bytes.size(), kLargestTransfer));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_with_errno(errno, where, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

class FileSink final : public Sink {
 public:
  FileSink(const std::string& path, const FileSinkOptions& options)
      : path_(path), options_(options) {
    const fs::path target = resolve_links(path);
    name_ = target.filename().string();
    if (name_.empty() || name_ == "." || name_ == "..") fail(ErrorCode::io, {path_}, "is a folder");
    open_folder(target.has_parent_path() ? target.parent_path().string() : ".");
    look_at_target();
    open_temporary();
  }

  /// Without a commit nothing is left behind; there is nobody to tell if even that fails.
  ~FileSink() override {
    if (!temporary_.empty()) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
  }

  void write(Bytes bytes) override { write_all(file_.get(), bytes, path_); }

  void commit() override {
    // The mode comes last of all but the name: until now nobody but the owner could read the file.
    if (replaced_mode_ && ::fchmod(file_.get(), *replaced_mode_) != 0) {
      fail_with_errno(errno, path_, "cannot set the mode");
    }
    if (options_.durability != Durability::none && ::fsync(file_.get()) != 0) {
      fail_with_errno(errno, path_, "cannot flush to the disk");
    }
    if (const int error = file_.close()) fail_with_errno(error, path_, "cannot close");
    publish();
    temporary_.clear();
    if (options_.durability == Durability::full) flush_folder();
  }

 private:
  void open_folder(const std::string& folder) {
    folder_ = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_) fail_with_errno(errno, path_, "cannot open its folder");
  }

  /// Remembers the mode of a file that will be replaced; refuses what must not be.
  void look_at_target() {
    struct stat status = {};
    if (::fstatat(folder_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) fail_with_errno(errno, path_, "cannot look up");
      return;
    }
    if (!S_ISREG(status.st_mode)) fail(ErrorCode::io, {path_}, "exists and is not a regular file");
    if (!options_.overwrite) fail(ErrorCode::exists, {path_}, "the file exists already");
    replaced_mode_ = status.st_mode & 07777;
  }

  /// A new file gets the mode that the system gives new files; one that will replace a file is
  /// readable by nobody else until it takes that file's mode.
  void open_temporary() {
    const mode_t mode = replaced_mode_ ? 0600 : 0666;
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts && !file_; ++attempt) {
      std::string name = temporary_name(name_);
      file_ = Descriptor(::openat(folder_.get(), name.c_str(), kFlags, mode));
      if (file_) temporary_ = std::move(name);
      if (!file_ && errno != EEXIST) break;
    }
    if (!file_) fail_with_errno(errno, path_, "cannot create a file in its folder");
  }

  void publish() {
    const int folder = folder_.get();
    if (options_.overwrite) {
      if (::renameat(folder, temporary_.c_str(), folder, name_.c_str()) == 0) return;
      fail_with_errno(errno, path_, "cannot rename the finished file");
    }
    if (::renameat2(folder, temporary_.c_str(), folder, name_.c_str(), RENAME_NOREPLACE) == 0) {
      return;
    }
    // File systems without that flag (EINVAL) have links, which do not replace either.
    if (errno == EINVAL && ::linkat(folder, temporary_.c_str(), folder, name_.c_str(), 0) == 0) {
      ::unlinkat(folder, temporary_.c_str(), 0);
      return;
    }
    fail_with_errno(errno, path_, "cannot rename the finished file");
  }

  void flush_folder() {
    // EINVAL: the file system does not flush folders, and does not need it.
    if (::fsync(folder_.get()) == 0 || errno == EINVAL) return;
    fail_with_errno(errno, path_, "the file is complete, but its name may not outlive a crash");
  }

  const std::string path_;
  const FileSinkOptions options_;
  std::string name_;
  Descriptor folder_;
  Descriptor file_;
  /// Name of the unfinished file; empty once there is none.
  std::string temporary_;
  std::optional<mode_t> replaced_mode_;
};

}  // namespace

std::unique_ptr<Sink> create_file(const std::string& path, const FileSinkOptions& options) {
  return std::make_unique<FileSink>(path, options);
}

}  // namespace flambeau
