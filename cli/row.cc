// Rows are the bulk of what the program writes (a hundred thousand of them for a large model), so
// they go to the output directly: fixed text between numbers and strings, nothing allocated. Parts
// are written from a stack of levels, since a tensor of a class of its own may hold others.
#include "row.h"

#include <fmt/format.h>

#include <algorithm>

#include "json_writer.h"

namespace flambeau::cli {
namespace {

// Rows of parts in one document. Real tensors have at most five parts; a file could nest shared
// ones so that every level doubles them.
constexpr std::size_t kMostParts = 1'000'000;

void append_boolean(Output& out, bool value) { out.append(value ? "true" : "false"); }

// Whether the kind has a storage that strides and offset lead through.
bool has_view(TensorKind kind) noexcept {
  return kind == TensorKind::strided || kind == TensorKind::quantized || kind == TensorKind::meta;
}

bool has_parts(TensorKind kind) noexcept {
  return kind != TensorKind::strided && kind != TensorKind::meta;
}

}  // namespace

std::size_t RowWriter::write(const Tensor& tensor) {
  deepest_ = 0;
  out_.put('{');
  write_rest(tensor);
  return deepest_;
}

void RowWriter::write_named(std::string_view name, std::string_view path, const Tensor& tensor,
                            std::string_view record) {
  out_.append("{\"name\":");
  append_json_string(out_, name);
  out_.append(",\"path\":");
  append_json_string(out_, path);
  if (!record.empty()) {
    out_.append(",\"record\":");
    append_json_string(out_, record);
  }
  out_.put(',');
  write_rest(tensor);
}

std::optional<Error> RowWriter::error() const {
  if (part_count_ <= kMostParts) return std::nullopt;
  return Error(ErrorCode::limit, {}, std::nullopt,
               fmt::format("tensors inside tensors make over {} rows", kMostParts));
}

// The top level of the stack is the tensor whose parts are being written; its row is open, and so
// is its "parts".
void RowWriter::write_rest(const Tensor& tensor) {
  write_fields(tensor);
  if (!has_parts(tensor.kind())) return finish(tensor);
  levels_.push_back({&tensor, 0});
  while (!levels_.empty() && part_count_ <= kMostParts) {
    Level& level = levels_.back();
    const auto parts = level.tensor->parts();
    if (level.next_part == parts.size()) {
      out_.put('}');
      finish(*level.tensor);
      levels_.pop_back();
      continue;
    }
    if (level.next_part > 0) out_.put(',');
    const auto& [name, part] = parts[level.next_part++];
    append_json_string(out_, name);
    out_.append(":{");
    ++part_count_;
    write_fields(part);
    has_parts(part.kind()) ? levels_.push_back({&part, 0}) : finish(part);
  }
  levels_.clear();
}

void RowWriter::write_fields(const Tensor& tensor) {
  // The row and its lists of sizes, and for each level above it a row and its "parts".
  deepest_ = std::max(deepest_, 2 + 2 * levels_.size());
  out_.append("\"kind\":\"");
  out_.append(to_string(tensor.kind()));
  out_.append("\",\"dtype\":\"");
  out_.append(to_string(tensor.dtype()));
  out_.append("\",\"shape\":");
  tensor.has_shape() ? write_sizes(tensor.shape()) : out_.append("null");
  write_view(tensor);
  out_.append(",\"device\":");
  append_json_string(out_, tensor.device());
  out_.append(",\"requires_grad\":");
  append_boolean(out_, tensor.requires_grad());
  out_.append(",\"parameter\":");
  append_boolean(out_, tensor.is_parameter());
  out_.append(",\"numel\":");
  out_.number(tensor.numel());
  out_.append(",\"bytes\":");
  out_.number(tensor.nbytes());
  if (has_parts(tensor.kind())) write_kind_fields(tensor);
}

void RowWriter::write_view(const Tensor& tensor) {
  if (!has_view(tensor.kind())) {
    return out_.append(",\"stride\":null,\"offset\":null,\"storage\":null,\"storage_bytes\":null");
  }
  out_.append(",\"stride\":");
  write_sizes(tensor.strides());
  out_.append(",\"offset\":");
  out_.number(tensor.offset());
  write_storage(tensor);
}

void RowWriter::write_storage(const Tensor& tensor) {
  const Storage& storage = tensor.storage();
  if (!storage) return out_.append(",\"storage\":null,\"storage_bytes\":null");
  out_.append(",\"storage\":");
  append_json_string(out_, storage.key());
  out_.append(",\"storage_bytes\":");
  out_.number(storage.size());
}

// Ends with the opening of "parts".
void RowWriter::write_kind_fields(const Tensor& tensor) {
  if (const Quantizer* quantizer = tensor.quantizer()) write_quantizer(*quantizer);
  if (const auto is_coalesced = tensor.is_coalesced()) {
    out_.append(",\"is_coalesced\":");
    append_boolean(out_, *is_coalesced);
  }
  out_.append(",\"parts\":{");
}

// Per channel, scales and zero points are tensors and stand among the parts.
void RowWriter::write_quantizer(const Quantizer& quantizer) {
  out_.append(",\"scheme\":");
  append_json_string(out_, quantizer.scheme);
  if (quantizer.axis) {
    out_.append(",\"axis\":");
    return out_.number(*quantizer.axis);
  }
  out_.append(",\"scale\":");
  append_json_real(out_, quantizer.scale);
  out_.append(",\"zero_point\":");
  out_.number(quantizer.zero_point);
}

void RowWriter::write_sizes(std::span<const std::int64_t> sizes) {
  out_.put('[');
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) out_.put(',');
    out_.number(sizes[i]);
  }
  out_.put(']');
}

// The digest comes last: it is the only field that is there only when asked for.
void RowWriter::finish(const Tensor& tensor) {
  if (digests_ == nullptr) return out_.put('}');
  const std::optional<Sha256>& digest = digests_->of(tensor);
  if (!digest) return out_.append(",\"sha256\":null}");
  out_.append(",\"sha256\":\"");
  out_.append(to_string(*digest));
  out_.append("\"}");
}

}  // namespace flambeau::cli
