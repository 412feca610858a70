// The front door: any checkpoint file as named tensors and a graph of values.
//
//   auto ckpt = flambeau::Checkpoint::open("model.pt");            // mapped; nothing copied
//   for (const auto& [name, tensor] : ckpt.tensors())
//     fmt::print("{:<40} {:<8} {}\n", name, to_string(tensor.dtype()),
//                flambeau::to_string(tensor.shape()));
//   std::span<const float> w = ckpt.tensor("layer1.weight").as<float>();
//   if (const flambeau::Tensor* ema = ckpt.find("ema.weight")) use(*ema);
//
// Views of elements live as long as any tensor of the file; names, values and references to
// tensors as long as the checkpoint. Const use from many threads is safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive.h"
#include "flambeau/devices.h"
#include "flambeau/error.h"
#include "flambeau/io.h"
#include "flambeau/limits.h"
#include "flambeau/tensor.h"
#include "flambeau/value.h"

namespace flambeau {

struct OpenOptions {
  Limits limits{};
  /// Map the file; otherwise read what is asked for. See `Source::view` about mapped files.
  bool mapped = true;
  /// Check checksums of whatever is copied or digested.
  bool verify = true;
  /// Refuse (code `ambiguous`) what PyTorch accepts but two readers could see differently: every
  /// note of severity `ambiguity` that `facts` gives. Costs a look at each record of the file.
  bool strict = false;
  /// Of Python 2 byte strings: "utf-8", "ascii", "latin1", or "bytes" to leave them bytes.
  std::string encoding = "utf-8";
  MapLocation map_location{};
  /// Backends that restore storages to devices; the caller keeps it during `open`.
  const DeviceRegistry* devices = nullptr;
};

/// The kinds of files, spelled as the command line spells them.
enum class Container : std::uint8_t {
  zip,     ///< torch.save since 1.4
  legacy,  ///< torch.save before 1.6, and since then where it is asked for: a stream of pickles
  torchscript,  ///< torch.jit.save
  lite,         ///< the same with bytecode, for mobile devices
  torch_cpp,    ///< torch::save of libtorch
  pt2,          ///< torch.export: weights and constants
  safetensors,
  sharded,  ///< a folder of shards, or their index
};
std::string_view to_string(Container container) noexcept;

/// Whether the source begins as a zip archive does, which may hold any kind of checkpoint: what
/// `Checkpoint::open` looks at first. Error: `io`.
bool is_archive(const Source& source);
/// Whether it begins as a stream of the format before 1.6 does. Error: `io`.
bool is_stream(const Source& source);
/// Whether the first bytes are those of a file that `Checkpoint::open` reads. Error: `io`.
bool may_be_checkpoint(const Source& source);

/// Facts about the file as a whole.
struct FileFacts {
  Container container = Container::zip;
  /// Which releases write this layout: "torch >= 2.7".
  std::string producer;
  /// "little" or "big": of the record `byteorder`, little where there is none.
  std::string byteorder;
  /// Content of the version record, such as "3".
  std::string version;
  /// Largest power of two that divides the place of every storage's data; 0 where there is none.
  std::uint64_t alignment = 0;
  std::uint64_t file_size = 0;
  std::uint64_t record_count = 0;
  /// Bytes of the storages' records.
  std::uint64_t storage_bytes = 0;
  std::uint64_t storage_count = 0;
  /// Storages in the file that no tensor of the listing reaches, and their bytes; where storages
  /// were restored by `map_location` or `devices`, those that the pickle does not name.
  std::uint64_t unreached_storages = 0;
  std::uint64_t unreached_bytes = 0;
  /// Whether every storage's record has a CRC-32.
  bool has_checksums = true;
  /// The highest protocol that the pickle states or that one of its opcodes needs.
  int pickle_protocol = 0;
  std::vector<Note> notes;
};

struct ReadOptions {
  /// 0: as many as the machine has cores, at most 8.
  unsigned threads = 0;
  /// Check checksums of what is copied as it lies in the file. Elements that are inflated or
  /// rearranged are checked whatever this says, and nothing is where `OpenOptions::verify` was off.
  bool verify = true;
  /// Told from the calling thread.
  ProgressCallback progress{};
  /// A request to stop ends the read with `cancelled`; the buffers then hold anything.
  std::stop_token stop{};
};

/// A tensor and the caller's memory for its elements (exactly `nbytes()` bytes).
struct ReadRequest {
  Tensor tensor;
  std::span<std::byte> out;
};

/// Fills all buffers, in parallel, strides resolved, in native byte order.
/// Errors: as `Tensor::copy_to`; `cancelled`.
void read_tensors(std::span<const ReadRequest> requests, const ReadOptions& options = {});
/// The same into one new allocation, which the tensors given back share: contiguous, in the order
/// of `tensors`, each aligned to 64 bytes. Tensors that share a storage each get their own copy.
std::vector<Tensor> read_tensors(std::span<const Tensor> tensors, const ReadOptions& options = {});

/// Whether a shell-style glob selects a name: `*` takes any characters, dots too, `?` one, `[a-z]`
/// and `[!a-z]` one of a set. Names may hold brackets, so a name selects itself as well.
bool name_matches(std::string_view pattern, std::string_view name) noexcept;

/// One open file. After a move only destruction and assignment are allowed.
class Checkpoint {
 public:
  /// Opens a file by its content, whatever its name. All-or-nothing: every number that a view of
  /// the file's bytes depends on has been checked when it returns.
  /// Errors: `not_found`, `io`; `not_a_checkpoint`, naming what the file is instead; `truncated`
  /// and `malformed_…` for damage; `unsupported`, `limit`; `ambiguous` when strict.
  /// A folder of shards, or their index (`NAME.index.json`), opens like one file.
  static Checkpoint open(const std::string& path, const OpenOptions& options = {});
  static Checkpoint open(SourcePtr source, const OpenOptions& options = {});
  /// Bytes that the caller keeps alive and unchanged as long as anything made from them lives.
  static Checkpoint from_memory(std::span<const std::byte> bytes, const OpenOptions& options = {});

  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  /// One entry for each path that leads to a tensor, in the order in which the pickle first meets
  /// them. A tensor with two names is two entries of one storage.
  std::span<const NamedTensor> tensors() const& noexcept;
  std::span<const NamedTensor> tensors() const&& = delete;
  /// The Python expression that leads to entry `index` from the loaded object: `['model']['w'][0]`.
  std::string path(std::size_t index) const;
  /// The record whose pickle holds entry `index`, where that is not the object's own:
  /// "constants.pkl" of TorchScript archives, whose entries follow the object's.
  std::string_view record(std::size_t index) const noexcept;
  /// Whether containers were entered once instead of at every path, because shared containers in
  /// shared containers would have multiplied past 1,000,000 + 16 × nodes visits, or names and rows
  /// past 256 MiB and 64 times the pickle.
  bool first_paths_only() const noexcept;

  /// The tensor of that name or path, in constant time: the first question makes an index of the
  /// names. Errors: `not_found`; `ambiguous` for a name that several paths share, which the message
  /// lists.
  const Tensor& tensor(std::string_view name) const&;
  const Tensor& tensor(std::string_view name) const&& = delete;
  /// The same, null where there is none. Error: `ambiguous`.
  const Tensor* find(std::string_view name) const&;
  const Tensor* find(std::string_view name) const&& = delete;

  /// The loaded object.
  Value root() const& noexcept;
  Value root() const&& = delete;
  /// The value at a path (`['config']['lr']`, `.attr`, `[0]`) or at a dotted name of keys
  /// (`config.lr`); null where there is none. Searches the containers on the way, without an index.
  /// Error: `ambiguous`.
  Value value(std::string_view name_or_path) const&;
  Value value(std::string_view name_or_path) const&& = delete;
  /// The path that leads to what `value` gives; empty for the root, and where there is nothing.
  /// Error: `ambiguous`.
  std::string value_path(std::string_view name_or_path) const;

  /// Texts that a safetensors file has beside its tensors; of other files none.
  std::span<const std::pair<std::string, std::string>> metadata() const& noexcept;
  std::span<const std::pair<std::string, std::string>> metadata() const&& = delete;
  /// What the file is, computed when asked for; reads the records' local headers. A record that
  /// cannot be found is a note. Error: `io`.
  FileFacts facts() const;
  Container container() const noexcept;
  /// Which releases write this layout: "torch >= 2.7".
  std::string_view producer() const noexcept;
  std::string_view byteorder() const noexcept;
  const SourcePtr& source() const noexcept;

  struct State;
  /// For the library's own use.
  const State& state() const noexcept { return *state_; }

 private:
  explicit Checkpoint(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace flambeau
