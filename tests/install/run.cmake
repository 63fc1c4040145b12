# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the build tree BUILD into PREFIX, and configures, builds and runs the project CONSUMER
# against what was installed (not against the checkout).
# cmake -D BUILD=... -D PREFIX=... -D CONSUMER=... -D GENERATOR=... -D CXX=... -D COMPONENT=...
#       -D WANT_CPU=... -D WANT_CUDA=... [-D NVCC=...] [-D BUILD_ONLY=ON] -P run.cmake
function(step)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT RESULT_VARIABLE _result)
  if(NOT _result EQUAL 0)
    message(FATAL_ERROR "failed with ${_result}: ${ARGV}")
  endif()
endfunction()

file(REMOVE_RECURSE ${PREFIX})
set(_component)
if(COMPONENT)
  set(_component --component ${COMPONENT})
endif()
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}/installed ${_component})
find_program(_pkg_config pkg-config)
if(_pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${PREFIX}/installed/share/pkgconfig)
  execute_process(
    COMMAND ${_pkg_config} --cflags warpheap
    OUTPUT_VARIABLE _flags
    OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY
  )
  string(REGEX REPLACE "^-I" "" _include "${_flags}")
  if(NOT EXISTS ${_include}/warpheap/warpheap.hpp)
    message(FATAL_ERROR "pkg-config's flags do not lead to the headers: ${_flags}")
  endif()
endif()
# No kernel is run: no code for a GPU need be made, and nvcc need not optimise, if it knows how not to.
set(_fast_compile)
if(NVCC)
  execute_process(
    COMMAND ${NVCC} -Ofc=max --dryrun -c -x cu /dev/null
    RESULT_VARIABLE _result
    OUTPUT_QUIET
    ERROR_QUIET
  )
  if(_result EQUAL 0)
    set(_fast_compile -D "CMAKE_CUDA_FLAGS=$ENV{CUDAFLAGS} -Ofc=max")
  endif()
endif()
step(
  ${CMAKE_COMMAND} -S ${CONSUMER} -B ${PREFIX}/build -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_PREFIX_PATH=${PREFIX}/installed -D WANT_CPU=${WANT_CPU}
  -D WANT_CUDA=${WANT_CUDA}
  -D CMAKE_CUDA_ARCHITECTURES=90-virtual ${_fast_compile}
)
file(STRINGS ${PREFIX}/build/CMakeCache.txt _found REGEX "^warpheap_DIR:PATH=")
if(NOT _found MATCHES "=${PREFIX}/installed/")
  message(FATAL_ERROR "the package was not found where it was installed: ${_found}")
endif()
step(${CMAKE_COMMAND} --build ${PREFIX}/build)
if(BUILD_ONLY)
  return()
endif()
step(${CMAKE_CTEST_COMMAND} --test-dir ${PREFIX}/build --output-on-failure --no-tests=error)
