// What the commands that write files have in common.
#pragma once

#include <cstdint>

#include "arguments.h"
#include "flambeau/io.h"
#include "flambeau/save.h"

namespace flambeau::cli {

/// The level that --durability names.
Durability durability_asked(const Arguments& arguments) noexcept;

/// --layout, --alignment, --no-crc, --compact, --archive-name, --force and --durability.
SaveOptions save_options(const Arguments& arguments);

}  // namespace flambeau::cli
