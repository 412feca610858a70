// Values that the text form of the tree shows on one line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "flambeau/value.h"

namespace flambeau::cli {

/// The text of a value that has no children to show: scalars, names, tensors, storages, numpy's
/// arrays and scalars; texts cut at `longest` characters. Nothing for containers and objects.
std::optional<std::string> leaf_text(Value value, std::size_t longest);

/// Whether `leaf_text` has a text for the value.
bool is_leaf(Value value);

/// "tensor float32 [20, 10] storage 0 cpu parameter".
std::string describe_tensor(const Tensor& tensor, std::string_view noun);

}  // namespace flambeau::cli
