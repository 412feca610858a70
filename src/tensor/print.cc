// `torch/_tensor_str.py: _str_intern` and `_add_suffixes`: what stands around the elements. A part
// of a tensor is printed by its elements alone, so nothing here recurses into what a file nests.
//
// Not followed: `grad_fn` and what else only a running program has. Tensors of a subclass, whose
// printing is up to their class, are listed by their parts.
#include <fmt/format.h>

#include "base/checked.h"
#include "tensor/elements.h"
#include "tensor/number_format.h"
#include "tensor/print_elements.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

/// A printed tensor before its suffixes are laid out.
struct Text {
  std::string prefix = "tensor(";
  std::string body;
  std::vector<std::string> suffixes;
  bool suffixes_on_new_line = false;
};

/// Puts the suffixes behind the body, each on the line where it fits.
std::string with_suffixes(const Text& text, int line_width) {
  std::string out = text.prefix + text.body;
  const std::size_t indent = text.prefix.size();
  const std::size_t last_line = out.rfind('\n');
  // One more than the columns of the last line, or two more for an only line: as PyTorch counts.
  std::size_t column = last_line == std::string::npos ? out.size() + 2 : out.size() - last_line + 1;
  bool force_new_line = text.suffixes_on_new_line;
  for (const std::string& suffix : text.suffixes) {
    const bool fits = column + suffix.size() + 2 <= static_cast<std::size_t>(line_width);
    if (force_new_line || !fits) {
      out.append(",\n").append(indent, ' ').append(suffix);
      column = indent + suffix.size();
      force_new_line = false;
    } else {
      out.append(", ").append(suffix);
      column += suffix.size() + 2;
    }
  }
  return out + ")";
}

/// Types that PyTorch does not name: the default ones, int64 and bool.
bool is_unnamed(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::c64 || dtype == DType::i64 ||
         dtype == DType::boolean;
}

std::string dtype_suffix(const Tensor& tensor) {
  return "dtype=torch." + std::string(to_string(tensor.dtype()));
}

std::string size_suffix(const Tensor& tensor) { return "size=" + python_tuple(tensor.shape()); }

void add_dtype(Text& text, const Tensor& tensor) {
  if (!is_unnamed(tensor.dtype())) text.suffixes.push_back(dtype_suffix(tensor));
}

/// The CPU is the default device, which goes unnamed.
void add_device(Text& text, const Tensor& tensor) {
  if (tensor.device() == "cpu") return;
  text.suffixes.push_back(fmt::format("device='{}'", tensor.device()));
}

/// A part that the kind must have.
const Tensor& part_of(const Tensor& tensor, std::string_view name) {
  const Tensor* part = tensor.find_part(name);
  if (!part) {
    fail(ErrorCode::malformed_tensor, {}, "a {} tensor has no {}", to_string(tensor.kind()), name);
  }
  return *part;
}

void describe_strided(Text& text, const Tensor& tensor, const PrintOptions& options) {
  text.body = elements_text(tensor, text.prefix.size(), options);
  if (tensor.numel() == 0) {
    if (tensor.ndim() != 1) text.suffixes.push_back(size_suffix(tensor));
    // No elements show the type of an empty tensor, so only the default one goes unnamed.
    if (tensor.dtype() != DType::f32) text.suffixes.push_back(dtype_suffix(tensor));
    return;
  }
  if (options.edge_items == 0) text.suffixes.push_back(size_suffix(tensor));
  add_dtype(text, tensor);
}

/// PyTorch names every type but the default one here, int64 and bool too.
void describe_meta(Text& text, const Tensor& tensor) {
  text.body = "...";
  text.suffixes.push_back(size_suffix(tensor));
  if (tensor.dtype() != DType::f32) text.suffixes.push_back(dtype_suffix(tensor));
}

/// A tensor with its suffixes, as scales and zero points stand inside another's.
std::string plain_text(const Tensor& tensor, const PrintOptions& options) {
  Text text;
  add_device(text, tensor);
  describe_strided(text, tensor, options);
  if (tensor.requires_grad()) text.suffixes.push_back("requires_grad=True");
  return with_suffixes(text, options.line_width);
}

/// Real numbers and the quantizer that they were made with.
void describe_quantized(Text& text, const Tensor& tensor, const PrintOptions& options) {
  text.body = elements_text(tensor, text.prefix.size(), options);
  text.suffixes.push_back(size_suffix(tensor));
  text.suffixes.push_back(dtype_suffix(tensor));
  const Quantizer* quantizer = tensor.quantizer();
  if (!quantizer) fail(ErrorCode::malformed_tensor, {}, "a quantized tensor has no quantizer");
  std::string scheme = "quantization_scheme=torch." + quantizer->scheme;
  if (!quantizer->axis) {
    text.suffixes.push_back(std::move(scheme));
    text.suffixes.push_back("scale=" + python_float(quantizer->scale));
    text.suffixes.push_back(fmt::format("zero_point={}", quantizer->zero_point));
    return;
  }
  const Tensor& scales = part_of(tensor, "scales");
  // Files have one name for two schemes; the type of the scales tells them apart.
  if (scales.dtype() == DType::f32) scheme += "_float_qparams";
  text.suffixes.push_back(std::move(scheme));
  text.suffixes.push_back("scale=" + plain_text(scales, options));
  text.suffixes.push_back("zero_point=" + plain_text(part_of(tensor, "zero_points"), options));
  text.suffixes.push_back(fmt::format("axis={}", *quantizer->axis));
}

/// `name=tensor([…])` of a sparse tensor's part.
std::string part_text(const Tensor& tensor, std::string_view name, std::size_t indent,
                      const PrintOptions& options) {
  const Tensor& part = part_of(tensor, name);
  std::string text = fmt::format("{}=tensor(", name);
  text += elements_text(part, indent + text.size(), options);
  if (part.numel() == 0) text += ", " + size_suffix(part);
  return text + ")";
}

struct SparseLayout {
  TensorKind kind;
  std::vector<std::string_view> parts;
  /// The part whose last dimension counts the stored elements.
  std::string_view counted;
};

const SparseLayout* sparse_layout(TensorKind kind) {
  static const SparseLayout kLayouts[] = {
      {TensorKind::sparse_coo, {"indices", "values"}, "indices"},
      {TensorKind::sparse_csr, {"crow_indices", "col_indices", "values"}, "col_indices"},
      {TensorKind::sparse_bsr, {"crow_indices", "col_indices", "values"}, "col_indices"},
      {TensorKind::sparse_csc, {"ccol_indices", "row_indices", "values"}, "row_indices"},
      {TensorKind::sparse_bsc, {"ccol_indices", "row_indices", "values"}, "row_indices"},
  };
  for (const SparseLayout& layout : kLayouts) {
    if (layout.kind == kind) return &layout;
  }
  return nullptr;
}

/// The parts below each other, then the suffixes; COO starts a line for them.
void describe_sparse(Text& text, const Tensor& tensor, const SparseLayout& layout,
                     const PrintOptions& options) {
  const std::size_t indent = text.prefix.size();
  for (const std::string_view name : layout.parts) {
    if (!text.body.empty()) text.body.append(",\n").append(indent, ' ');
    text.body += part_text(tensor, name, indent, options);
  }
  const auto counted = part_of(tensor, layout.counted).shape();
  text.suffixes.push_back(size_suffix(tensor));
  text.suffixes.push_back(fmt::format("nnz={}", counted.empty() ? 0 : counted.back()));
  add_dtype(text, tensor);
  text.suffixes.push_back(fmt::format("layout=torch.{}", to_string(tensor.kind())));
  text.suffixes_on_new_line = tensor.kind() == TensorKind::sparse_coo;
}

/// A component of a nested tensor: a view of its buffer.
Tensor nested_component(const Tensor& nested, std::span<const std::int64_t> sizes,
                        std::span<const std::int64_t> strides, std::int64_t offset) {
  const Tensor& buffer = part_of(nested, "buffer");
  TensorRecord record = buffer.record();
  record.dimensions = Dimensions(sizes, strides);
  record.offset = checked_add(record.offset, offset).value_or(-1);
  record.requires_grad = nested.requires_grad();
  check_view(record, buffer.storage().size(), {});
  return Tensor(std::make_shared<const TensorRecord>(std::move(record)));
}

/// Two blanks before every line, as components of a nested tensor stand.
std::string indented(std::string_view text) {
  std::string out = "  ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

/// The components as tensors of their own. Each is checked against the buffer, since the matrices
/// come from a file.
void describe_nested(Text& text, const Tensor& tensor, const PrintOptions& options) {
  const auto sizes = part_of(tensor, "sizes").to<std::int64_t>();
  const auto strides = part_of(tensor, "strides").to<std::int64_t>();
  const auto offsets = part_of(tensor, "storage_offsets").to<std::int64_t>();
  // Without components the sizes are a tensor of no dimension, whose one element means nothing.
  const std::size_t rank = offsets.empty() ? 0 : sizes.size() / offsets.size();
  const bool is_matrix = sizes.size() == rank * offsets.size() && strides.size() == sizes.size();
  if (!offsets.empty() && !is_matrix) {
    fail(ErrorCode::malformed_tensor, {}, "{} sizes, {} strides and {} offsets of a nested tensor",
         sizes.size(), strides.size(), offsets.size());
  }
  std::string components;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (i > 0) components += ",\n";
    const Tensor component =
        nested_component(tensor, std::span(sizes).subspan(i * rank, rank),
                         std::span(strides).subspan(i * rank, rank), offsets[i]);
    components += indented(plain_text(component, options));
  }
  text.body = "[\n" + components + "\n]";
}

/// A nested tensor of layout torch.jagged. PyTorch numbers the ragged sizes of a process (`j1`,
/// `j2`, …); here each is the first.
std::string jagged_text(const Tensor& tensor, const PrintOptions& options) {
  const Tensor& offsets = part_of(tensor, "offsets");
  const auto inner = part_of(tensor, "values").shape();
  std::string size = fmt::format("{}, j1", offsets.numel() - 1);
  for (std::size_t i = 1; i < inner.size(); ++i) size += fmt::format(", {}", inner[i]);
  return fmt::format("NestedTensor(size=({}), offsets={}{}, contiguous={})", size,
                     plain_text(offsets, options),
                     tensor.requires_grad() ? ", requires_grad=True" : "",
                     tensor.find_part("lengths") ? "False" : "True");
}

/// Not PyTorch's form: it would ask the class.
void describe_subclass(Text& text, const Tensor& tensor) {
  text.prefix = "subclass(";
  text.body = "...";
  if (tensor.has_shape()) text.suffixes.push_back(size_suffix(tensor));
  add_dtype(text, tensor);
  text.suffixes.push_back(fmt::format("parts=({})", names_of_parts(tensor)));
}

void describe(Text& text, const Tensor& tensor, const PrintOptions& options) {
  if (const SparseLayout* layout = sparse_layout(tensor.kind())) {
    describe_sparse(text, tensor, *layout, options);
  } else if (tensor.kind() == TensorKind::quantized) {
    describe_quantized(text, tensor, options);
  } else if (tensor.kind() == TensorKind::nested) {
    text.prefix = "nested_tensor(";
    describe_nested(text, tensor, options);
  } else if (tensor.kind() == TensorKind::meta) {
    describe_meta(text, tensor);
  } else if (tensor.kind() == TensorKind::subclass) {
    describe_subclass(text, tensor);
  } else {
    describe_strided(text, tensor, options);
  }
}

}  // namespace

std::string to_string(const Tensor& tensor, const PrintOptions& options) {
  if (options.precision < 0) {
    fail(ErrorCode::usage, {}, "a precision of {} digits", options.precision);
  }
  if (tensor.kind() == TensorKind::nested && tensor.find_part("values")) {
    return jagged_text(tensor, options);
  }
  Text text;
  add_device(text, tensor);
  describe(text, tensor, options);
  if (tensor.requires_grad()) text.suffixes.push_back("requires_grad=True");
  const std::string printed = with_suffixes(text, options.line_width);
  return tensor.is_parameter() ? "Parameter containing:\n" + printed : printed;
}

}  // namespace flambeau
