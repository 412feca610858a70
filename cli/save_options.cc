#include "save_options.h"

#include <fmt/format.h>

#include "session.h"
#include "text.h"

namespace flambeau::cli {

Durability durability_asked(const Arguments& arguments) noexcept {
  if (arguments.durability == "none") return Durability::none;
  return arguments.durability == "file" ? Durability::file : Durability::full;
}

void warn_of_crash(std::string_view out) {
  write_message(fmt::format(
      "flambeau: {}: the file is complete, but its folder could not be flushed to the disk: its "
      "name may not outlive a crash",
      escaped(out)));
}

SaveOptions save_options(const Arguments& arguments) {
  SaveOptions options;
  for (const Layout layout :
       {Layout::legacy, Layout::torch_1_6, Layout::torch_2_1, Layout::torch_2_7}) {
    if (arguments.layout == to_string(layout)) options.layout = layout;
  }
  options.alignment = arguments.alignment;
  if (arguments.no_crc) options.checksums = false;
  if (!arguments.archive_name.empty()) options.folder = arguments.archive_name;
  options.compact = arguments.compact;
  options.overwrite = arguments.force;
  options.durability = durability_asked(arguments);
  return options;
}

}  // namespace flambeau::cli
