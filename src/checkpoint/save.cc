// Files that are saved again: `save` of a checkpoint, and drafts made of one.
#include "flambeau/save.h"

#include <charconv>
#include <memory>
#include <string>

#include "base/fail.h"
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

SavedForm form_of(const Loaded& loaded) {
  SavedForm form;
  if (loaded.zip == nullptr) {
    form.layout = Layout::legacy;
    form.stream = loaded.stream;
    return form;
  }
  const ArchiveReader& archive = loaded.zip->archive();
  form.layout = layout_of(archive);
  form.alignment = alignment_of(archive);
  form.folder = archive.folder();
  form.archive = &archive;
  form.is_big_endian = loaded.byteorder == "big";
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
GraphToSave graph_of(const Loaded& loaded, const SaveOptions& options, const SavedForm& form) {
  const Document& document = loaded.graph->document();
  const Layout layout = options.layout.value_or(form.layout);
  const bool keeps_keys = !options.layout || (layout == form.layout && layout == Layout::legacy);
  return {.document = document,
          .protocol = 0,
          .base = loaded.graph.get(),
          .renumber = !keeps_keys || layout == Layout::torch_2_7,
          .is_stream = layout == Layout::legacy,
          .limits = options.limits};
}

/// libtorch's archives have classes and code beside the graph, which nothing here could write.
const Loaded& loaded_to_save(const Checkpoint& checkpoint) {
  const Container container = checkpoint.container();
  if (container != Container::zip && container != Container::legacy) {
    fail(ErrorCode::unsupported, {}, "a file of the kind {} cannot be written again",
         to_string(container));
  }
  return checkpoint.state().loaded;
}

/// Into a path or a sink. Ids of the other kind of container are made with a draft's names.
template <typename Target>
SaveReport save_loaded(Target& target, const Checkpoint& checkpoint, const SaveOptions& options) {
  const Loaded& loaded = loaded_to_save(checkpoint);
  const SavedForm form = form_of(loaded);
  if (writes_stream(options, form) != (loaded.zip == nullptr)) {
    Draft draft(checkpoint);
    return save(target, draft, options);
  }
  return save_graph(target, graph_of(loaded, options, form), options, form);
}

}  // namespace

Draft::Draft(const Checkpoint& checkpoint)
    : state_(std::make_unique<State>(loaded_to_save(checkpoint).graph,
                                     form_of(checkpoint.state().loaded))) {}

SaveReport save(const std::string& path, const Checkpoint& checkpoint, const SaveOptions& options) {
  return save_loaded(path, checkpoint, options);
}

SaveReport save(Sink& sink, const Checkpoint& checkpoint, const SaveOptions& options) {
  return save_loaded(sink, checkpoint, options);
}

}  // namespace flambeau
