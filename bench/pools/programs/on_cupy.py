# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a CuPy program on CuPy's own pool or on one of ours."""

from collections.abc import Callable
from typing import Any

import cupy
from common import Clock, digest, parts, pool_for, report


def run(work: Callable[[], list[Any]]) -> None:
    """Run the program natively or on a pool, as the command line says, and report its results."""
    pool = pool_for("cupy", parts=parts())
    clock = Clock()
    results = work()
    row = {"seconds": clock.seconds(), "digest": digest(results)}
    if pool is None:
        row |= {"reserved_bytes": cupy.get_default_memory_pool().total_bytes()}
    report(pool, version=cupy.__version__, **row)
