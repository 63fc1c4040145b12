# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Numba program: arrays of changing sizes through a kernel."""

import numpy as np
from common import Clock, digest, pool_for, report
from numba import cuda


@cuda.jit
def add_squares(total, values):  # type: ignore[no-untyped-def]
    """Add the squares of the values to the totals."""
    place = cuda.grid(1)
    if place < values.size:
        total[place] += values[place] * values[place]


def work() -> list[float]:
    """Compute and give the results."""
    random = np.random.default_rng(5)
    results = []
    for _ in range(100):
        host = random.integers(0, 1000, int(random.integers(1_000, 500_000))).astype(np.float64)
        values = cuda.to_device(host)
        total = cuda.device_array_like(values)
        total[:] = 0.0
        add_squares[(host.size + 255) // 256, 256](total, values)
        results.append(float(total.copy_to_host().sum()))
    return results


def main() -> None:
    """Run natively or on a pool."""
    pool = pool_for("numba")
    clock = Clock()
    results = work()
    cuda.synchronize()
    report(pool, seconds=clock.seconds(), digest=digest(results))


main()
