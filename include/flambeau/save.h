// Files that torch.load reads, byte for byte as torch.save writes them.
//
//   flambeau::StateDict state;
//   state.add("layer1.weight", flambeau::Tensor::borrow<float>(weights, {256, 784}))
//        .add("layer1.bias", flambeau::Tensor::borrow<float>(biases, {256}));
//   flambeau::save("out.pt", state);
//
// A file appears whole or not at all: it is written beside its target and renamed. See `io.h`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "flambeau/draft.h"
#include "flambeau/io.h"
#include "flambeau/limits.h"
#include "flambeau/tensor.h"

namespace flambeau {

class Checkpoint;

/// The order and choice of records in the archive, by the releases of PyTorch that write it; or no
/// archive.
enum class Layout : std::uint8_t {
  legacy,     ///< before 1.6: a stream of pickles, without checksums
  torch_1_6,  ///< 1.6 to 2.0: data.pkl, storages by the text of their keys, version
  torch_2_1,  ///< 2.1 to 2.6: with byteorder and serialization_id
  torch_2_7,  ///< 2.7 on: with .format_version and .storage_alignment, storages as they are met
};
/// "torch_2_7". The text lives forever.
std::string_view to_string(Layout layout) noexcept;

/// What is left unset is as `torch.save` has it; for a file that is saved again, as the file has
/// it.
struct SaveOptions {
  std::optional<Layout> layout{};
  // The next three are for archives; `usage` where a stream is to be written.
  /// Of every record's data, in bytes: 1 to 65,536. PyTorch's default is 64.
  std::optional<std::uint64_t> alignment{};
  /// Whether records get a CRC-32.
  std::optional<bool> checksums{};
  /// The folder that all records stand in. Unset for a new file: the name of the file without its
  /// folder and its last extension, or "archive" where that is not ASCII or there is no file.
  std::optional<std::string> folder{};
  /// Cut each storage to the bytes that its tensors reach. Tensors that share one still do.
  bool compact = false;
  /// Replace an existing file; otherwise it is `exists`.
  bool overwrite = true;
  Durability durability = Durability::full;
  /// 0: as many as the machine has cores, at most 8.
  unsigned threads = 0;
  /// Told from the calling thread.
  ProgressCallback progress{};
  /// A request to stop ends the save with `cancelled`, and leaves no file.
  std::stop_token stop{};
  Limits limits{};
};

/// What a save has done.
struct SaveReport {
  /// Of the file.
  std::uint64_t size = 0;
  std::uint64_t storage_count = 0;
  std::uint64_t storage_bytes = 0;
  /// Bytes of storages that `compact` left out.
  std::uint64_t bytes_left_out = 0;
  /// What `Sink::commit` gave: false where the file's name might not outlive a crash.
  bool durable = true;
};

/// Named tensors, saved as a `collections.OrderedDict`, which is what `module.state_dict()` gives.
class StateDict {
 public:
  StateDict();
  /// Adds an entry, or replaces the one of that name at its place. What the tensor borrows must
  /// live until the state is saved. Errors: as `Draft::tensor`.
  StateDict& add(std::string_view name, const Tensor& tensor);
  std::size_t size() const { return root_.size(); }

  /// The graph, to be enriched: attributes of the OrderedDict, more objects around it.
  Draft& draft() noexcept { return *draft_; }
  const Draft& draft() const noexcept { return *draft_; }
  /// The OrderedDict in it.
  Object root() const noexcept { return root_; }

 private:
  std::unique_ptr<Draft> draft_;
  Object root_;
};

/// Writes a file. Errors: `usage` for options out of range, for a storage that holds elements of
/// two types, and for a path without a name; `exists`; `no_space`; `io`; `cancelled`; those of
/// reading storages of other files, `checksum` among them.
SaveReport save(const std::string& path, Draft& draft, const SaveOptions& options = {});
SaveReport save(const std::string& path, StateDict& state, const SaveOptions& options = {});
/// What a file holds, decoded to its graph and written again: the same bytes where PyTorch wrote
/// the file and nothing else is asked for.
SaveReport save(const std::string& path, const Checkpoint& checkpoint,
                const SaveOptions& options = {});

/// The same into any sink, which is committed. `overwrite` and `durability` are the sink's.
SaveReport save(Sink& sink, Draft& draft, const SaveOptions& options = {});
SaveReport save(Sink& sink, StateDict& state, const SaveOptions& options = {});
SaveReport save(Sink& sink, const Checkpoint& checkpoint, const SaveOptions& options = {});

}  // namespace flambeau
