// Five pickles, one behind the other, then for each storage its count of elements and the elements.
#include "torch/save_stream.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/endian.h"
#include "base/fail.h"
#include "flambeau/archive.h"
#include "pickle/document_builder.h"
#include "pickle/pickler.h"
#include "tensor/storage_table.h"

namespace flambeau {
namespace {

/// MAGIC_NUMBER of torch/serialization.py, little-endian.
constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::int64_t kVersion = 1001;
constexpr std::size_t kPiece = std::size_t{8} << 20;

/// A pickle of what `make` builds.
template <typename Make>
ByteBuffer pickled(int protocol, Make make) {
  const CurrentStep step;
  DocumentBuilder builder({}, step);
  const Ref root = make(builder);
  return write_pickle(builder.seal(root, protocol), {.protocol = protocol});
}

/// `sys_info`, which readers pass over.
Ref system_facts(DocumentBuilder& builder) {
  const auto text = [&](std::string_view name) {
    return builder.add_decoded_text(NodeKind::string, name);
  };
  const Ref sizes = builder.add_empty(NodeKind::dict);
  const Ref size_pairs[] = {text("short"),          builder.add_integer(2), text("int"),
                            builder.add_integer(4), text("long"),           builder.add_integer(4)};
  builder.set_items(sizes, size_pairs);
  const Ref facts = builder.add_empty(NodeKind::dict);
  const Ref pairs[] = {text("protocol_version"), builder.add_integer(kVersion),
                       text("little_endian"),    boolean_ref(true),
                       text("type_sizes"),       sizes};
  builder.set_items(facts, pairs);
  return facts;
}

/// Whether a file's list of keys is this one.
bool is_list_of(const Document& document, const std::vector<std::string>& keys) {
  if (!document.is(document.root(), NodeKind::list)) return false;
  const auto items = document.items(document.root());
  return std::equal(items.begin(), items.end(), keys.begin(), keys.end(),
                    [&](Ref item, const std::string& key) { return document.text(item) == key; });
}

}  // namespace

StreamPlan::StreamPlan(const GraphToSave& graph, const SaveOptions& options, const SavedForm& form)
    : options_(options), graph_(options.compact ? compact_.emplace(graph).graph() : graph) {
  if (options.alignment || options.checksums || options.folder) {
    fail(ErrorCode::usage, {}, "a stream has no alignment, no checksums and no folder");
  }
  if (form.is_big_endian) {
    fail(ErrorCode::unsupported, {}, "streams are little-endian, and the elements are not");
  }
  if (compact_) report_.bytes_left_out = compact_->bytes_left_out();
  add_head(graph, form);
  add_keys(graph, form);
  for (const ByteBuffer& pickle : head_) size_ += pickle.bytes().size();
  size_ += graph_.pickle().size() + keys_.bytes().size();
  for (const std::size_t index : order_) {
    size_ += sizeof(std::int64_t) + graph_.storage(index).size();
  }
}

void StreamPlan::add_head(const GraphToSave& graph, const SavedForm& form) {
  if (form.stream != nullptr) {
    for (const Document& document : form.stream->head) head_.push_back(write_pickle(document));
    return;
  }
  const int protocol = graph.protocol > 0 ? graph.protocol : graph.document.protocol();
  head_.push_back(
      pickled(protocol, [](auto& builder) { return builder.add_decoded_long(kMagic); }));
  head_.push_back(pickled(protocol, [](auto& builder) { return builder.add_integer(kVersion); }));
  head_.push_back(pickled(protocol, system_facts));
}

/// Sorted as texts; of a file's own keys the strings that it has for them.
void StreamPlan::add_keys(const GraphToSave& graph, const SavedForm& form) {
  order_.resize(graph_.storage_count());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::vector<std::string> keys;
  for (const std::size_t index : order_) keys.push_back(graph_.key(index));
  std::sort(order_.begin(), order_.end(),
            [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::sort(keys.begin(), keys.end());
  if (form.stream != nullptr && is_list_of(form.stream->keys[0], keys)) {
    keys_ = write_pickle(form.stream->keys[0]);
    return;
  }
  const int protocol = graph.protocol > 0 ? graph.protocol : graph.document.protocol();
  keys_ = pickled(protocol, [&](DocumentBuilder& builder) {
    std::vector<Ref> items;
    for (const std::string& key : keys) {
      items.push_back(builder.add_decoded_text(NodeKind::string, key));
    }
    const Ref list = builder.add_empty(NodeKind::list);
    if (!items.empty()) builder.append(list, items);
    return list;
  });
}

void StreamPlan::write_piece(Sink& sink, Bytes bytes) {
  if (options_.stop.stop_requested()) {
    fail(ErrorCode::cancelled, {}, "the caller asked to stop");
  }
  sink.write(bytes);
  written_ += bytes.size();
  if (options_.progress) options_.progress({written_, size_});
}

/// What comes from an archive is compared with its checksum on the way.
void StreamPlan::write_storage(Sink& sink, std::size_t index) {
  const Storage& storage = graph_.storage(index);
  const StorageTable& table = *storage.table();
  const std::uint32_t place = storage.index();
  std::byte count[sizeof(std::uint64_t)];
  store_le(count, storage.size() / item_size(graph_.dtype(index)));
  write_piece(sink, count);
  const bool in_place = table.is_in_place(place);
  const bool has_checksum = table.has_checksum(place);
  std::vector<std::byte> buffer;
  std::uint32_t crc = 0;
  for (std::uint64_t at = 0; at < storage.size();) {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, storage.size() - at));
    Bytes piece;
    if (in_place) {
      piece = table.bytes(place).subspan(static_cast<std::size_t>(at), size);
    } else {
      buffer.resize(size);
      table.copy_to(place, at, buffer);
      piece = buffer;
    }
    if (has_checksum) crc = crc32(piece, crc);
    write_piece(sink, piece);
    at += size;
  }
  if (has_checksum) table.check(place, crc);
  ++report_.storage_count;
  report_.storage_bytes += storage.size();
}

SaveReport StreamPlan::write(Sink& sink) {
  report_.size = size_;
  for (const ByteBuffer& pickle : head_) write_piece(sink, pickle.bytes());
  write_piece(sink, graph_.pickle());
  write_piece(sink, keys_.bytes());
  for (const std::size_t index : order_) write_storage(sink, index);
  report_.durable = sink.commit();
  return report_;
}

}  // namespace flambeau
