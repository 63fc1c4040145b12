# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy kernels whose lanes allocate: a list for each lane, which another kernel walks and frees.

usage: cupy_kernel.py [LANES]. Needs CuPy, nvcc and a GPU.
"""

import sys
from typing import Any

import warpheap.cupy

CODE = """
#include <warpheap/malloc/selected_heap.hpp>

struct node {
  long long value;
  node* next;
};

extern "C" __global__ void build(const warpheap::malloc_ref* heap, node** lists, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  node* front = nullptr;
  for (int k = 0; k <= i % 10; ++k) {
    node* made = static_cast<node*>(heap->malloc(sizeof(node)));
    if (made == nullptr) break;
    *made = {k, front};
    front = made;
  }
  lists[i] = front;
}

extern "C" __global__ void take_apart(const warpheap::malloc_ref* heap, node** lists, int count,
                                      long long* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  long long sum = 0;
  for (node* at = lists[i]; at != nullptr;) {
    node* next = at->next;
    sum += at->value;
    heap->free(at);
    at = next;
  }
  sums[i] = sum;
}
"""


def main(lanes: int) -> int:
    """Compare with the sums in closed form."""
    heap = warpheap.cupy.DeviceHeap(bytes=1 << 28)  # says what is missing, CuPy included
    import cupy  # noqa: PLC0415

    module: Any = heap.raw_module(CODE)
    lists = cupy.zeros(lanes, dtype=cupy.uint64)
    sums = cupy.zeros(lanes, dtype=cupy.int64)
    shape = ((lanes + 255) // 256,), (256,)
    count = cupy.int32(lanes)
    module.get_function("build")(*shape, (heap.argument, lists, count))
    nodes = sum(i % 10 + 1 for i in range(lanes))
    full = heap.stats()
    module.get_function("take_apart")(*shape, (heap.argument, lists, count, sums))
    right = sums.get().tolist() == [(i % 10) * (i % 10 + 1) // 2 for i in range(lanes)]
    left = heap.stats().blocks_in_use
    print(f"cupy: {full.blocks_in_use} nodes, sums {'right' if right else 'wrong'}, {left} left")
    return 0 if right and full.blocks_in_use == nodes and left == 0 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
