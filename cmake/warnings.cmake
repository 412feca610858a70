# The warnings that every target of the project is built with; consumers do not inherit them.
# GCC 12 sees a free of something that is not on the heap in vectors that it inlines at -O1: not an
# error there.
add_library(flambeau_warnings INTERFACE)
target_compile_options(flambeau_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wswitch-enum
  $<$<CXX_COMPILER_ID:GNU>:-Wno-free-nonheap-object>
  $<$<BOOL:${FLAMBEAU_DEVELOPER}>:-Werror>)
