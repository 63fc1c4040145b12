# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Synthetic traces: slots with or without a block, one picked at random at each step.

``malloc-large`` is the benchmark of the host-based paper (O. Bell, A. Kumar, C. Gill, "Host-Based
Allocators for Device Memory", 2024, section VI).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpheap.traces.trace import Trace

WARM_UP_SHARE = 0.1


@dataclass(frozen=True)
class Recipe:
    """The sizes of a benchmark: uniform between the two, or uniform in their logarithm."""

    smallest: int
    largest: int
    logarithmic: bool

    def sizes(self, random: np.random.Generator, count: int) -> NDArray[np.int64]:
        """Draw sizes in bytes."""
        if not self.logarithmic:
            return random.integers(self.smallest, self.largest, count, endpoint=True)
        low, high = np.log(self.smallest), np.log(self.largest)
        return np.exp(random.uniform(low, high, count)).astype(np.int64)


RECIPES = {
    "malloc-large": Recipe(1 << 10, 16 << 20, logarithmic=False),
    "malloc-large-log": Recipe(1 << 8, 64 << 20, logarithmic=True),
}


def make(name: str, slots: int, events: int, seed: int) -> Trace:
    """Make ``events`` calls over ``slots`` slots; a tenth of them is warm-up."""
    random = np.random.default_rng(seed)
    picked = random.integers(0, slots, events)
    sizes = RECIPES[name].sizes(random, events)
    holds = np.full(slots, -1, dtype=np.int64)
    operations = np.empty(events, dtype=np.int64)
    asked = 0
    for event, slot in enumerate(picked.tolist()):
        block = holds[slot]
        if block >= 0:
            operations[event] = -1 - block
            holds[slot] = -1
        else:
            operations[event] = sizes[event]
            holds[slot] = asked
            asked += 1
    return Trace(
        f"{name}-{slots}",
        operations,
        np.zeros(events, dtype=np.uint64),
        warm_up=int(events * WARM_UP_SHARE),
    )
