// The brackets of a printed tensor: `[[1., 2.], [3., 4.]]`.
#pragma once

#include <cstddef>
#include <string>

#include "flambeau/tensor.h"

namespace flambeau {

/// The elements as nested lists, broken into lines and folded as PyTorch does; lines after the
/// first start `indent` columns in. Errors: as `Tensor::copy_to`, and `limit` where the folded form
/// still has a million elements.
std::string elements_text(const Tensor& tensor, std::size_t indent, const PrintOptions& options);

}  // namespace flambeau
