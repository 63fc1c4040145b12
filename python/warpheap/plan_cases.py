# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The survey's table: which parameters each case is measured with. A new case is one entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Parameters = dict[str, str | int | float]

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
ANY_SCOPE = frozenset({"thread", "warp", "page", "object"})
# A manager of typed objects cannot be asked for a number of bytes.
BYTES_SCOPE = frozenset({"thread", "warp", "page"})
# A manager whose heaps belong to a warp cannot serve its threads one by one.
THREAD_SCOPE = frozenset({"thread", "page"})


@dataclass(frozen=True)
class Scale:
    """How much of a case is measured: ``level`` is quick or full. Sizes in bytes."""

    level: str
    backend: str
    heap_bytes: int

    @property
    def full(self) -> bool:
        """Tell whether everything is wanted."""
        return self.level == "full"

    @property
    def iterations(self) -> int:
        """Runs of one measurement: the first one and the warm ones."""
        return 10 if self.full else 5

    @property
    def max_threads_log2(self) -> int:
        """The CPU model runs lane by lane: more threads would take long and tell nothing."""
        return 20 if self.full and self.backend == "cuda" else 16


@dataclass(frozen=True)
class CasePlan:
    """One case of the survey.

    ``points`` gives the parameters to measure. A manager is asked only if its scope is one of
    ``scopes`` and, with ``frees``, only if it can free single blocks. With ``graphs`` every point
    is measured once for each graph.
    """

    case: str
    points: Callable[[Scale], Iterator[Parameters]]
    scopes: Callable[[Parameters], frozenset[str]] = lambda _: BYTES_SCOPE
    frees: bool = False
    graphs: bool = False


def powers(first_log2: int, last_log2: int, step: int = 1) -> list[int]:
    """Give the powers of two from 2^first to 2^last."""
    return [1 << exponent for exponent in range(first_log2, last_log2 + 1, step)]


def _common(scale: Scale) -> Parameters:
    return {"heap_bytes": scale.heap_bytes, "iterations": scale.iterations, "seed": 1}


def _init(scale: Scale) -> Iterator[Parameters]:
    first = 26 if scale.full else 24
    last = scale.heap_bytes.bit_length() - 1
    for heap_bytes in powers(first, last, 2):
        yield {"heap_bytes": heap_bytes, "iterations": scale.iterations}


def _alloc(scale: Scale) -> Iterator[Parameters]:
    sizes = powers(4, 13)
    if scale.full:
        threads = powers(10, scale.max_threads_log2, 5)
        grid = [
            (mode, count, size)
            for mode in ("thread", "warp")
            for count in threads
            for size in sizes
        ]
    else:
        grid = [("thread", 4 * KIB, size) for size in (*sizes[::2], 8 * KIB)]
        grid += [("warp", 4 * KIB, size) for size in sizes[::4]]
    for mode, count, size in grid:
        yield {"mode": mode, "threads": count, "size_min": size, "size_max": size, **_common(scale)}


def _scaling(scale: Scale) -> Iterator[Parameters]:
    sizes = (16, 64, 512, 8 * KIB) if scale.full else (64,)
    step = 1 if scale.full else 4
    for size in sizes:
        for threads in powers(0, scale.max_threads_log2, step):
            yield {"threads": threads, "size_min": size, "size_max": size, **_common(scale)}


def _random_walk_steps(scale: Scale) -> Iterator[Parameters]:
    # 1 Mi pages as in the paper; at 0.5 % free 5,242 of them are left, so more threads cannot be.
    for threads in (KIB, 4 * KIB) if scale.full else (KIB,):
        for free_percent in (50, 10, 1, 0.5):
            yield {"threads": threads, "pages": MIB, "free_percent": free_percent, "seed": 1}


def _graph_init(scale: Scale) -> Iterator[Parameters]:
    yield _common(scale)


def _alloc_scopes(parameters: Parameters) -> frozenset[str]:
    return BYTES_SCOPE if parameters["mode"] == "warp" else THREAD_SCOPE


CASES = (
    CasePlan("init", _init, scopes=lambda _: ANY_SCOPE),
    CasePlan("alloc", _alloc, scopes=_alloc_scopes),
    CasePlan("scaling", _scaling, scopes=lambda _: THREAD_SCOPE),
    CasePlan("random_walk_steps", _random_walk_steps, scopes=lambda _: frozenset({"page"})),
    CasePlan("graph_init", _graph_init, scopes=lambda _: THREAD_SCOPE, graphs=True),
)
