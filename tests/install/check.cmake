# Installs BUILD into WORK and builds the program of this folder against it: WAY is `cmake`
# (find_package) or `pkgconfig`. The program then reads FILE.
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
if(WAY STREQUAL "cmake")
  run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build
      -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER})
  run(${CMAKE_COMMAND} --build ${WORK}/build)
  set(program ${WORK}/build/consumer)
else()
  # The tree may be moved after it was installed.
  file(RENAME ${prefix} ${WORK}/moved)
  set(prefix ${WORK}/moved)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  run(pkg-config --static --cflags --libs flambeau)
  separate_arguments(flags UNIX_COMMAND "${output}")
  set(program ${WORK}/consumer)
  run(${COMPILER} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/consumer.cc -o ${program} ${flags})
endif()

run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${prefix}/${LIBDIR} ${program} ${FILE})
if(NOT output MATCHES "^model\\.")
  message(FATAL_ERROR "the program printed \"${output}\"")
endif()
