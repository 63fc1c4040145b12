# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# warpheap::malloc: malloc and free of device code, served by warpheap, and the hooks that make a
# device's heap before its first kernel. Objects that the program which links them compiles, for its
# GPUs. The program's own device code has to be relocatable:
#
#   set_target_properties(app PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
#   target_link_libraries(app PRIVATE warpheap::malloc)
#
# WARPHEAP_MALLOC_SOURCES names the folder of the sources.
if(NOT TARGET warpheap_malloc)
  add_library(
    warpheap_malloc
    OBJECT
    EXCLUDE_FROM_ALL
    ${WARPHEAP_MALLOC_SOURCES}/device_malloc.cu
    ${WARPHEAP_MALLOC_SOURCES}/launch_hooks.cu
  )
  add_library(warpheap::malloc ALIAS warpheap_malloc)
  set_target_properties(
    warpheap_malloc
    PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON
  )
  target_link_libraries(warpheap_malloc PRIVATE warpheap::warpheap)
  # A kernel needs the registers of what it calls, and one whose launch bounds allow fewer does not
  # link: 32 are what kernels have that fill a multiprocessor.
  target_compile_options(
    warpheap_malloc
    PRIVATE --options-file=${WARPHEAP_MALLOC_SOURCES}/compile_options.txt
  )
  # For warpheap/malloc.h, which is C: the program need not be C++20.
  target_include_directories(
    warpheap_malloc
    INTERFACE $<TARGET_PROPERTY:warpheap::warpheap,INTERFACE_INCLUDE_DIRECTORIES>
  )
  # The file is what nvcc takes as --options-file; CMake has names of its own for options of the
  # linker. Not for nvlink, which knows none of these symbols.
  file(STRINGS ${WARPHEAP_MALLOC_SOURCES}/link_options.txt _options)
  list(TRANSFORM _options REPLACE "^-Xlinker=(.*)$" "$<HOST_LINK:LINKER:\\1>")
  target_link_options(warpheap_malloc INTERFACE ${_options})
endif()
