// The bits that PyTorch applies lazily: a conjugated or negated view shares the storage of its base
// (torch/_tensor.py: `_neg_view`; aten/src/ATen/ConjugateFallback.cpp), and a file of another byte
// order keeps its own. NaN payloads pass through.
#include "tensor/element_bits.h"

#include <cstring>

#include "base/endian.h"

namespace flambeau {
namespace {

/// Applies `change` to unsigned words of `elements`, from `first` on, every `step` bytes.
template <typename Word, typename F>
void change_words(MutableBytes elements, std::size_t first, std::size_t step, F change) noexcept {
  for (std::size_t i = first; i + sizeof(Word) <= elements.size(); i += step) {
    Word word;
    std::memcpy(&word, elements.data() + i, sizeof word);
    word = static_cast<Word>(change(word));
    std::memcpy(elements.data() + i, &word, sizeof word);
  }
}

/// The same with words of 1, 2, 4 or 8 bytes.
template <typename F>
void change_words(MutableBytes elements, std::size_t word_size, std::size_t first, std::size_t step,
                  F change) noexcept {
  switch (word_size) {
    case 1: return change_words<std::uint8_t>(elements, first, step, change);
    case 2: return change_words<std::uint16_t>(elements, first, step, change);
    case 4: return change_words<std::uint32_t>(elements, first, step, change);
    default: return change_words<std::uint64_t>(elements, first, step, change);
  }
}

/// The sign is the highest bit of every format that is negated so, NaN included.
struct FlipSign {
  template <typename Word>
  Word operator()(Word word) const noexcept {
    constexpr auto kSign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    return static_cast<Word>(word ^ kSign);
  }
};

}  // namespace

std::size_t swap_unit(DType dtype) noexcept {
  const bool is_pair = category(dtype) == DTypeCategory::complex;
  return is_pair ? item_size(dtype) / 2 : item_size(dtype);
}

void swap_bytes(MutableBytes elements, std::size_t unit) noexcept {
  if (unit == 1) return;
  change_words(elements, unit, 0, unit, [](auto word) { return byte_swap(word); });
}

/// PyTorch negates neither booleans nor floats of 8 bits, of which some formats have no sign.
bool is_negatable(DType dtype) noexcept {
  const DTypeCategory kind = category(dtype);
  return kind == DTypeCategory::complex || kind == DTypeCategory::signed_integer ||
         kind == DTypeCategory::unsigned_integer ||
         (kind == DTypeCategory::floating && item_size(dtype) > 1);
}

void negate(MutableBytes elements, DType dtype) noexcept {
  const std::size_t unit = swap_unit(dtype);
  const DTypeCategory kind = category(dtype);
  if (kind == DTypeCategory::floating || kind == DTypeCategory::complex) {
    change_words(elements, unit, 0, unit, FlipSign());
  } else {
    change_words(elements, unit, 0, unit, [](auto word) { return ~word + 1u; });
  }
}

void conjugate(MutableBytes elements, DType dtype) noexcept {
  const std::size_t half = swap_unit(dtype);
  change_words(elements, half, half, 2 * half, FlipSign());
}

}  // namespace flambeau
