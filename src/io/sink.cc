// Files that appear whole or not at all. Bytes go to a new file without a name (O_TMPFILE) in the
// target's folder: whatever ends the process, nothing is left of it. At `commit` it gets a
// temporary name (linkat(2), which does not replace) and at once the target's (rename(2), which
// does); signals wait for that moment to pass, SIGKILL does not. Where the file system has no
// nameless files the temporary name is there from the start, and a process that is ended by a
// signal leaves it behind.
//
// The folder is held open and every name is looked up in it, so that moving the folder meanwhile
// does no harm. After a failed fsync nothing is retried: the kernel may have dropped the pages, and
// a second fsync would then report success (fsync(2), NOTES). A replaced file's mode, owner and
// group are kept; its access lists and extended attributes are not.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
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

/// The descriptor that a path like /dev/fd/1 stands for. /dev/stdout is a link to one.
std::optional<int> descriptor_of(const fs::path& path) {
  if (path.parent_path() != "/proc/self/fd" && path.parent_path() != "/dev/fd") return std::nullopt;
  const std::string digits = path.filename().string();
  const char* const end = digits.data() + digits.size();
  int number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// The path that `path` leads to when it is a symbolic link, so that the link stays one. Links of
/// descriptors are not followed: they may be renamed or have no name at all.
fs::path resolve_links(const std::string& path) {
  fs::path target(path);
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    if (descriptor_of(target)) break;
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

/// Keeps signals from the calling thread while it lives; they come afterwards.
class SignalsHeld {
 public:
  SignalsHeld() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// A descriptor that bytes are appended to, and how many have gone there.
class Writer {
 public:
  Writer(std::string path, std::uint64_t expected) : path_(std::move(path)), expected_(expected) {}

  void open(Descriptor descriptor) noexcept { descriptor_ = std::move(descriptor); }
  int get() const noexcept { return descriptor_.get(); }
  bool is_open() const noexcept { return static_cast<bool>(descriptor_); }
  const std::string& path() const noexcept { return path_; }

  void write(Bytes bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::write(get(), bytes.data(), std::min(bytes.size(), kLargestTransfer));
      if (put < 0 && can_try_again()) continue;
      if (put < 0) fail_to_write(errno, written_);
      written_ += static_cast<std::uint64_t>(put);
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
  }

  /// Keeps no position, so that threads may share it.
  void write_at(std::uint64_t offset, Bytes bytes) const {
    while (!bytes.empty()) {
      const std::size_t wanted = std::min(bytes.size(), kLargestTransfer);
      const ssize_t put = ::pwrite(get(), bytes.data(), wanted, static_cast<off_t>(offset));
      if (put < 0 && can_try_again()) continue;
      if (put < 0) fail_to_write(errno, offset);
      offset += static_cast<std::uint64_t>(put);
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
  }

  /// Asks for room for all that will come, so that a full disk is known before any work is done.
  void reserve() const {
    if (expected_ == 0 || expected_ > INT64_MAX) return;
    const auto size = static_cast<off_t>(expected_);
    if (::fallocate(get(), FALLOC_FL_KEEP_SIZE, 0, size) == 0) return;
    // Not every file system can reserve; then the writes tell.
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) fail_for_room(errno);
  }

  void flush() const {
    if (::fsync(get()) != 0) fail_with_errno(errno, path_, "cannot flush to the disk");
  }

  /// What else a descriptor leads to keeps nothing on a disk.
  bool is_regular() const noexcept {
    struct stat status = {};
    return ::fstat(get(), &status) == 0 && S_ISREG(status.st_mode);
  }

  void close() {
    if (const int error = descriptor_.close()) fail_with_errno(error, path_, "cannot close");
  }

 private:
  /// After an interruption, and once there is room in a pipe that does not block.
  bool can_try_again() const noexcept {
    if (errno != EAGAIN) return errno == EINTR;
    pollfd room{get(), POLLOUT, 0};
    return ::poll(&room, 1, -1) >= 0 || errno == EINTR;
  }

  [[noreturn]] void fail_to_write(int error, std::uint64_t offset) const {
    // The kernel found no memory behind the caller's pointer: the fault is the input's.
    if (error == EFAULT) {
      fail(ErrorCode::truncated, {}, "a mapped file was truncated while it was being read");
    }
    std::string action = fmt::format("cannot write after {} bytes", offset);
    if (expected_ > 0) action += fmt::format(" of at least {}", expected_);
    fail_with_errno(error, path_, action);
  }

  [[noreturn]] void fail_for_room(int error) const {
    struct statvfs status = {};
    std::string action = fmt::format("no room for {} bytes", expected_);
    if (error == ENOSPC && ::fstatvfs(get(), &status) == 0) {
      action += fmt::format(", {} are free", std::uint64_t{status.f_bavail} * status.f_frsize);
    }
    fail_with_errno(error, path_, action);
  }

  const std::string path_;
  const std::uint64_t expected_;
  Descriptor descriptor_;
  std::uint64_t written_ = 0;
};

/// A pipe, a terminal, or whatever a descriptor of the process leads to: bytes are gone once they
/// are written, so there is nothing to take back and nothing to replace.
class StreamSink final : public Sink {
 public:
  StreamSink(const std::string& path, Descriptor descriptor, const FileSinkOptions& options)
      : output_(path, options.expected_size), durability_(options.durability) {
    output_.open(std::move(descriptor));
  }

  void write(Bytes bytes) override { output_.write(bytes); }

  bool commit() override {
    if (durability_ != Durability::none && output_.is_regular()) output_.flush();
    output_.close();
    return true;
  }

 private:
  Writer output_;
  const Durability durability_;
};

class FileSink final : public Sink {
 public:
  FileSink(const std::string& path, const fs::path& target, const FileSinkOptions& options)
      : options_(options), output_(path, options.expected_size) {
    name_ = target.filename().string();
    if (name_.empty() || name_ == "." || name_ == "..") fail(ErrorCode::io, {path}, "is a folder");
    open_folder(target.has_parent_path() ? target.parent_path().string() : ".");
    look_at_target();
    open_temporary();
  }

  /// Without a commit nothing is left behind; there is nobody to tell if even that fails.
  ~FileSink() override {
    if (!temporary_.empty()) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
  }

  /// Apart from the constructor, so that the destructor cleans up where there is no room.
  void reserve() const { output_.reserve(); }

  void write(Bytes bytes) override { output_.write(bytes); }
  bool writes_anywhere() const noexcept override { return true; }
  void write_at(std::uint64_t offset, Bytes bytes) override { output_.write_at(offset, bytes); }

  bool commit() override {
    // Rights come last of all but the name: until now nobody but the owner could read the file.
    if (replaced_) restore_rights(*replaced_);
    if (options_.durability != Durability::none) output_.flush();
    take_name();
    return options_.durability != Durability::full || flush_folder();
  }

 private:
  void open_folder(const std::string& folder) {
    folder_ = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_) fail_with_errno(errno, output_.path(), "cannot open its folder");
  }

  /// Remembers the rights of a file that will be replaced; refuses what must not be.
  void look_at_target() {
    struct stat status = {};
    if (::fstatat(folder_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) fail_with_errno(errno, output_.path(), "cannot look up");
      return;
    }
    if (!S_ISREG(status.st_mode)) {
      fail(ErrorCode::io, {output_.path()}, "exists and is not a regular file");
    }
    if (!options_.overwrite) fail(ErrorCode::exists, {output_.path()}, "the file exists already");
    replaced_ = status;
  }

  /// Calls `make(name)` with new names until it does not say EEXIST; the name that it took.
  template <typename Make>
  std::optional<std::string> try_names(Make&& make) const {
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::string name = temporary_name(name_);
      if (make(name.c_str())) return name;
      if (errno != EEXIST) break;
    }
    return std::nullopt;
  }

  /// A new file gets the mode that the system gives new files; one that will replace a file is
  /// readable by nobody else until it takes that file's mode.
  void open_temporary() {
    const mode_t mode = replaced_ ? 0600 : 0666;
    constexpr int kFlags = O_WRONLY | O_CLOEXEC;
    output_.open(Descriptor(::openat(folder_.get(), ".", kFlags | O_TMPFILE, mode)));
    // Without /proc it could not be named later.
    if (output_.is_open() && ::access(proc_link().c_str(), F_OK) == 0) return;
    const auto make = [&](const char* name) {
      output_.open(
          Descriptor(::openat(folder_.get(), name, kFlags | O_CREAT | O_EXCL | O_NOFOLLOW, mode)));
      return output_.is_open();
    };
    const auto name = try_names(make);
    if (!name) fail_with_errno(errno, output_.path(), "cannot create a file in its folder");
    temporary_ = *name;
  }

  /// The way to a nameless file that needs no privilege (open(2), O_TMPFILE).
  std::string proc_link() const { return fmt::format("/proc/self/fd/{}", output_.get()); }

  void name_temporary() {
    const std::string link = proc_link();
    const auto make = [&](const char* name) {
      return ::linkat(AT_FDCWD, link.c_str(), folder_.get(), name, AT_SYMLINK_FOLLOW) == 0;
    };
    const auto name = try_names(make);
    if (!name) fail_with_errno(errno, output_.path(), "cannot name the finished file");
    temporary_ = *name;
  }

  /// Owner and group where the system permits; never more rights than before. Group first: who has
  /// given a file away may not change it any more. A change of owner may clear bits of the mode.
  void restore_rights(const struct stat& old) const {
    struct stat now = {};
    if (::fstat(output_.get(), &now) != 0) fail_with_errno(errno, output_.path(), "cannot look up");
    constexpr uid_t kSame = static_cast<uid_t>(-1);
    const bool has_group =
        now.st_gid == old.st_gid || ::fchown(output_.get(), kSame, old.st_gid) == 0;
    const bool has_owner =
        now.st_uid == old.st_uid || ::fchown(output_.get(), old.st_uid, kSame) == 0;
    mode_t mode = old.st_mode & 07777;
    if (!has_group || !has_owner) mode &= ~static_cast<mode_t>(S_ISUID | S_ISGID);
    // Another group may do what everybody may.
    if (!has_group) mode &= ~static_cast<mode_t>(S_IRWXG) | (mode & S_IRWXO) << 3;
    if (::fchmod(output_.get(), mode) != 0) {
      fail_with_errno(errno, output_.path(), "cannot set the mode");
    }
  }

  /// Closed before the target is replaced, since that may fail, too.
  void take_name() {
    const SignalsHeld held;
    if (temporary_.empty()) name_temporary();
    output_.close();
    publish();
    temporary_.clear();
  }

  void publish() {
    const int folder = folder_.get();
    if (options_.overwrite) {
      if (::renameat(folder, temporary_.c_str(), folder, name_.c_str()) == 0) return;
      fail_with_errno(errno, output_.path(), "cannot rename the finished file");
    }
    if (::renameat2(folder, temporary_.c_str(), folder, name_.c_str(), RENAME_NOREPLACE) == 0) {
      return;
    }
    // File systems without that flag (EINVAL) have links, which do not replace either.
    if (errno == EINVAL && ::linkat(folder, temporary_.c_str(), folder, name_.c_str(), 0) == 0) {
      ::unlinkat(folder, temporary_.c_str(), 0);
      return;
    }
    fail_with_errno(errno, output_.path(), "cannot rename the finished file");
  }

  /// EINVAL: the file system does not flush folders, and does not need it.
  bool flush_folder() const { return ::fsync(folder_.get()) == 0 || errno == EINVAL; }

  const FileSinkOptions options_;
  std::string name_;
  Descriptor folder_;
  Writer output_;
  /// Name of the unfinished file; empty while it has none, and once it has the target's.
  std::string temporary_;
  /// The file that will be replaced.
  std::optional<struct stat> replaced_;
};

/// Empty for what is a file or will be one. Opening a pipe waits for its reader.
Descriptor open_stream(const std::string& path, const fs::path& target) {
  if (const auto number = descriptor_of(target)) {
    Descriptor descriptor(::fcntl(*number, F_DUPFD_CLOEXEC, 0));
    if (!descriptor) fail_with_errno(errno, path, "cannot write to the descriptor");
    return descriptor;
  }
  struct stat status = {};
  if (::stat(target.c_str(), &status) != 0) return Descriptor();
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return Descriptor();
  int fd = -1;
  do fd = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) fail_with_errno(errno, path, "cannot open");
  return Descriptor(fd);
}

}  // namespace

std::unique_ptr<Sink> create_file(const std::string& path, const FileSinkOptions& options) {
  const fs::path target = resolve_links(path);
  if (Descriptor stream = open_stream(path, target)) {
    return std::make_unique<StreamSink>(path, std::move(stream), options);
  }
  auto sink = std::make_unique<FileSink>(path, target, options);
  sink->reserve();
  return sink;
}

}  // namespace flambeau
