#include "checkpoint/load_safetensors.h"

#include <bit>
#include <utility>

#include "base/fail.h"
#include "formats/safetensors_header.h"
#include "torch/restore.h"
#include "torch/table_graph.h"

namespace flambeau {

/// Each tensor has a storage of its own, whose key is the tensor's name.
Loaded load_safetensors(const SourcePtr& source, const LoadOptions& options) {
  auto header =
      std::make_shared<SafetensorsHeader>(read_safetensors_header(*source, options.limits));
  auto storages = std::make_shared<SourceStorages>(source, header);
  const RestoreRules rules{
      .map_location = &options.map_location, .devices = options.devices, .where = "header"};
  TableRows rows;
  rows.reserve(header->entries.size());
  for (const SafetensorsEntry& entry : header->entries) {
    SourceRow row;
    row.key = entry.name;
    row.size = entry.end - entry.begin;
    row.offset = header->data_offset + entry.begin;
    row.dtype = entry.dtype;
    row.device = storages->tags().ordinal(options.map_location.tag_for("cpu"));
    Storage storage(storages, storages->add(row));
    if (rules.is_set()) storage = restored_storage(storage, "cpu", rules);
    const auto strides = contiguous_strides(entry.shape);
    if (!strides) {
      fail(ErrorCode::malformed_tensor, {"header"}, "the shape of {} overflows", entry.name);
    }
    TensorRecord record;
    record.kind = storage ? TensorKind::strided : TensorKind::meta;
    record.dtype = entry.dtype;
    record.dimensions = Dimensions(entry.shape, *strides);
    record.storage = std::move(storage);
    record.is_byte_swapped =
        std::endian::native != std::endian::little && item_size(entry.dtype) > 1;
    rows.emplace_back(entry.name, std::move(record));
  }
  Loaded loaded;
  loaded.storages = storages;
  loaded.metadata = header->metadata;
  loaded.graph = make_table_graph(std::move(storages), std::move(rows), options.limits);
  return loaded;
}

}  // namespace flambeau
