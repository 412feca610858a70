# Finds the third-party libraries and makes two targets of them. The installed package reads this
# file too: a static flambeau leaves its libraries to the program that links it.
#
#   flambeau_dependencies    what the library needs, linked PRIVATE: no installed header names one
#   flambeau_static_runtime  how programs of ours are linked in a release: without sections and
#                            libraries that nothing uses, their symbols bound and sealed at the start
#
# FLAMBEAU_STATIC_DEPENDENCIES takes the archive of each library that has one, since every shared
# object costs a program time at its start. A library that is only installed as a shared object stays
# one (in Debian 12: fmt and ISA-L), and so does the compiler's run-time library.

if(NOT DEFINED FLAMBEAU_STATIC_DEPENDENCIES)
  option(FLAMBEAU_STATIC_DEPENDENCIES "Link the archives of third-party libraries" OFF)
endif()

set(FLAMBEAU_ARCHIVE_SUFFIXES ${CMAKE_FIND_LIBRARY_SUFFIXES})
if(FLAMBEAU_STATIC_DEPENDENCIES)
  list(PREPEND FLAMBEAU_ARCHIVE_SUFFIXES .a)
endif()

# Finds one library and its header, as an imported target flambeau_NAME.
function(flambeau_find_library name header library)
  set(CMAKE_FIND_LIBRARY_SUFFIXES ${FLAMBEAU_ARCHIVE_SUFFIXES})
  string(TOUPPER ${name} upper)
  find_library(FLAMBEAU_${upper}_LIBRARY NAMES ${library} REQUIRED)
  find_path(FLAMBEAU_${upper}_INCLUDE NAMES ${header} REQUIRED)
  mark_as_advanced(FLAMBEAU_${upper}_LIBRARY FLAMBEAU_${upper}_INCLUDE)
  if(NOT TARGET flambeau_${name})
    add_library(flambeau_${name} UNKNOWN IMPORTED)
    set_target_properties(flambeau_${name} PROPERTIES
      IMPORTED_LOCATION "${FLAMBEAU_${upper}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${FLAMBEAU_${upper}_INCLUDE}")
  endif()
endfunction()

flambeau_find_library(deflate libdeflate.h deflate)
flambeau_find_library(isal isa-l/crc.h isal)
flambeau_find_library(zlib zlib.h z)
flambeau_find_library(crypto openssl/evp.h crypto)
flambeau_find_library(utf8proc utf8proc.h utf8proc)
find_path(FLAMBEAU_RAPIDJSON_INCLUDE NAMES rapidjson/rapidjson.h REQUIRED)
find_path(FLAMBEAU_IMATH_INCLUDE NAMES half.h PATH_SUFFIXES Imath REQUIRED)
mark_as_advanced(FLAMBEAU_RAPIDJSON_INCLUDE FLAMBEAU_IMATH_INCLUDE)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)

if(NOT TARGET flambeau_dependencies)
  add_library(flambeau_dependencies INTERFACE)
  target_link_libraries(flambeau_dependencies INTERFACE
    fmt::fmt flambeau_deflate flambeau_isal flambeau_zlib flambeau_crypto flambeau_utf8proc
    Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(flambeau_dependencies SYSTEM INTERFACE
    ${FLAMBEAU_RAPIDJSON_INCLUDE} ${FLAMBEAU_IMATH_INCLUDE})
  # half.h as headers alone: conversions are instructions, not a table in a library.
  target_compile_definitions(flambeau_dependencies INTERFACE IMATH_HALF_NO_LOOKUP_TABLE)

  add_library(flambeau_static_runtime INTERFACE)
  if(FLAMBEAU_STATIC_DEPENDENCIES)
    target_link_options(flambeau_static_runtime INTERFACE
      LINKER:--gc-sections,--as-needed,-z,relro,-z,now)
  endif()
endif()
