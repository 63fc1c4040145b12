# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffers of RMM on a pool."""

import numpy as np
import rmm
from common import NATIVE, Clock, digest, policy, report


def work() -> list[int]:
    """Copy bytes there and back and give their sums."""
    random = np.random.default_rng(6)
    kept = []
    sums = []
    for _ in range(300):
        host = random.integers(0, 255, int(random.integers(1, 3_000_000)), dtype=np.uint8)
        kept.append(rmm.DeviceBuffer.to_device(host.tobytes()))
        if len(kept) > 20:
            gone = kept.pop(int(random.integers(0, len(kept))))
            sums.append(int(np.frombuffer(gone.copy_to_host(), dtype=np.uint8).sum()))
    return sums


def main() -> None:
    """Run natively or on a pool."""
    chosen = policy()
    pool = None
    if chosen != NATIVE:
        import warpheap.rmm  # noqa: PLC0415

        memory = warpheap.rmm.resource(chosen)
        pool = memory.pool
        rmm.mr.set_current_device_resource(memory)
    clock = Clock()
    sums = work()
    report(pool, version=rmm.__version__, seconds=clock.seconds(), digest=digest(sums))


main()
