# What `cmake --install` puts where: the library with its headers, `find_package(flambeau)`, a
# pkg-config file, and the program with its man page and completions where they are built.

include(CMakePackageConfigHelpers)

set(FLAMBEAU_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/flambeau)

install(TARGETS flambeau EXPORT flambeau
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILE_SET tables DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT flambeau NAMESPACE flambeau:: FILE flambeau-targets.cmake
  DESTINATION ${FLAMBEAU_CONFIG_DIR})

configure_package_config_file(cmake/flambeau-config.cmake.in
  ${PROJECT_BINARY_DIR}/flambeau-config.cmake INSTALL_DESTINATION ${FLAMBEAU_CONFIG_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/flambeau-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/flambeau-config.cmake
  ${PROJECT_BINARY_DIR}/flambeau-config-version.cmake
  DESTINATION ${FLAMBEAU_CONFIG_DIR})
install(FILES cmake/dependencies.cmake DESTINATION ${FLAMBEAU_CONFIG_DIR}
  RENAME flambeau-dependencies.cmake)

# By its own place, so that an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE FLAMBEAU_PC_TO_PREFIX)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR
  BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE FLAMBEAU_PC_INCLUDEDIR)
configure_file(cmake/flambeau.pc.in flambeau.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/flambeau.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
