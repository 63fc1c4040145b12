# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# GoogleTest's header, compiled: to read it takes a third of the time of most tests. A source that
# needs another one and does not include it still fails. Needs warpheap::cpu and GTest.
include_guard(GLOBAL)

include(WarpheapCompiledHeader)

# warpheap_precompile_googletest(TARGET): for a target with options that no other has. Compilers
# refuse a header that was compiled with others.
function(warpheap_precompile_googletest target)
  warpheap_precompile(${target} PRIVATE <gtest/gtest.h>)
endfunction()

# warpheap_share_googletest(TARGET): for a target with the options of warpheap_add_test.
function(warpheap_share_googletest target)
  warpheap_precompile(${target} REUSE_FROM warpheap_googletest)
endfunction()

set(_source ${CMAKE_CURRENT_BINARY_DIR}/googletest.cpp)
file(CONFIGURE OUTPUT ${_source} CONTENT "// Its target compiles a header.\n")
add_library(warpheap_googletest OBJECT EXCLUDE_FROM_ALL ${_source})
target_compile_options(warpheap_googletest PRIVATE ${WARPHEAP_TEST_OPTIONS})
target_link_libraries(warpheap_googletest PRIVATE warpheap::cpu warpheap_test_support GTest::gtest)
warpheap_precompile_googletest(warpheap_googletest)
