// What the commands that write files have in common.
#pragma once

#include <cstdint>

#include "arguments.h"
#include "flambeau/io.h"
#include "flambeau/save.h"

namespace flambeau::cli {

/// The level that --durability names.
Durability durability_asked(const Arguments& arguments) noexcept;

/// Says on standard error that OUT is complete, but its name not known to be on the disk.
void warn_of_crash(std::string_view out);

/// --layout, --alignment, --no-crc, --compact, --archive-name, --force and --durability.
SaveOptions save_options(const Arguments& arguments);

}  // namespace flambeau::cli
