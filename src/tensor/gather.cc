// The walk is an odometer over merged loops. Whole rows of the two innermost loops are copied by
// one of three kernels: runs (neighbours in memory are neighbours in the result), tiles (a
// transpose: the outer of the two loops has the smaller stride, so small squares keep both sides in
// cache), and plain steps for all else. Items are moved with memcpy of a constant size, which
// compiles to single loads and stores and needs no alignment.
#include "tensor/gather.h"

#include <algorithm>
#include <cstring>

namespace flambeau {
namespace {

/// Rows and columns of items, at `from` with two strides in bytes, to `to` without gaps.
struct Panel {
  const std::byte* from;
  std::byte* to;
  std::size_t rows;
  std::size_t columns;
  std::ptrdiff_t row_stride;
  std::ptrdiff_t column_stride;

  const std::byte* item(std::size_t row, std::size_t column) const noexcept {
    return from + static_cast<std::ptrdiff_t>(row) * row_stride +
           static_cast<std::ptrdiff_t>(column) * column_stride;
  }
};

/// Side of a tile: 32 rows of 64-byte lines on either side stay in the first-level cache.
constexpr std::size_t kTile = 32;

template <std::size_t kSize>
void copy_block(const Panel& panel, std::size_t row, std::size_t row_end, std::size_t column,
                std::size_t column_end) noexcept {
  for (std::size_t r = row; r < row_end; ++r) {
    std::byte* to = panel.to + (r * panel.columns + column) * kSize;
    const std::byte* from = panel.item(r, column);
    for (std::size_t c = column; c < column_end; ++c) {
      std::memcpy(to, from, kSize);
      to += kSize;
      from += panel.column_stride;
    }
  }
}

template <std::size_t kSize>
void copy_tiles(const Panel& panel) noexcept {
  for (std::size_t column = 0; column < panel.columns; column += kTile) {
    const std::size_t column_end = std::min(panel.columns, column + kTile);
    for (std::size_t row = 0; row < panel.rows; row += kTile) {
      copy_block<kSize>(panel, row, std::min(panel.rows, row + kTile), column, column_end);
    }
  }
}

void copy_runs(const Panel& panel, std::size_t item_size) noexcept {
  const std::size_t run = panel.columns * item_size;
  for (std::size_t row = 0; row < panel.rows; ++row) {
    std::memcpy(panel.to + row * run, panel.item(row, 0), run);
  }
}

template <std::size_t kSize>
void copy_panel(const Panel& panel) noexcept {
  if (panel.column_stride == static_cast<std::ptrdiff_t>(kSize)) {
    copy_runs(panel, kSize);
  } else if (panel.rows > 1 && panel.row_stride < panel.column_stride) {
    copy_tiles<kSize>(panel);
  } else {
    copy_block<kSize>(panel, 0, panel.rows, 0, panel.columns);
  }
}

void copy_panel(const Panel& panel, std::size_t item_size) noexcept {
  switch (item_size) {
    case 1: return copy_panel<1>(panel);
    case 2: return copy_panel<2>(panel);
    case 4: return copy_panel<4>(panel);
    case 8: return copy_panel<8>(panel);
    default: return copy_panel<16>(panel);
  }
}

}  // namespace

Gatherer::Gatherer(const std::byte* first, std::span<const std::int64_t> shape,
                   std::span<const std::int64_t> strides, std::size_t item_size)
    : at_(first), item_size_(item_size), remaining_(item_size) {
  for (const std::int64_t size : shape) {
    if (size == 0) remaining_ = 0;
  }
  loops_ = {{1, 0, 0}, {1, static_cast<std::ptrdiff_t>(item_size), 0}};
  for (std::size_t i = 0; i < shape.size() && remaining_ > 0; ++i) {
    if (shape[i] == 1) continue;
    const auto size = static_cast<std::size_t>(shape[i]);
    const auto stride =
        static_cast<std::ptrdiff_t>(strides[i]) * static_cast<std::ptrdiff_t>(item_size);
    remaining_ *= size;
    Loop& outer = loops_.back();
    if (outer.size > 1 && outer.stride / static_cast<std::ptrdiff_t>(size) == stride &&
        outer.stride % static_cast<std::ptrdiff_t>(size) == 0) {
      outer.size *= size;
      outer.stride = stride;
    } else if (outer.size == 1) {
      outer = {size, stride, 0};
    } else {
      loops_.push_back({size, stride, 0});
    }
  }
}

void Gatherer::read(MutableBytes out) noexcept {
  while (!out.empty()) {
    const Loop& columns = loops_.back();
    if (columns.index > 0 || out.size() / item_size_ < columns.size) {
      read_part_of_row(out);
    } else {
      read_rows(out);
    }
  }
}

void Gatherer::read_part_of_row(MutableBytes& out) noexcept {
  const Loop& columns = loops_.back();
  const std::size_t count = std::min(out.size() / item_size_, columns.size - columns.index);
  copy_panel({at_, out.data(), 1, count, 0, columns.stride}, item_size_);
  out = out.subspan(count * item_size_);
  advance(loops_.size() - 1, count);
}

void Gatherer::read_rows(MutableBytes& out) noexcept {
  const Loop& columns = loops_.back();
  const Loop& rows = loops_[loops_.size() - 2];
  const std::size_t row_size = columns.size * item_size_;
  const std::size_t count = std::min(out.size() / row_size, rows.size - rows.index);
  copy_panel({at_, out.data(), count, columns.size, rows.stride, columns.stride}, item_size_);
  out = out.subspan(count * row_size);
  advance(loops_.size() - 2, count);
}

void Gatherer::advance(std::size_t loop, std::size_t steps) noexcept {
  std::size_t items = steps;
  for (std::size_t i = loop + 1; i < loops_.size(); ++i) items *= loops_[i].size;
  remaining_ -= items * item_size_;
  if (remaining_ == 0) return;
  for (;;) {
    Loop& current = loops_[loop];
    current.index += steps;
    at_ += static_cast<std::ptrdiff_t>(steps) * current.stride;
    if (current.index < current.size) return;
    at_ -= static_cast<std::ptrdiff_t>(current.size) * current.stride;
    current.index = 0;
    --loop;
    steps = 1;
  }
}

}  // namespace flambeau
