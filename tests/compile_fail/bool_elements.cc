// error: no dtype has this C\+\+ type
// A byte of a file may be neither 0 nor 1, which a C++ bool may not.
#include "flambeau/tensor.h"

std::size_t count(const flambeau::Tensor& tensor) {
#ifdef ALLOWED
  return tensor.as<std::uint8_t>().size();
#else
  return tensor.as<bool>().size();
#endif
}
