# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pools need no more memory for a benchmark than the published rows say."""

import json
from pathlib import Path

import pytest

from warpheap import native
from warpheap.traces import synthetic
from warpheap.traces.replay import GRANULE
from warpheap.traces.resources import Resource, Size
from warpheap.traces.trace import Trace

ROWS = Path(__file__).resolve().parents[2] / "results" / "cpu" / "host_pools"
# Replays are deterministic: more than this is a worse rule of placement.
MOST_OVER_ROW = 1.008


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


def fits(policy: str, bytes_: int, trace: Trace) -> bool:
    """Tell whether a pool of one range serves every request of a trace."""
    with Resource(policy, "reserved", 0).made(Size(bytes_, bytes_)) as pool:
        return pool.replay(trace, timed=False, stop_at_failure=True).failures == 0


@pytest.mark.skipif(native.find() is None, reason="the library is not built")
@pytest.mark.parametrize("policy", ["tlsf", "segregated_fit"])
def test_a_benchmark_fits_into_the_published_range(small_blocks: Trace, policy: str) -> None:
    row = published(policy, small_blocks.name)
    assert row < 2 * small_blocks.peak_bytes(GRANULE), "a bound that any rule would keep"
    # Whether a range is enough does not only depend on its size: a larger one may be too small.
    steps = 8
    ranges = [int(row * (1 + (MOST_OVER_ROW - 1) * step / steps)) for step in range(steps + 1)]
    assert any(fits(policy, bytes_ // GRANULE * GRANULE, small_blocks) for bytes_ in ranges)
