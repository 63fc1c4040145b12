# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include_guard(GLOBAL)

# What all test programs share: the headers of tests/support, and whether sizes have to be small.
add_library(warpheap_test_support INTERFACE)
target_include_directories(warpheap_test_support INTERFACE ${PROJECT_SOURCE_DIR}/tests/support)
target_compile_definitions(
  warpheap_test_support
  INTERFACE WARPHEAP_TEST_SANITIZED=$<NOT:$<STREQUAL:${WARPHEAP_SANITIZER},none>>
)
target_link_libraries(warpheap_test_support INTERFACE warpheap_options)
# Most tests are compiled once and run once: half the time to compile is worth more than their speed.
# (nvcc's -O is that of host code alone.) The presets with a sanitizer say the same, and more: with
# AddressSanitizer and UBSan, optimising takes longer than all that it would save.
set(
  WARPHEAP_TEST_OPTIONS
  $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>
  $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CUDA>>:-O1>
)
