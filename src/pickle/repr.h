// Python's own ways to write values as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flambeau {

/// `repr(str)`: quotes chosen and characters escaped as CPython does; `text` is UTF-8 with lone
/// surrogates let through.
std::string python_repr_text(std::string_view text);
/// `repr(bytes)`.
std::string python_repr_bytes(std::string_view bytes);
/// `repr(bytearray)`, which escapes a single quote within double quotes, too.
std::string python_repr_bytearray(std::string_view bytes);
/// `repr(float)`: the shortest digits that read back as the same number ("1e-05", "nan", "-inf").
std::string python_repr_real(double value);
/// Decimal digits of a little-endian two's complement number of any size, as `str(int)`.
/// Quadratic; callers bound the size (`Limits::max_integer_digits`).
std::string decimal_of(std::string_view twos_complement);
/// Inverse of `decimal_of` for a text of digits with an optional sign; minimal two's complement.
std::string twos_complement_of(std::string_view decimal);

}  // namespace flambeau
