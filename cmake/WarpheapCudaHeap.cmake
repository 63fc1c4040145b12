# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# warpheap_add_cuda_heap(SOURCE): the target warpheap::cuda, with what host code needs nvcc for when
# it owns a heap (warpheap/any_heap.hpp). It is compiled in the build that uses it, for the GPUs of
# that build, and only when something links it. Needs the language CUDA.
function(warpheap_add_cuda_heap source)
  add_library(warpheap_cuda STATIC EXCLUDE_FROM_ALL ${source})
  add_library(warpheap::cuda ALIAS warpheap_cuda)
  set_target_properties(warpheap_cuda PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(warpheap_cuda PUBLIC warpheap::warpheap)
endfunction()
