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

/// Plain steps along every row.
template <std::size_t kSize>
void copy_steps(const Panel& panel) noexcept {
  std::byte* to = panel.to;
  for (std::size_t row = 0; row < panel.rows; ++row) {
    const std::byte* from = panel.item(row, 0);
    for (std::size_t column = 0; column < panel.columns; ++column) {
      std::memcpy(to, from, kSize);
      to += kSize;
      from += panel.column_stride;
    }
  }
}

/// Transposes one tile by way of a buffer. Its items are read down the columns, where they are near
/// each other, and written along the rows: neither side visits a line of the cache twice, which
/// matters where a stride of a power of two puts a whole column into one set of it.
template <std::size_t kSize, std::size_t kSide>
void copy_tile(const Panel& panel, std::size_t row, std::size_t column) noexcept {
  std::byte tile[kSide * kSide * kSize];
  const std::size_t rows = std::min(panel.rows - row, kSide);
  const std::size_t columns = std::min(panel.columns - column, kSide);
  for (std::size_t c = 0; c < columns; ++c) {
    const std::byte* from = panel.item(row, column + c);
    for (std::size_t r = 0; r < rows; ++r) {
      std::memcpy(tile + (r * kSide + c) * kSize, from, kSize);
      from += panel.row_stride;
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    std::byte* to = panel.to + ((row + r) * panel.columns + column) * kSize;
    std::memcpy(to, tile + r * kSide * kSize, columns * kSize);
  }
}

/// Tiles in blocks whose memory pages, one for each row and each column, are few enough for the
/// processor to remember where they lie.
template <std::size_t kSize>
void copy_tiles(const Panel& panel) noexcept {
  constexpr std::size_t kSide = kSize <= 4 ? 64 : 256 / kSize;
  constexpr std::size_t kBlock = 512;
  const auto copy_block = [&](std::size_t row, std::size_t column) {
    const std::size_t row_end = std::min(panel.rows, row + kBlock);
    const std::size_t column_end = std::min(panel.columns, column + kBlock);
    for (std::size_t r = row; r < row_end; r += kSide) {
      for (std::size_t c = column; c < column_end; c += kSide) copy_tile<kSize, kSide>(panel, r, c);
    }
  };
  for (std::size_t row = 0; row < panel.rows; row += kBlock) {
    for (std::size_t column = 0; column < panel.columns; column += kBlock) copy_block(row, column);
  }
}

/// Whole rows that lie in memory as the result wants them.
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
    copy_steps<kSize>(panel);
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
    // A loop whose steps are the whole of the next one goes on where that ends: both are one loop.
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

/// To the end of the row or of `out`.
void Gatherer::read_part_of_row(MutableBytes& out) noexcept {
  const Loop& columns = loops_.back();
  const std::size_t count = std::min(out.size() / item_size_, columns.size - columns.index);
  copy_panel({at_, out.data(), 1, count, 0, columns.stride}, item_size_);
  out = out.subspan(count * item_size_);
  advance(loops_.size() - 1, count);
}

/// As many whole rows as are left of the loop and fit `out`.
void Gatherer::read_rows(MutableBytes& out) noexcept {
  const Loop& columns = loops_.back();
  const Loop& rows = loops_[loops_.size() - 2];
  const std::size_t row_size = columns.size * item_size_;
  const std::size_t count = std::min(out.size() / row_size, rows.size - rows.index);
  copy_panel({at_, out.data(), count, columns.size, rows.stride, columns.stride}, item_size_);
  out = out.subspan(count * row_size);
  advance(loops_.size() - 2, count);
}

/// Turns a wheel of the odometer, and those outside it when it comes round.
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
