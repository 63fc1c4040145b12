# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffers of RMM on a pool. Only what RMM does is timed: making the bytes and adding them up takes
longer."""

import time

import numpy as np
import rmm
from common import NATIVE, digest, open_device, policy, report

BUFFERS = 300
KEPT = 20
LARGEST = 3_000_000


def work() -> tuple[float, list[int]]:
    """Copy bytes there and back; return the seconds in RMM and the sums of the bytes."""
    random = np.random.default_rng(6)
    back = np.empty(LARGEST, dtype=np.uint8)
    kept = []
    sums = []
    seconds = 0.0
    for _ in range(BUFFERS):
        host = random.integers(0, 255, int(random.integers(1, LARGEST)), dtype=np.uint8).tobytes()
        start = time.perf_counter()
        kept.append(rmm.DeviceBuffer.to_device(host))
        seconds += time.perf_counter() - start
        if len(kept) > KEPT:
            place = int(random.integers(0, len(kept)))
            size = kept[place].size
            start = time.perf_counter()
            kept[place].copy_to_host(back)
            del kept[place]
            seconds += time.perf_counter() - start
            sums.append(int(back[:size].sum()))
    return seconds, sums


def main() -> None:
    """Run natively or on a pool."""
    chosen = policy()
    pool = None
    if chosen != NATIVE:
        import warpheap.rmm  # noqa: PLC0415

        memory = warpheap.rmm.resource(chosen)
        pool = memory.pool
        rmm.mr.set_current_device_resource(memory)
    open_device()
    seconds, sums = work()
    report(pool, version=rmm.__version__, seconds=round(seconds, 4), digest=digest(sums))


main()
