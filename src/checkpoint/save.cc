// Files that are saved again: `save` of a checkpoint, and drafts made of one.
#include "flambeau/save.h"

#include <charconv>
#include <memory>
#include <string>

#include "checkpoint/state.h"
#include "torch/save.h"

namespace flambeau {
namespace {

/// The alignment that the file states, else that of the releases which state none.
std::uint64_t alignment_of(const ArchiveReader& archive) {
  constexpr std::uint64_t kDefault = 64;
  constexpr std::uint64_t kLongest = 8;
  const auto record = archive.find(".storage_alignment");
  if (!record || archive.record(*record).size > kLongest) return kDefault;
  const Block block = archive.read(*record);
  const std::string_view text = as_text(block.bytes);
  std::uint64_t alignment = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), alignment);
  const bool is_number = code == std::errc() && end == text.data() + text.size();
  return is_number && alignment > 0 ? alignment : kDefault;
}

/// The newest trait decides, as for `producer_of`.
Layout layout_of(const ArchiveReader& archive) {
  if (archive.find(".format_version")) return Layout::torch_2_7;
  return archive.find(".data/serialization_id") ? Layout::torch_2_1 : Layout::torch_1_6;
}

SavedForm form_of(const LoadedZip& zip) {
  const ArchiveReader& archive = zip.storages->archive();
  SavedForm form;
  form.layout = layout_of(archive);
  form.alignment = alignment_of(archive);
  form.folder = archive.folder();
  form.archive = &archive;
  form.is_big_endian = zip.byteorder == "big";
  if (const auto pickle = archive.find("data.pkl")) {
    form.checksums = archive.record(*pickle).has_checksum();
  }
  const auto byteorder = archive.find("byteorder");
  const auto version = archive.find("version");
  if (version) form.version = as_text(archive.read(*version).bytes);
  form.byteorder_is_late = byteorder && version && *byteorder > *version;
  return form;
}

/// Keys stay what they are in files of the releases that did not count them, unless another layout
/// is asked for.
GraphToSave graph_of(const LoadedZip& zip, const SaveOptions& options, const SavedForm& form) {
  const Document& document = zip.graph->document();
  const Layout layout = options.layout.value_or(form.layout);
  return {.document = document,
          .protocol = 0,
          .base = zip.graph.get(),
          .renumber = options.layout.has_value() || layout == Layout::torch_2_7,
          .limits = options.limits};
}

}  // namespace

Draft::Draft(const Checkpoint& checkpoint)
    : state_(
          std::make_unique<State>(checkpoint.state().zip.graph, form_of(checkpoint.state().zip))) {}

SaveReport save(const std::string& path, const Checkpoint& checkpoint, const SaveOptions& options) {
  const LoadedZip& zip = checkpoint.state().zip;
  const SavedForm form = form_of(zip);
  return save_graph(path, graph_of(zip, options, form), options, form);
}

SaveReport save(Sink& sink, const Checkpoint& checkpoint, const SaveOptions& options) {
  const LoadedZip& zip = checkpoint.state().zip;
  const SavedForm form = form_of(zip);
  return save_graph(sink, graph_of(zip, options, form), options, form);
}

}  // namespace flambeau
