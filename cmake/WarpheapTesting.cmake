# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Test programs: GoogleTest over the CPU model and, from the same sources, over CUDA.
find_package(GTest REQUIRED)
include(GoogleTest)
include(WarpheapTestSupport)
include(WarpheapTestHeader)

# Builds with a sanitizer leave out what only combines settings otherwise (configurations.hpp), and the
# managers' own unit tests.
set(_all_variants ON)
if(WARPHEAP_SANITIZER MATCHES "address|thread")
  set(_all_variants OFF)
endif()
option(WARPHEAP_TEST_VARIANTS "Test every configuration of every manager" ${_all_variants})

# warpheap_discover_tests(NAME LABEL): ctest runs the program's tests one by one, or, under a
# sanitizer, where a process takes long to start, in two parts.
function(warpheap_discover_tests name label)
  if(WARPHEAP_SANITIZER STREQUAL "none")
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${label} TIMEOUT 600)
    return()
  endif()
  foreach(part 0 1)
    add_test(NAME ${name}-${part} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(
      ${name}-${part}
      PROPERTIES
        LABELS ${label}
        TIMEOUT 900
        ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${part}"
    )
  endforeach()
endfunction()

# warpheap_add_test(NAME LABEL SOURCE...): a test program over the CPU model. Links main() of
# GoogleTest unless a source is called main.cpp.
function(warpheap_add_test name label)
  add_executable(${name} ${ARGN})
  target_compile_options(${name} PRIVATE ${WARPHEAP_TEST_OPTIONS})
  target_link_libraries(${name} PRIVATE warpheap::cpu warpheap_test_support GTest::gtest)
  warpheap_share_googletest(${name})
  if(NOT ARGN MATCHES "main\\.cpp")
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  warpheap_discover_tests(${name} ${label})
endfunction()

# warpheap_add_refusals_test(PROGRAM ARGUMENT...): the program refuses wrong numbers in its command
# line; tests/support/refused_numbers.py says what the arguments are.
function(warpheap_add_refusals_test program)
  add_test(
    NAME ${program}.arguments
    COMMAND
      Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tests/support/refused_numbers.py
      $<TARGET_FILE:${program}> ${ARGN}
  )
  set_tests_properties(${program}.arguments PROPERTIES LABELS project)
endfunction()

# warpheap_cuda_sources(OUT SOURCE...): for each source a file in the build folder that includes it
# and that CMake gives to nvcc, so that one source serves both models.
function(warpheap_cuda_sources out)
  set(wrappers)
  foreach(source IN LISTS ARGN)
    cmake_path(REPLACE_EXTENSION source LAST_ONLY cu OUTPUT_VARIABLE wrapper)
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${wrapper})
    file(
      CONFIGURE
      OUTPUT ${wrapper}
      CONTENT "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"\n"
      @ONLY
    )
    list(APPEND wrappers ${wrapper})
  endforeach()
  set(${out} ${wrappers} PARENT_SCOPE)
endfunction()

# warpheap_add_cuda_test(NAME SOURCE...): a program over the CUDA model, one test in ctest with the
# label gpu. Does nothing when the CUDA half is not built.
function(warpheap_add_cuda_test name)
  if(NOT WARPHEAP_WITH_CUDA)
    return()
  endif()
  warpheap_cuda_sources(sources ${ARGN})
  add_executable(${name} ${sources})
  target_compile_options(${name} PRIVATE ${WARPHEAP_TEST_OPTIONS})
  target_link_libraries(${name} PRIVATE warpheap warpheap_test_support GTest::gtest)
  if(NOT ARGN MATCHES "main\\.cpp")
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(
    ${name}
    PROPERTIES LABELS gpu RUN_SERIAL ON TIMEOUT 1800
  )
endfunction()

# warpheap_add_user_test(NAME SOURCE): the same of one source, whose kernels are compiled as a user's,
# without the options of the tests.
function(warpheap_add_user_test name source)
  if(NOT WARPHEAP_WITH_CUDA)
    return()
  endif()
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(
    ${name}
    PRIVATE warpheap warpheap_test_support GTest::gtest GTest::gtest_main
  )
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(
    ${name}
    PROPERTIES LABELS gpu RUN_SERIAL ON TIMEOUT 600
  )
endfunction()
