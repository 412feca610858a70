// error: deleted .*function .*tensors
// Names and tensors of a listing belong to the checkpoint.
#include "flambeau/checkpoint.h"

std::size_t count(const char* path) {
#ifdef ALLOWED
  const auto checkpoint = flambeau::Checkpoint::open(path);
  return checkpoint.tensors().size();
#else
  return flambeau::Checkpoint::open(path).tensors().size();
#endif
}
