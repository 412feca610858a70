// error: deleted .*function .*find
// A pointer into a temporary checkpoint would dangle.
#include "flambeau/checkpoint.h"

bool has(const char* path) {
#ifdef ALLOWED
  const auto checkpoint = flambeau::Checkpoint::open(path);
  return checkpoint.find("w") != nullptr;
#else
  return flambeau::Checkpoint::open(path).find("w") != nullptr;
#endif
}
