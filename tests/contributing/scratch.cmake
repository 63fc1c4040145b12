# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The top level of the copy of the tree that test_manager.py makes: what finds managers is the
# tree's own; what has nothing to do with them is taken as it was built, to save minutes.
cmake_minimum_required(VERSION 3.25)
project(warpheap LANGUAGES CXX)
set(WARPHEAP_SANITIZER none)
set(WARPHEAP_TESTS ON)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/cmake)
include(WarpheapCompiler)
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)

add_library(warpheap INTERFACE)
target_include_directories(warpheap INTERFACE include)
target_compile_features(warpheap INTERFACE cxx_std_20)
add_library(warpheap::cpu STATIC IMPORTED)
set_target_properties(warpheap::cpu PROPERTIES IMPORTED_LOCATION ${CPU_LIBRARY})
target_link_libraries(warpheap::cpu INTERFACE warpheap Threads::Threads Boost::context)
target_compile_definitions(warpheap::cpu INTERFACE WARPHEAP_CPU=1)
add_library(warpheap_bench_host INTERFACE)
target_sources(warpheap_bench_host INTERFACE ${BENCH_OBJECTS})
target_include_directories(warpheap_bench_host INTERFACE ${BENCH_INCLUDE})
target_link_libraries(warpheap_bench_host INTERFACE warpheap)

enable_testing()
file(
  CONFIGURE
  OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/shard.cpp
  CONTENT "#define WARPHEAP_BENCH_SHARD 0\n#include \"bench/backend/shard.hpp\"\n"
)
add_executable(
  warpheap-bench-cpu
  bench/host/main.cpp
  bench/backend/cpu.cpp
  ${CMAKE_CURRENT_BINARY_DIR}/shard.cpp
)
target_include_directories(warpheap-bench-cpu PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(warpheap-bench-cpu PRIVATE WARPHEAP_BENCH_SHARDS=1)
target_link_libraries(
  warpheap-bench-cpu
  PRIVATE warpheap_bench_host warpheap::cpu CLI11::CLI11 warpheap_options
)

include(WarpheapTesting)
add_subdirectory(tests/managers)
add_subdirectory(tests/conformance)
add_subdirectory(tests/verify)
