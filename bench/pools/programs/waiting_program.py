# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A CuPy program whose kernel ends only when the host has allocated more: memory in holes that a
pool would like to move, then the kernel, then requests that are larger than any hole. The pool is
one line before it."""

import ctypes

import cupy
from on_cupy import run

MIB = 1 << 20
PIECE, PIECES = 6 * MIB, 256
LARGE, LARGES = 64 * MIB, 8

WAIT = cupy.RawKernel(
    """extern "C" __global__ void wait(volatile const int* flag, int* seen) {
      while (*flag == 0) {}
      *seen = *flag;
    }""",
    "wait",
)


def work() -> list[int]:
    """Compute and return the results."""
    pinned = cupy.cuda.alloc_pinned_memory(4)
    flag = ctypes.c_int.from_address(pinned.ptr)
    flag.value = 0
    with cupy.cuda.Stream(non_blocking=True) as stream:
        pieces = [cupy.full(PIECE, i % 128, dtype=cupy.int8) for i in range(PIECES)]
        seen = cupy.zeros(1, dtype=cupy.int32)
        del pieces[::2]
        stream.synchronize()
        WAIT((1,), (1,), (pinned.ptr, seen))
        large = [cupy.empty(LARGE, dtype=cupy.int8) for _ in range(LARGES)]
        flag.value = 7
        for i, block in enumerate(large):
            block.fill(i)
        sums = [block.sum(dtype=cupy.int64) for block in [*pieces, *large]]
        stream.synchronize()
        return [int(seen[0]), *(int(value) for value in sums)]


run(work)
