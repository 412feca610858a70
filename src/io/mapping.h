// Files as memory: the pages are read when they are first touched.
#pragma once

#include "flambeau/io.h"
#include "io/file.h"

namespace flambeau {

/// The file mapped whole; null where the system cannot map it, and then `file` is as it was.
/// `Source::read` goes by `pread`, so that bulk reads fill large pages of the caller without a
/// fault for each small page of the mapping.
SourcePtr map_file(File& file);

}  // namespace flambeau
