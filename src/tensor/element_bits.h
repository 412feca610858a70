// Changes to elements as bits, in place: byte order, sign, conjugation.
#pragma once

#include "base/bytes.h"
#include "flambeau/dtype.h"

namespace flambeau {

/// Bytes that byte order turns as one: half of a complex element, the whole of any other.
std::size_t swap_unit(DType dtype) noexcept;
/// Turns every unit of `elements` around.
void swap_bytes(MutableBytes elements, std::size_t unit) noexcept;

/// Whether `negate` knows how: integers, floats of 16 bits and more, complex numbers.
bool is_negatable(DType dtype) noexcept;
/// −x of native elements: floats by their sign bit, integers in two's complement.
void negate(MutableBytes elements, DType dtype) noexcept;
/// The complex conjugate of native complex elements: the sign bit of the imaginary half turns.
void conjugate(MutableBytes elements, DType dtype) noexcept;

}  // namespace flambeau
