# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pools need no more memory for a benchmark than the published rows say.

Replays are deterministic, and a larger range may be too small where the published one is not. So a
change of the rule of placement needs new rows, which say what it costs.
"""

import json
from pathlib import Path

import pytest

from warpheap import native
from warpheap.traces import synthetic
from warpheap.traces.replay import GRANULE
from warpheap.traces.resources import Resource, Size
from warpheap.traces.trace import Trace

ROWS = Path(__file__).resolve().parents[2] / "results" / "cpu" / "host_pools"


def published(policy: str, trace: str) -> int:
    """Return the smallest range of the row, in bytes."""
    lines = (ROWS / f"{policy}.jsonl").read_text(encoding="utf-8").splitlines()
    (row,) = (row for row in map(json.loads, lines) if row["trace"] == trace)
    return int(row["smallest_range_bytes"])


@pytest.fixture(scope="module")
def small_blocks() -> Trace:
    """Make the benchmark of small blocks, as bench/host_pools/compare.py does."""
    with pytest.MonkeyPatch.context() as patch:
        sizes = synthetic.Recipe(1 << 8, 1 << 20, logarithmic=True)
        patch.setitem(synthetic.RECIPES, "small-log", sizes)
        return synthetic.make("small-log", 2000, 1_000_000, seed=1)


@pytest.mark.skipif(native.find() is None, reason="the library is not built")
@pytest.mark.parametrize("policy", ["tlsf", "segregated_fit"])
def test_a_benchmark_fits_into_the_published_range(small_blocks: Trace, policy: str) -> None:
    range_bytes = published(policy, small_blocks.name) // GRANULE * GRANULE
    peak = small_blocks.peak_bytes(GRANULE)
    assert range_bytes < 2 * peak, "a bound that any rule would keep"
    with Resource(policy, "reserved", 0).made(Size(range_bytes, range_bytes)) as pool:
        assert pool.replay(small_blocks, timed=False, stop_at_failure=True).failures == 0
