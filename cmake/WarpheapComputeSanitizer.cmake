# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# warpheap_add_compute_sanitizer_tests(NAME TARGET [ARGUMENT...]): one test a tool of
# compute-sanitizer, NAME.memcheck and so on, which runs the program TARGET with the arguments under
# it. They have the labels gpu and compute-sanitizer; `./dev gpu-test` runs them.
function(warpheap_add_compute_sanitizer_tests name target)
  cmake_path(GET CMAKE_CUDA_COMPILER PARENT_PATH _toolkit)
  find_program(WARPHEAP_COMPUTE_SANITIZER compute-sanitizer HINTS ${_toolkit})
  # A machine that only compiles may do without the program; the tests then fail without it.
  set(_program compute-sanitizer)
  if(WARPHEAP_COMPUTE_SANITIZER)
    set(_program ${WARPHEAP_COMPUTE_SANITIZER})
  endif()
  foreach(_tool memcheck racecheck initcheck synccheck)
    add_test(
      NAME ${name}.${_tool}
      COMMAND ${_program} --tool ${_tool} --error-exitcode 99 $<TARGET_FILE:${target}> ${ARGN}
    )
    set_tests_properties(
      ${name}.${_tool}
      PROPERTIES LABELS "gpu;compute-sanitizer" TIMEOUT 540 RUN_SERIAL ON
    )
  endforeach()
endfunction()
