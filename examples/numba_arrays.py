# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that a Numba kernel makes come from a heap of warpheap, through Numba's run-time.

usage: numba_arrays.py. Needs numba-cuda 0.30 or newer, nvcc and a GPU.
"""

import sys

import numpy as np
from numba import cuda
from numba.cuda.core import config

import warpheap.numba

config.CUDA_ENABLE_NRT = True
heap = warpheap.numba.DeviceHeap(bytes=1 << 28)


@cuda.jit(link=heap.link)
def triangle(out):  # type: ignore[no-untyped-def]
    """Sum an array that lives in the kernel alone."""
    i = cuda.grid(1)
    numbers = np.empty(i + 1, np.int64)
    for k in range(i + 1):
        numbers[k] = k
    total = 0
    for k in range(i + 1):
        total += numbers[k]
    out[i] = total


def main() -> int:
    """Compare with the sum in closed form."""
    out = cuda.to_device(np.zeros(256, np.int64))
    triangle[2, 128](out)
    right = out.copy_to_host().tolist() == [i * (i + 1) // 2 for i in range(256)]
    stats = heap.stats()
    print(f"numba_arrays: sums {'right' if right else 'wrong'}, {stats}")
    return 0 if right and stats.unserved == 0 and stats.blocks_in_use == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
