# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the programs share: the one argument, and the JSON line that gpu_check.py reads."""

import ctypes
import dataclasses
import hashlib
import importlib
import json
import sys
import time
from typing import Any

NATIVE = "native"


def policy() -> str:
    """Return the pool's policy, or NATIVE for the framework's own allocator."""
    if len(sys.argv) not in (2, 3):
        sys.exit(f"usage: {sys.argv[0]} {NATIVE}|POLICY [PARTS]")
    return sys.argv[1]


def parts() -> int:
    """Return the number of the pool's parts."""
    return int(sys.argv[2]) if len(sys.argv) == 3 else 1


def pool_for(framework: str, **options: Any) -> Any:
    """Make the framework's memory that of the pool that the command line names; None: its own.

    ``framework`` is a module of warpheap, such as torch; ``options`` are those of its ``use``.
    """
    chosen = policy()
    if chosen == NATIVE:
        return None
    return importlib.import_module(f"warpheap.{framework}").use(chosen, **options)


def digest(values: Any) -> str:
    """Return a digest of exact values: equal digests are equal numbers, bit for bit."""
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


def open_device() -> None:
    """Create the context of device 0, as making a pool does."""
    driver = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    failed = (
        driver.cuInit(0)
        or driver.cuDeviceGet(ctypes.byref(device), 0)
        or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    )
    if failed:
        sys.exit(f"the driver cannot open device 0: error {failed}")


class Clock:
    """Seconds since it was made, on a device that is open: opening takes as long as some programs,
    and only those without a pool would do it while the clock runs."""

    def __init__(self) -> None:
        open_device()
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds so far."""
        return round(time.perf_counter() - self._start, 3)


def report(pool: Any, **row: Any) -> None:
    """Print the row; a pool adds its statistics, and its invariants must hold."""
    if pool is not None:
        pool.check()
        stats = pool.stats()
        row |= {
            "peak_bytes": stats.peak_bytes,
            "reserved_bytes": stats.peak_reserved_bytes,
            "stats": dataclasses.asdict(stats),
        }
    print(json.dumps(row))
