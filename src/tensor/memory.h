// A storage over memory, with the location tag of the tensor that its bytes were copied from.
#pragma once

#include <memory>
#include <string_view>

#include "base/bytes.h"
#include "flambeau/tensor.h"

namespace flambeau {

/// `owner` keeps the bytes alive; null where the caller does.
Storage memory_storage(Bytes bytes, std::shared_ptr<const void> owner, std::string_view device);

}  // namespace flambeau
