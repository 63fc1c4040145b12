// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/any_heap.hpp"
#include "warpheap/warpheap.hpp"

namespace warpheap {

any_heap make_cpu_heap(std::size_t bytes) { return heap<>(device::cpu(), bytes); }

}  // namespace warpheap
