# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Numba kernel whose lanes allocate what they need: the divisors of a number each.

usage: numba_kernel.py [NUMBERS]. Needs numba-cuda 0.30 or newer, nvcc and a GPU.
"""

import sys
import time

import numpy as np
from numba import cuda
from numba.cuda.np.numpy_support import carray

import warpheap.numba

heap = warpheap.numba.DeviceHeap(bytes=1 << 28)
malloc, free, pointer = heap.malloc, heap.free, heap.pointer


@cuda.jit
def find_divisors(blocks, counts):  # type: ignore[no-untyped-def]
    """Leave the divisors of its number in a block of the heap, from each lane."""
    number = cuda.grid(1) + 1
    if number > counts.size:
        return
    count = 0
    for i in range(1, number + 1):
        if number % i == 0:
            count += 1
    block = malloc(8 * count)
    blocks[number - 1] = block
    if block == 0:
        return
    divisors = carray(pointer(block), count, np.int64)
    counts[number - 1] = count
    at = 0
    for i in range(1, number + 1):
        if number % i == 0:
            divisors[at] = i
            at += 1


@cuda.jit
def add_up(blocks, counts, sums):  # type: ignore[no-untyped-def]
    """Sum what another kernel has found, and free it."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    divisors = carray(pointer(blocks[i]), counts[i], np.int64)
    total = 0
    for k in range(counts[i]):
        total += divisors[k]
    sums[i] = total
    free(blocks[i])


def main(numbers: int) -> int:
    """Compare with NumPy."""
    blocks = cuda.to_device(np.zeros(numbers, np.uint64))
    counts = cuda.to_device(np.zeros(numbers, np.int64))
    sums = cuda.to_device(np.zeros(numbers, np.int64))
    grid = (numbers + 127) // 128
    find_divisors[grid, 128](blocks, counts)
    full = heap.stats()
    start = time.perf_counter()
    add_up[grid, 128](blocks, counts, sums)
    cuda.synchronize()
    took = time.perf_counter() - start
    expected = [sum(i for i in range(1, n + 1) if n % i == 0) for n in range(1, numbers + 1)]
    right = sums.copy_to_host().tolist() == expected
    print(
        f"numba: {full.blocks_in_use} blocks, sums {'right' if right else 'wrong'}, "
        f"{heap.stats().blocks_in_use} blocks left, {1e3 * took:.1f} ms with compilation"
    )
    return 0 if right and full.blocks_in_use == numbers and not heap.stats().blocks_in_use else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
