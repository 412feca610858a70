// `torch/_tensor_str.py: _tensor_str`, `_tensor_str_with_formatter` and `_vector_str` without their
// recursion: an odometer over all dimensions but the last, which closes and opens brackets as its
// wheels turn.
//
// Folding is a view: a dimension of n whose first and last e are shown becomes two, of sizes 2 and
// e and of strides (n − e) × s and s. So nothing but what is shown is read.
#include "tensor/print_elements.h"

#include <algorithm>

#include "tensor/cells.h"
#include "tensor/number_format.h"
#include "tensor/packed.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

constexpr std::int64_t kMostFolded = 1'000'000;

/// What is shown of each dimension.
struct Folding {
  bool is_folded(std::int64_t size) const noexcept { return enabled && size > 2 * edge; }
  std::int64_t shown(std::int64_t size) const noexcept { return is_folded(size) ? 2 * edge : size; }

  bool enabled;
  std::int64_t edge;
};

/// Refuses shapes such as 6 × 6 × … × 6, where folding each dimension leaves too much.
void check_folded_size(const Tensor& tensor, const Folding& folding) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape()) {
    count *= std::max<std::int64_t>(folding.shown(size), 1);
    if (count > kMostFolded) {
      fail(ErrorCode::limit, {}, "shape {} cannot be folded to fewer than {} elements",
           to_string(tensor.shape()), kMostFolded);
    }
  }
}

/// A plain tensor of the same numbers, where a view of the stored elements will not do.
Tensor dequantized(const Tensor& tensor) {
  const auto reals = std::make_shared<const std::vector<float>>(tensor.to<float>());
  const Storage storage = Storage::own(std::as_bytes(std::span(*reals)), reals);
  return {DType::f32, {tensor.shape().begin(), tensor.shape().end()}, storage};
}

/// The view of what is shown, with a dimension more for each folded one.
Tensor folded_view(const Tensor& tensor, const Folding& folding) {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  for (std::size_t i = 0; i < tensor.ndim(); ++i) {
    const std::int64_t size = tensor.shape()[i];
    const std::int64_t stride = tensor.strides()[i];
    if (folding.is_folded(size)) {
      sizes.push_back(2);
      strides.push_back((size - folding.edge) * stride);
    }
    sizes.push_back(folding.is_folded(size) ? folding.edge : size);
    strides.push_back(stride);
  }
  TensorRecord record = tensor.record();
  record.dimensions = Dimensions(sizes, strides);
  return Tensor(std::make_shared<const TensorRecord>(std::move(record)));
}

/// Per-channel and packed tensors are dequantized first: a view would lose the channel of an
/// element.
Tensor shown_elements(const Tensor& tensor, const Folding& folding) {
  if (!folding.enabled) return tensor;
  const Quantizer* quantizer = tensor.quantizer();
  const bool is_plain = !(quantizer && quantizer->axis) && !is_packed_quantized(tensor.dtype());
  return folded_view(is_plain ? tensor : dequantized(tensor), folding);
}

/// Writes the lists. Cells come in row-major order of what is shown.
class Lists {
 public:
  Lists(std::span<const std::int64_t> shape, const Cells& cells, const Folding& folding,
        std::size_t indent, int line_width)
      : shape_(shape), cells_(cells), folding_(folding), indent_(indent) {
    const std::int64_t room = line_width - static_cast<std::int64_t>(indent + shape.size() - 1);
    const auto cell = static_cast<std::int64_t>(cells.width() + 2);
    per_line_ = static_cast<std::size_t>(std::max<std::int64_t>(1, room / cell));
  }

  std::string write() && {
    const std::size_t outer = shape_.size() - 1;
    std::vector<std::int64_t> index(outer, 0);
    text_.append(outer, '[');
    for (;;) {
      write_row();
      std::size_t wheel = outer;
      while (wheel > 0 && index[wheel - 1] + 1 == folding_.shown(shape_[wheel - 1])) {
        index[--wheel] = 0;
        text_ += ']';
      }
      if (wheel == 0) return std::move(text_);
      const std::int64_t next = ++index[wheel - 1];
      separate(wheel - 1, next);
      text_.append(outer - wheel, '[');
    }
  }

 private:
  /// What stands between two neighbours along `dimension`, the second of which is `next`.
  void separate(std::size_t dimension, std::int64_t next) {
    const auto new_line = [&] {
      text_.append(",").append(shape_.size() - 1 - dimension, '\n');
      text_.append(indent_ + dimension + 1, ' ');
    };
    new_line();
    if (!folding_.is_folded(shape_[dimension]) || next != folding_.edge) return;
    text_ += "...";
    new_line();
  }

  /// The innermost list, broken after as many cells as fit the width.
  void write_row() {
    const std::int64_t size = shape_.back();
    const auto shown = static_cast<std::size_t>(folding_.shown(size));
    std::size_t written = 0;
    const auto start_item = [&] {
      if (written > 0 && written % per_line_ == 0) {
        text_.append(",\n").append(indent_ + shape_.size(), ' ');
      } else if (written > 0) {
        text_ += ", ";
      }
      ++written;
    };
    text_ += '[';
    for (std::size_t i = 0; i < shown; ++i) {
      if (folding_.is_folded(size) && i == shown / 2) {
        start_item();
        text_ += " ...";
      }
      start_item();
      cells_.append(text_, next_cell_++);
    }
    text_ += ']';
  }

  std::span<const std::int64_t> shape_;
  const Cells& cells_;
  Folding folding_;
  std::size_t indent_;
  std::size_t per_line_;
  std::size_t next_cell_ = 0;
  std::string text_;
};

}  // namespace

std::string elements_text(const Tensor& tensor, std::size_t indent, const PrintOptions& options) {
  const std::int64_t count = tensor.numel();
  if (count == 0) return "[]";
  const Folding folding{count > options.threshold,
                        std::clamp<std::int64_t>(options.edge_items, 0, kMostFolded)};
  if (folding.enabled && folding.edge == 0 && tensor.ndim() > 0) return "[...]";
  if (folding.enabled) check_folded_size(tensor, folding);
  const auto cells = make_cells(shown_elements(tensor, folding), options);
  if (tensor.ndim() == 0) {
    std::string text;
    cells->append(text, 0);
    return text;
  }
  return Lists(tensor.shape(), *cells, folding, indent, options.line_width).write();
}

}  // namespace flambeau
