# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a trace is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Trace:
    """A sequence of calls.

    An operation >= 0 asks for that many bytes; these are numbered from 0. An operation < 0 frees
    number -1 - operation. ``warm_up`` events at the start are left out of the latencies.
    """

    name: str
    operations: NDArray[np.int64]
    streams: NDArray[np.uint64]
    warm_up: int = 0
    unmatched_frees: int = 0

    @property
    def events(self) -> int:
        """The number of calls."""
        return len(self.operations)

    @property
    def asks(self) -> NDArray[np.bool_]:
        """Which events request memory."""
        return self.operations >= 0

    def peak_bytes(self, granule: int = 1) -> int:
        """Return the most bytes in use at once, each block rounded up to a multiple of granule."""
        sizes = self.operations[self.asks]
        rounded = (sizes + granule - 1) // granule * granule
        change = np.empty(self.events, dtype=np.int64)
        change[self.asks] = rounded
        change[~self.asks] = -rounded[-1 - self.operations[~self.asks]]
        return int(np.cumsum(change).max(initial=0))
