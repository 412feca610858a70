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
Pickle read_pickle(const ArchiveReader& archive, std::string_view name,
                   const LoadOptions& options) {
  const auto index = archive.find(name);
  if (!index) {
    fail(ErrorCode::malformed_zip, {}, "there is no record {}/{}", archive.folder(), name);
  }
  const Record record = archive.record(*index);
  if (record.size > options.limits.max_pickle_size) {
    fail(ErrorCode::limit, {record.name}, "{} bytes, the limit is {}", record.size,
         options.limits.max_pickle_size);
  }
  return {archive.read(*index, options.verify), std::string(record.name)};
}

/// What comes behind the pickle in its record, and the record's name.
void note_record(const Document& document, std::uint64_t record_size, const std::string& name,
                 std::vector<Note>& notes) {
  if (document.source_size() < record_size) {
    notes.push_back({Note::Severity::ambiguity, name,
                     std::to_string(record_size - document.source_size()) +
                         " bytes follow the end of the pickle"});
  }
  if (!name.ends_with("/data.pkl") && !name.ends_with("/constants.pkl")) {
    notes.push_back({Note::Severity::ambiguity, name, "found under a name in other letters"});
  }
}

/// Loads the pickles of one archive.
class ZipLoad {
 public:
  ZipLoad(ArchiveReader archive, const LoadOptions& options) : options_(options) {
    loaded_.version = read_version(archive, options.verify);
    loaded_.byteorder = read_byteorder(archive, options.verify);
    const Pickle pickle = read_pickle(archive, "data.pkl", options);
    loaded_.zip = std::make_shared<ZipStorages>(
        std::move(archive), pickle.block,
        ZipStorageOptions{.verify = options.verify, .limits = options.limits});
    loaded_.graph = load(pickle, "data/");
  }

  /// One more pickle, whose storages stand in a folder of their own.
  void add(std::string_view name, std::string_view folder, std::string_view prefix) {
    const Pickle pickle = read_pickle(loaded_.zip->archive(), name, options_);
    loaded_.more.push_back({std::string(name), std::string(prefix), load(pickle, folder)});
  }

  Loaded finish() {
    loaded_.zip->finish();
    if (options_.strict) refuse_ambiguities(loaded_.notes);
    return std::move(loaded_);
  }

 private:
  std::shared_ptr<const Graph> load(const Pickle& pickle, std::string_view folder) {
    Document document = with_context(pickle.name, [&] {
      return parse_pickle(pickle.block.bytes, {.limits = options_.limits,
                                               .where = {},
                                               .owner = pickle.block.owner,
                                               .memory = page_memory()});
    });
    note_record(document, pickle.block.bytes.size(), pickle.name, loaded_.notes);
    note_pickle(document, pickle.name, loaded_.notes);
    ZipResolver resolver(loaded_.zip, folder,
                         {.map_location = &options_.map_location,
                          .devices = options_.devices,
                          .where = pickle.name});
    const bool host_is_little = std::endian::native == std::endian::little;
    GraphBuilder builder(std::move(document), loaded_.zip, resolver,
                         {.limits = options_.limits,
                          .encoding = options_.encoding,
                          .where = pickle.name,
                          .pickle = pickle.block.bytes,
                          .swapped = (loaded_.byteorder == "little") != host_is_little,
                          .memory = page_memory()});
    auto graph = builder.build();
    for (Note& note : resolver.take_notes()) loaded_.notes.push_back(std::move(note));
    return graph;
  }

  const LoadOptions& options_;
  Loaded loaded_;
};

}  // namespace

Loaded load_zip(ArchiveReader archive, const LoadOptions& options) {
  return ZipLoad(std::move(archive), options).finish();
}

Loaded load_script(ArchiveReader archive, const LoadOptions& options) {
  ZipLoad load(std::move(archive), options);
  load.add("constants.pkl", "constants/", "constants");
  return load.finish();
}

}  // namespace flambeau
