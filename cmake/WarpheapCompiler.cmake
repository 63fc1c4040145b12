# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Warnings, hardening and sanitizers of every target of ours, as the interface target warpheap_options.
set(_oldest_GNU 12)
set(_oldest_Clang 14)
if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS "${_oldest_${CMAKE_CXX_COMPILER_ID}}")
  message(
    FATAL_ERROR
    "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: "
    "${_oldest_${CMAKE_CXX_COMPILER_ID}} is the oldest that warpheap is written for; "
    "name another compiler with CXX"
  )
endif()

add_library(warpheap_options INTERFACE)
# -fstack-clash-protection: without it a lane with a large frame jumps over its stack's guard page.
set(
  _cxx_flags
  -Wall
  -Wextra
  -Wundef
  -Wshadow
  -fstack-clash-protection
)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlapping copies in std::string's operator+ (GCC bug 105651).
  list(APPEND _cxx_flags -Wno-restrict)
endif()
if(WARPHEAP_SANITIZER STREQUAL "address")
  list(
    APPEND _cxx_flags
    -fsanitize=address,undefined
    -fno-sanitize-recover=all
    -fno-omit-frame-pointer
  )
  target_link_options(warpheap_options INTERFACE -fsanitize=address,undefined)
elseif(WARPHEAP_SANITIZER STREQUAL "thread")
  list(APPEND _cxx_flags -fsanitize=thread -fno-omit-frame-pointer)
  # std::atomic_thread_fence under g++'s ThreadSanitizer is handled in simt/cpu/atomic.hpp.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND _cxx_flags -Wno-tsan)
  endif()
  target_link_options(warpheap_options INTERFACE -fsanitize=thread)
elseif(WARPHEAP_SANITIZER STREQUAL "coverage")
  # Atomic, because the executor's workers count at the same time.
  list(APPEND _cxx_flags --coverage -fprofile-update=atomic)
  target_link_options(warpheap_options INTERFACE --coverage)
elseif(NOT WARPHEAP_SANITIZER STREQUAL "none")
  message(
    FATAL_ERROR
    "WARPHEAP_SANITIZER is '${WARPHEAP_SANITIZER}': expected none, address, thread or coverage"
  )
endif()
target_compile_options(warpheap_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${_cxx_flags}>")
