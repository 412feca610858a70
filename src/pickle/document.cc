// Copies of documents, and the ways to look at a Python 2 string.
#include "pickle/document.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.h"
#include "pickle/text_argument.h"

namespace flambeau {

Document::Document(const Document& base, std::shared_ptr<const void> owner)
    : node_count_(base.node_count_),
      extras_(base.extras_),
      globals_(base.globals_),
      large_texts_(base.large_texts_),
      source_owner_(std::move(owner)),
      root_(base.root_),
      source_size_(base.source_size_),
      protocol_(base.protocol_) {
  for (std::uint32_t first = 0; first < node_count_; first += kChunkSize) {
    const std::span<const Node> run = base.run_from(first);
    auto chunk = make_run<Node>(std::pmr::get_default_resource(), kChunkSize);
    std::copy(run.begin(), run.end(), chunk.get());
    // What room is left behind the items belongs to the base.
    for (Node& node : std::span(chunk.get(), run.size())) {
      const bool has_room =
          node.kind == NodeKind::list || node.kind == NodeKind::dict || node.kind == NodeKind::set;
      if (has_room) node.detail = 0;
    }
    nodes_.push_back(std::move(chunk));
  }
}

/// The names that unpicklers are given as `encoding`, of those that CPython's
/// Lib/encodings/aliases.py has. "bytes" is none of them: nothing is decoded then.
std::optional<std::string> decode_byte_string(std::string_view encoding, std::string_view bytes) {
  const auto is = [encoding](std::string_view name) { return equal_ignoring_case(encoding, name); };
  if (is("latin1") || is("latin-1") || is("iso-8859-1")) {
    std::string text;
    text.reserve(bytes.size());
    for (const char byte : bytes) append_utf8(text, static_cast<unsigned char>(byte));
    return text;
  }
  if (is("utf-8") || is("utf8")) {
    return is_strict_utf8(bytes) ? std::optional<std::string>(bytes) : std::nullopt;
  }
  if (is("ascii")) return is_ascii(bytes) ? std::optional<std::string>(bytes) : std::nullopt;
  return std::nullopt;
}

}  // namespace flambeau
