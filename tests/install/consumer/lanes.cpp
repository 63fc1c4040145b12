// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/warpheap.hpp"

using namespace warpheap::literals;
using heap = warpheap::heap<warpheap::default_manager>;

/// Every lane takes a block and leaves its address.
struct take_block {
  heap::ref_type memory;
  void** blocks;
  void operator()() const { blocks[warpheap::simt::thread_rank()] = memory.malloc(16); }
};

/// Succeeds when the installed CPU executor runs the lanes of a launch.
int main() {
  constexpr std::uint32_t lanes = 64;
  const auto device = warpheap::device::cpu();
  const heap memory{device, 1_MiB};
  void* blocks[lanes] = {};
  device.launch({.blocks = 2, .threads_per_block = lanes / 2}, take_block{memory.ref(), blocks});
  for (const void* block : blocks) {
    if (block == nullptr) return 1;
  }
  return 0;
}
