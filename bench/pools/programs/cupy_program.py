# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A CuPy program that does not know the allocator: sorting, sums, products and temporaries of
changing sizes, in four streams in turns, which are replaced now and then while they work. The pool
is one line before it."""

import cupy
import numpy as np
from on_cupy import run

ROUNDS = 200
STREAMS = 4
REPLACED_EVERY = 50


def work() -> list[float]:
    """Compute and return the results."""
    random = np.random.default_rng(4)
    results = []
    for step in range(ROUNDS):
        if step % REPLACED_EVERY == 0:
            streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(STREAMS)]
        with streams[step % STREAMS] as stream:
            host = random.standard_normal(int(random.integers(1_000, 2_000_000)))
            values = cupy.asarray(host)
            ordered = cupy.sort(values)
            shifted = ordered[1:] - ordered[:-1] + values[1:] * 0.5
            square = cupy.outer(values[:900], values[-900:])
            # Fixed orders of summation: the same bits in every run.
            total = cupy.cumsum(cupy.floor(shifted * 1024))[-1] + cupy.floor(square).max()
            results.append(total)
            del values, ordered, shifted, square
            if step % 16 == 15:
                stream.synchronize()
    cupy.cuda.Device().synchronize()
    return [float(value) for value in results]


run(work)
