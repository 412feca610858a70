// The order of PyTorch's own loader: byte order, then the pickle, with storages met on the way. No
// storage is read. `version` is checked as caffe2/serialize/inline_container.cc does; the records
// `.format_version`, `.storage_alignment` and the serialization id are not needed: places always
// come from the records' headers.
#include "torch/zip_loader.h"

#include <bit>
#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "io/pages.h"
#include "torch/zip_resolver.h"

namespace flambeau {
namespace {

constexpr std::uint64_t kLongestSmallRecord = 1 << 16;

/// Content of a short text record, empty where there is none.
std::string small_record(const ArchiveReader& archive, std::string_view name, bool verify) {
  const auto index = archive.find(name);
  if (!index) return {};
  const Record record = archive.record(*index);
  if (record.size > kLongestSmallRecord) {
    fail(ErrorCode::malformed_zip, {record.name}, "{} bytes, at most {} are expected", record.size,
         kLongestSmallRecord);
  }
  return std::string(as_text(archive.read(*index, verify).bytes));
}

std::string read_byteorder(const ArchiveReader& archive, bool verify) {
  if (!archive.find("byteorder")) return "little";
  std::string order = small_record(archive, "byteorder", verify);
  if (order != "little" && order != "big") {
    fail(ErrorCode::malformed_zip, {"byteorder"}, "\"{}\" is neither \"little\" nor \"big\"",
         order.substr(0, 40));
  }
  return order;
}

/// Blanks before the digits and text behind them are let through, as `std::stoull` does there.
std::string read_version(const ArchiveReader& archive, bool verify) {
  constexpr std::uint64_t kOldest = 1;
  constexpr std::uint64_t kNewest = 10;  // kMaxSupportedFileFormatVersion
  const bool hidden = archive.find(".data/version").has_value();
  const std::string text = small_record(archive, hidden ? ".data/version" : "version", verify);
  const auto start = std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size());
  std::uint64_t version = 0;
  const auto [end, code] = std::from_chars(text.data() + start, text.data() + text.size(), version);
  if (code != std::errc()) {
    fail(ErrorCode::malformed_zip, {"version"}, "\"{}\" is no number", text.substr(0, 40));
  }
  if (version < kOldest || version > kNewest) {
    fail(ErrorCode::unsupported, {"version"}, "version {} of the format, {} to {} can be read",
         version, kOldest, kNewest);
  }
  return std::to_string(version);
}

struct Pickle {
  Block block;
  std::string name;
};

/// The size is bounded before the record is read or inflated.
Pickle read_pickle(const ArchiveReader& archive, const LoadOptions& options) {
  const auto index = archive.find("data.pkl");
  if (!index) {
    fail(ErrorCode::malformed_zip, {}, "there is no record {}/data.pkl", archive.folder());
  }
  const Record record = archive.record(*index);
  if (record.size > options.limits.max_pickle_size) {
    fail(ErrorCode::limit, {record.name}, "{} bytes, the limit is {}", record.size,
         options.limits.max_pickle_size);
  }
  return {archive.read(*index, options.verify), std::string(record.name)};
}

void note_pickle(const Document& document, std::uint64_t record_size, const std::string& name,
                 std::vector<Note>& notes) {
  using Severity = Note::Severity;
  if (document.source_size() < record_size) {
    notes.push_back({Severity::ambiguity, name,
                     std::to_string(record_size - document.source_size()) +
                         " bytes follow the end of the pickle"});
  }
  if (!name.ends_with("/data.pkl")) {
    notes.push_back({Severity::ambiguity, name, "found under a name in other letters"});
  }
  if (document.left_on_stack() > 0) {
    notes.push_back({Severity::information, name, "values are left on the stack at the end"});
  }
  if (document.duplicate_keys() > 0) {
    notes.push_back({Severity::ambiguity, name,
                     "dicts in which a key is set more than once, where the last value counts: " +
                         std::to_string(document.duplicate_keys())});
  }
}

/// Strict mode: the first ambiguity is the error.
void refuse_ambiguities(const std::vector<Note>& notes) {
  for (const Note& note : notes) {
    if (note.severity == Note::Severity::ambiguity) {
      fail(ErrorCode::ambiguous, {note.where}, "{}", note.message);
    }
  }
}

}  // namespace

LoadedZip load_zip(ArchiveReader archive, const LoadOptions& options) {
  LoadedZip loaded;
  loaded.version = read_version(archive, options.verify);
  loaded.byteorder = read_byteorder(archive, options.verify);
  const Pickle pickle = read_pickle(archive, options);
  Document document = with_context(pickle.name, [&] {
    return parse_pickle(pickle.block.bytes, {.limits = options.limits,
                                             .where = {},
                                             .owner = pickle.block.owner,
                                             .memory = page_memory()});
  });
  note_pickle(document, pickle.block.bytes.size(), pickle.name, loaded.notes);
  loaded.storages = std::make_shared<ZipStorages>(
      std::move(archive), pickle.block,
      ZipStorageOptions{.verify = options.verify, .limits = options.limits});
  ZipResolver resolver(
      loaded.storages,
      {.map_location = &options.map_location, .devices = options.devices, .where = pickle.name});
  const bool host_is_little = std::endian::native == std::endian::little;
  GraphBuilder builder(std::move(document), loaded.storages, resolver,
                       {.limits = options.limits,
                        .encoding = options.encoding,
                        .where = pickle.name,
                        .pickle = pickle.block.bytes,
                        .swapped = (loaded.byteorder == "little") != host_is_little,
                        .memory = page_memory()});
  loaded.graph = builder.build();
  loaded.storages->finish();
  for (Note& note : resolver.take_notes()) loaded.notes.push_back(std::move(note));
  if (options.strict) refuse_ambiguities(loaded.notes);
  return loaded;
}

}  // namespace flambeau
