// error: deleted .*function .*root
// A value points into the graph of its checkpoint.
#include "flambeau/checkpoint.h"

bool is_dict(const char* path) {
#ifdef ALLOWED
  const auto checkpoint = flambeau::Checkpoint::open(path);
  return checkpoint.root().kind() == flambeau::Kind::dict;
#else
  return flambeau::Checkpoint::open(path).root().kind() == flambeau::Kind::dict;
#endif
}
