// Where bytes lie, and where they go.
//
//   auto source = flambeau::open_file("model.pt");                    // mapped; nothing read yet
//   auto source = flambeau::open_file("model.pt", {.mapped = false}); // reads what is asked for
//   auto source = flambeau::borrow_memory(bytes, "upload");           // the caller keeps the bytes
//
// A `Source` of your own (a remote object read by ranges, say) overrides `size` and `read`.
// Sources are immutable and safe to use from many threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flambeau {

/// Immutable bytes and whatever keeps them alive. Copies share the owner.
struct Block {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// A run of bytes of known size that is read at any offset.
class Source {
 public:
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// For messages: a file's path, or what the caller called it.
  const std::string& name() const noexcept { return name_; }
  /// Size in bytes.
  virtual std::uint64_t size() const noexcept = 0;
  /// Fills `out` from `offset`. Errors: `io`; `truncated` where the range ends past `size()`.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  /// The bytes in place where the source has them in memory, else a copy of them.
  /// A mapped file that another process truncates makes the next touch of the lost pages a SIGBUS:
  /// open files that others may rewrite with `{.mapped = false}`, where it is an error
  /// (`truncated`).
  virtual Block view(std::uint64_t offset, std::uint64_t size) const;
  /// Whether `view` gives the bytes in place, without reading or copying them.
  virtual bool in_memory() const noexcept { return false; }
  /// Tells the system that the bytes will not be looked at again soon, so that it may take their
  /// pages back. Never changes what is read.
  virtual void release(std::uint64_t offset, std::uint64_t size) const noexcept;

 protected:
  explicit Source(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

using SourcePtr = std::shared_ptr<const Source>;

struct FileOptions {
  /// Map the file instead of reading it. Empty files, and files that cannot be mapped, are read.
  bool mapped = true;
};

/// Opens a regular file. Errors: `not_found`; `io` for anything else that the system refuses, and
/// for what is no regular file (a folder, a pipe, a device).
SourcePtr open_file(const std::string& path, const FileOptions& options = {});

struct StreamOptions {
  /// The stream may have so many bytes; 0: half of the machine's memory.
  std::uint64_t max_size = 0;
  /// Is shown the first MiB, or all where there is less. Where it says no, nothing more is read,
  /// and the source has those bytes only.
  std::function<bool(const Source&)> wants_more{};
};

/// Reads a pipe, or whatever else a descriptor leads to, from where it stands to its end, into
/// memory. The descriptor stays open. Errors: `io`; `limit` for a stream that is too long.
SourcePtr read_stream(int descriptor, std::string name, const StreamOptions& options = {});

/// Bytes that the caller keeps alive and unchanged as long as anything made from the source lives.
SourcePtr borrow_memory(std::span<const std::byte> bytes, std::string name = "memory");

/// Bytes that the source keeps.
SourcePtr own_memory(Block block, std::string name = "memory");

/// A part of another source, counted from `offset`: a checkpoint inside a larger file.
/// Error: `truncated` where the part ends past the whole.
SourcePtr slice(SourcePtr whole, std::uint64_t offset, std::uint64_t size, std::string name);

/// Bytes done of bytes in all, told now and then from the thread that called the operation.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};
using ProgressCallback = std::function<void(const Progress&)>;

/// Takes bytes once: in order by `write`, or each at its place by `write_at`, never both. What they
/// become counts only after `commit`.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// Appends. Errors: `io`, `no_space`; `truncated` where `bytes` are of a mapped file that another
  /// process has truncated.
  virtual void write(std::span<const std::byte> bytes) = 0;
  /// Whether `write_at` may be called.
  virtual bool writes_anywhere() const noexcept { return false; }
  /// Puts bytes at an offset. Safe from many threads at once for bytes that do not overlap. What
  /// nobody writes before the last byte reads as zeros. Errors: as `write`.
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Makes what was written the result. Call once, last. False where all is done but one thing: the
  /// folder could not be flushed, so that a crash might still take the file's new name. Errors:
  /// `io`, `no_space`, `exists`.
  virtual bool commit() = 0;
};

/// What has reached the disk when `commit` returns.
enum class Durability : std::uint8_t {
  none,  ///< whatever the system has written by itself
  file,  ///< the file's bytes (fsync)
  full,  ///< the file's bytes and its name (fsync of file and folder)
};

struct FileSinkOptions {
  /// Replace an existing file, atomically; otherwise it is `exists`.
  bool overwrite = false;
  Durability durability = Durability::full;
  /// At least so many bytes will be written: where they have no room that is known at once
  /// (`no_space`). 0 where nobody knows.
  std::uint64_t expected_size = 0;
};

/// Writes a new file in the folder of `path`, which takes that name at `commit`. An existing file
/// keeps its content until then, whatever fails; afterwards the new one has its permissions and,
/// where the system permits, its owner. A symbolic link stays one. The new file has no name before
/// `commit`, so that a process that ends leaves nothing. Killed by SIGKILL in the very moment of
/// renaming, or on file systems without such files (O_TMPFILE), it leaves `.NAME.` and sixteen
/// hexadecimal digits.
///
/// A pipe, a character device and what a descriptor leads to (/dev/stdout) are written directly:
/// what was written stays there without `commit`. A write to a pipe that nobody reads raises
/// SIGPIPE, and one past the process's bound on file sizes SIGXFSZ, unless the program ignores
/// these; then they are `io`. The library never changes what a signal does;
/// `commit` keeps signals from its thread for the moment of renaming.
std::unique_ptr<Sink> create_file(const std::string& path, const FileSinkOptions& options = {});

/// Appends to `out`, which must outlive the sink; `commit` does nothing.
std::unique_ptr<Sink> append_to(std::vector<std::byte>& out);

}  // namespace flambeau
