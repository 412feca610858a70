// Nothing in a stream says where its parts begin: each pickle ends with STOP, and each storage's
// size is known from the pickles.
#include "torch/stream_loader.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/endian.h"
#include "base/fail.h"
#include "io/pages.h"
#include "pickle/vm.h"
#include "torch/stream_resolver.h"

namespace flambeau {
namespace {

constexpr std::string_view kObject = "object";
constexpr std::string_view kKeys = "storage keys";

/// MAGIC_NUMBER of torch/serialization.py, little-endian.
constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::int64_t kVersion = 1001;

/// The pickles at the start of a source, one after the other.
class PickleRun {
 public:
  PickleRun(Block block, const LoadOptions& options)
      : block_(std::move(block)), options_(options) {}

  Document next(std::string_view name) {
    const Bytes rest = block_.bytes.subspan(static_cast<std::size_t>(at_));
    Document document = with_context(name, [&] {
      return parse_pickle(
          rest,
          {.limits = options_.limits, .where = {}, .owner = block_.owner, .memory = page_memory()});
    });
    last_ = rest.first(static_cast<std::size_t>(document.source_size()));
    at_ += document.source_size();
    return document;
  }
  /// The bytes of the pickle that was read last, and where it ends.
  Bytes last() const noexcept { return last_; }
  std::uint64_t position() const noexcept { return at_; }
  const std::shared_ptr<const void>& owner() const noexcept { return block_.owner; }

 private:
  Block block_;
  const LoadOptions& options_;
  Bytes last_;
  std::uint64_t at_ = 0;
};

void check_head(const Document& magic, const Document& version) {
  const Ref number = magic.root();
  if (!magic.is(number, NodeKind::big_integer) || magic.text(number) != kMagic) {
    fail(ErrorCode::malformed_pickle, {}, "another magic number than that of torch.save");
  }
  if (!version.is(version.root(), NodeKind::integer) ||
      version.integer(version.root()) != kVersion) {
    fail(ErrorCode::unsupported, {}, "another version of the format than {}", kVersion);
  }
}

/// The texts of the list that says in which order the data comes.
std::vector<std::string_view> keys_of(const Document& document) {
  if (!document.is(document.root(), NodeKind::list)) {
    fail(ErrorCode::malformed_pickle, {kKeys}, "no list");
  }
  std::vector<std::string_view> keys;
  for (const Ref item : document.items(document.root())) {
    if (!document.is(item, NodeKind::string) && !document.is(item, NodeKind::byte_string)) {
      fail(ErrorCode::malformed_pickle, {kKeys}, "a key is no text");
    }
    keys.push_back(document.text(item));
  }
  return keys;
}

/// The storages' places: for each key a count of 8 bytes and the elements. Where they end.
std::uint64_t place_data(const Source& source, std::uint64_t at,
                         const std::vector<std::string_view>& keys, StreamResolver& resolver) {
  for (const std::string_view key : keys) {
    std::byte word[sizeof(std::int64_t)];
    source.read(at, word);
    const auto size = resolver.size_of(key).value_or(0);
    resolver.place(key, load_le<std::uint64_t>(word), at + sizeof word);
    at += sizeof word;
    if (!fits(at, size, source.size())) {
      fail(ErrorCode::truncated, {}, "the {} bytes of storage {} at {}, and the file has {}", size,
           key, at, source.size());
    }
    at += size;
  }
  return at;
}

/// Loads from the first bytes of the source, which hold all its pickles or are too few.
Loaded load_from(const Block& first, const SourcePtr& source, const LoadOptions& options) {
  Loaded loaded;
  auto frame = std::make_shared<StreamFrame>();
  PickleRun pickles(first, options);
  for (const std::string_view name : {"magic number", "version", "system"}) {
    frame->head.push_back(pickles.next(name));
  }
  check_head(frame->head[0], frame->head[1]);
  loaded.version = std::to_string(kVersion);
  Document object = pickles.next(kObject);
  const Bytes object_bytes = pickles.last();
  frame->keys.push_back(pickles.next(kKeys));
  note_pickle(object, std::string(kObject), loaded.notes);
  auto storages = std::make_shared<SourceStorages>(source, pickles.owner());
  StreamResolver resolver(
      object, storages,
      {.map_location = &options.map_location, .devices = options.devices, .where = kObject});
  const std::uint64_t end =
      place_data(*source, pickles.position(), keys_of(frame->keys[0]), resolver);
  resolver.finish();
  if (end < source->size()) {
    loaded.notes.push_back({Note::Severity::information,
                            {},
                            std::to_string(source->size() - end) + " bytes follow the stream"});
  }
  loaded.storages = storages;
  GraphBuilder builder(std::move(object), std::move(storages), resolver,
                       {.limits = options.limits,
                        .encoding = options.encoding,
                        .where = kObject,
                        .pickle = object_bytes,
                        .swapped = std::endian::native != std::endian::little,
                        .memory = page_memory()});
  loaded.graph = builder.build();
  loaded.stream = std::move(frame);
  for (Note& note : resolver.take_notes()) loaded.notes.push_back(std::move(note));
  if (options.strict) refuse_ambiguities(loaded.notes);
  return loaded;
}

}  // namespace

/// A source that is not in memory is read from its start, four times as far each time, until the
/// pickles are there.
Loaded load_stream(const SourcePtr& source, const LoadOptions& options) {
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 20;
  const std::uint64_t most = std::min(source->size(), options.limits.max_pickle_size);
  if (source->in_memory()) return load_from(source->view(0, most), source, options);
  for (std::uint64_t size = std::min(kFirst, most); size < most; size *= 4) {
    const Block first = source->view(0, std::min(size, most));
    if (auto loaded =
            unless(ErrorCode::truncated, [&] { return load_from(first, source, options); })) {
      return std::move(*loaded);
    }
  }
  return load_from(source->view(0, most), source, options);
}

}  // namespace flambeau
