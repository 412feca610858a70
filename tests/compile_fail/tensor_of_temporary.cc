// error: deleted .*function .*tensor
// A tensor is looked up in a checkpoint that goes on living; in a temporary it would dangle.
#include "flambeau/checkpoint.h"

std::int64_t elements(const char* path) {
#ifdef ALLOWED
  const auto checkpoint = flambeau::Checkpoint::open(path);
  const flambeau::Tensor& tensor = checkpoint.tensor("w");
#else
  const flambeau::Tensor& tensor = flambeau::Checkpoint::open(path).tensor("w");
#endif
  return tensor.numel();
}
