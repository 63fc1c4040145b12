// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// For each manager the kernel that a user writes first, without launch bounds. It is only
/// compiled: check_registers.py reads what ptxas says about it.
#include "warpheap/heap/heap.hpp"
#include "warpheap/registry.hpp"

#include <cstddef>
#include <tuple>

using namespace warpheap;

/// A manager's name as a part of its kernel's: ptxas says no more about a kernel.
struct kernel_name {
  char letters[32] = {};

  consteval explicit kernel_name(const char* name) {
    for (char* letter = letters; *name != '\0'; ++name, ++letter) *letter = *name;
  }
};

template <kernel_name Name, class M>
__global__ void allocate(handle<M> heap, void** out, std::size_t bytes) {
  const auto thread = blockIdx.x * blockDim.x + threadIdx.x;
  if constexpr (block_manager<M>) {
    out[thread] = heap.malloc(bytes);
  } else {
    const auto mine = heap.begin();
    out[thread] = heap.malloc(mine, bytes);
    heap.end(mine);
  }
}

/// Naming a kernel has it compiled.
template <class... Managers>
auto kernels_of(type_list<Managers...> /*registered*/) {
  return std::tuple(&allocate<kernel_name(Managers::about.name), Managers>...);
}
const auto compiled = kernels_of(managers{});
