// Files of torch.save, put together in memory from a pickle and the bytes of storages.
//
//   CheckpointBuilder file(py::tensor());
//   file.storage("0", std::vector<float>{1, 2, 3, 4});
//   Checkpoint checkpoint = file.open();
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/checkpoint.h"
#include "support/pickle_builder.h"
#include "support/zip_builder.h"

namespace flambeau::testing {

class CheckpointBuilder {
 public:
  /// `value` is pickled by `py::dump`.
  explicit CheckpointBuilder(const py::Code& value) { record("data.pkl", py::dump(value)); }

  /// Adds a record or, where there is one of that name, gives it another content.
  CheckpointBuilder& record(std::string_view name, std::string content) {
    const std::string full = "archive/" + std::string(name);
    for (ZipRecord& each : records_) {
      if (each.name == full) return each.content = std::move(content), *this;
    }
    records_.push_back({.name = full, .content = std::move(content)});
    return *this;
  }
  CheckpointBuilder& storage(std::string_view key, std::string content) {
    return record("data/" + std::string(key), std::move(content));
  }
  template <typename T>
  CheckpointBuilder& storage(std::string_view key, const std::vector<T>& elements) {
    const void* start = elements.data();
    return storage(key, std::string(static_cast<const char*>(start), elements.size() * sizeof(T)));
  }
  CheckpointBuilder& byteorder(std::string order) { return record("byteorder", std::move(order)); }
  CheckpointBuilder& version(std::string text) {
    version_ = std::move(text);
    return *this;
  }
  CheckpointBuilder& without_version() { return version(""); }
  CheckpointBuilder& deflated() {
    for (ZipRecord& each : records_) each.deflate = true;
    return *this;
  }

  /// The archive, with the places of its records.
  BuiltZip zip(const ZipLayout& layout = {}) const {
    std::vector<ZipRecord> records = records_;
    if (!version_.empty()) records.push_back({.name = "archive/version", .content = version_});
    return build_zip(records, layout);
  }
  Checkpoint open(const OpenOptions& options = {}) const {
    return Checkpoint::open(zip().source(), options);
  }

 private:
  std::vector<ZipRecord> records_;
  std::string version_ = "3\n";
};

/// The loaded checkpoint of a value that no storage belongs to.
inline Checkpoint open_value(const py::Code& value, const OpenOptions& options = {}) {
  return CheckpointBuilder(value).open(options);
}

/// The loaded object where it is a tensor; and as a value, for use within one expression.
inline Tensor root_tensor(const Checkpoint& checkpoint) { return checkpoint.tensor(""); }
inline Value root_value(const Checkpoint& checkpoint) { return checkpoint.root(); }

/// The notes of a file, as "severity where: message".
inline std::vector<std::string> notes_of(const Checkpoint& checkpoint) {
  std::vector<std::string> notes;
  for (const Note& note : checkpoint.facts().notes) {
    const bool ambiguous = note.severity == Note::Severity::ambiguity;
    notes.push_back((ambiguous ? "ambiguity " : "information ") + note.where + ": " + note.message);
  }
  return notes;
}

}  // namespace flambeau::testing
