// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user compiles: one functor that allocates, and its launch on the CPU model.
#include <warpheap/warpheap.hpp>

struct squares {
  warpheap::heap_ref heap;
  int** out;
  void operator()() const {
    const auto rank = warpheap::simt::thread_rank();
    int* mine = static_cast<int*>(heap.malloc(sizeof(int)));
    if (mine != nullptr) *mine = static_cast<int>(rank * rank);
    out[rank] = mine;
  }
};

void run(int** out) {
  const warpheap::heap heap{warpheap::device::cpu(), 1 << 20};
  heap.on().launch({1, 32}, squares{heap.ref(), out});
}
