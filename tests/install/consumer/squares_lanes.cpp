// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// squares.cu in the CPU model.
#include "squares.hpp"

#include <warpheap/warpheap.hpp>

#include <cstdint>

namespace {

struct squares {
  warpheap::heap_ref heap;
  std::int32_t* sum;
  void operator()() const {
    auto* mine = static_cast<int*>(heap.malloc(sizeof(int)));
    if (mine == nullptr) return;
    *mine = warpheap::simt::thread_rank() * warpheap::simt::thread_rank();
    warpheap::simt::atomic_ref(*sum).fetch_add(*mine, warpheap::simt::order::relaxed);
  }
};

}  // namespace

int sum_of_squares(const warpheap::any_heap& heap, int lanes) {
  std::int32_t sum = 0;
  const auto device = warpheap::device::cpu();
  device.launch({1, static_cast<std::uint32_t>(lanes)},
                squares{heap.ref<warpheap::heap_ref>(), &sum});
  return sum;
}
