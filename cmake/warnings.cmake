# The warnings that every target of the project is built with; consumers do not inherit them.
add_library(flambeau_warnings INTERFACE)
target_compile_options(flambeau_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wswitch-enum
  $<$<BOOL:${FLAMBEAU_DEVELOPER}>:-Werror>)
