# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A CuPy program of four threads that share the allocator, each in a stream of its own, with arrays
of changing sizes that live for a while. The pool is one line before it."""

from concurrent.futures import ThreadPoolExecutor

import cupy
import numpy as np
from on_cupy import run

THREADS = 4
ROUNDS = 300
KEPT = 20


def compute(seed: int) -> list[int]:
    """Compute in a stream of this thread and give the sums of the arrays."""
    random = np.random.default_rng(seed)
    kept = []
    sums = []
    with cupy.cuda.Stream(non_blocking=True):
        for _ in range(ROUNDS):
            host = random.integers(0, 1000, int(random.integers(1_000, 500_000)))
            kept.append(cupy.asarray(host) * 3 + cupy.arange(host.size))
            if len(kept) > KEPT:
                # Integers: the same sum in any order.
                sums.append(kept.pop(int(random.integers(KEPT))).sum())
        return [int(value) for value in sums]


def work() -> list[list[int]]:
    """Let the threads compute at once, and give their results in the order of the threads."""
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(compute, range(THREADS)))


run(work)
