# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The survey's table: which points of each case are measured.

A case that is not in it is measured once, with the defaults of its parameters. A parameter is named
here only where the survey wants other values than its default: what the papers measured, and how
much a level may cost on a machine. That is the survey's choice. A program that is run by hand has
no levels, so no description of a parameter can say it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Parameters = dict[str, str | int | float]

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SMALLEST = 16  # bytes; below it every manager hands out the same block
# The papers' batch: requests of a launch when a heap is filled up.
_BATCH = 100_000


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
        """Warm runs after the first one."""
        return 20 if self.full else 5

    @property
    def max_threads_log2(self) -> int:
        """The CPU model runs lane by lane: more threads would take long and show nothing."""
        return 20 if self.full and self.backend == "cuda" else 16

    @property
    def filled_heap_bytes(self) -> int:
        """Heap of the cases that fill it, whose time grows with it: 2 GiB, as in the papers."""
        wanted = 2 * GIB if self.full and self.backend == "cuda" else 64 * MIB
        return min(wanted, self.heap_bytes)

    @property
    def batch(self) -> int:
        """Threads of a launch in the cases that fill the heap."""
        return _BATCH if self.full and self.backend == "cuda" else 4 * KIB


@dataclass(frozen=True)
class CasePlan:
    """One case of the survey: ``points`` gives the parameters to measure."""

    case: str
    points: Callable[[Scale], Iterator[Parameters]]


def powers(first_log2: int, last_log2: int, step: int = 1) -> list[int]:
    """Return the powers of two from 2^first to 2^last."""
    return [1 << exponent for exponent in range(first_log2, last_log2 + 1, step)]


def _size(smallest: int, largest: int | None = None) -> Parameters:
    return {"size_min": smallest, "size_max": largest or smallest}


def _timed(scale: Scale) -> Parameters:
    return {"heap_bytes": scale.heap_bytes, "iterations": scale.iterations}


def _filled(scale: Scale) -> Parameters:
    return {"threads": scale.batch, "heap_bytes": scale.filled_heap_bytes}


def _init(scale: Scale) -> Iterator[Parameters]:
    first = 26 if scale.full else 24
    last = scale.heap_bytes.bit_length() - 1
    for heap_bytes in powers(first, last, 2):
        yield {"heap_bytes": heap_bytes, "iterations": scale.iterations}


def _alloc(scale: Scale) -> Iterator[Parameters]:
    sizes, most = powers(4, 13), 1 << scale.max_threads_log2
    timed = _timed(scale)
    if not scale.full:
        for size in (*sizes[::2], sizes[-1]):
            yield {"mode": "thread", "threads": 4 * KIB, **_size(size), **timed}
        for size in sizes[::4]:
            yield {"mode": "warp", "threads": 4 * KIB, **_size(size), **timed}
        for largest in (128, 8 * KIB):
            mixed = _size(SMALLEST, largest)
            yield {"mode": "thread", "threads": 4 * KIB, **mixed, "distribution": "powers", **timed}
        return
    for mode in ("thread", "warp"):
        for threads in powers(10, scale.max_threads_log2, 5):
            for size in sizes:
                yield {"mode": mode, "threads": threads, **_size(size), **timed}
    for distribution in ("powers", "uniform"):
        for largest in sizes[1:]:
            mixed = _size(SMALLEST, largest)
            yield {
                "mode": "thread",
                "threads": most,
                **mixed,
                "distribution": distribution,
                **timed,
            }
    # The random-walk paper's point: pages of 256 B, half of them free.
    half = {"heap_bytes": scale.filled_heap_bytes, "free_percent": 50}
    yield {"mode": "thread", "threads": most, **_size(256), **timed, **half}


def _scaling(scale: Scale) -> Iterator[Parameters]:
    sizes = (16, 64, 512, 8 * KIB) if scale.full else (64,)
    for size in sizes:
        for threads in powers(0, scale.max_threads_log2, 1 if scale.full else 4):
            yield {"threads": threads, **_size(size), **_timed(scale)}


def _random_walk_steps(scale: Scale) -> Iterator[Parameters]:
    # 1 Mi pages as in the paper; at 0.5 % free 5,242 of them are left, so more threads cannot be.
    for threads in (KIB, 4 * KIB) if scale.full else (KIB,):
        # So often that chance, the standard error of a mean, stays well below what the bound on the
        # slowest lane leaves: little where few of the free pages are taken.
        for free_percent, iterations in ((50, 5000), (10, 1000), (1, 300), (0.5, 300)):
            point = {"threads": threads, "free_percent": free_percent}
            yield {**point, "iterations": iterations}


def _graph_init(scale: Scale) -> Iterator[Parameters]:
    yield _timed(scale)


def _graph_update(scale: Scale) -> Iterator[Parameters]:
    # The batches of the survey, of ouroGraph and of Gallatin; any source, or a thousand of them.
    gpu = scale.full and scale.backend == "cuda"
    common = {"heap_bytes": scale.heap_bytes}
    for adjacency in ("blocks", "pages") if scale.full else ("blocks",):
        for batch in (10_000, 100_000, 1_000_000) if gpu else (10_000,):
            for source_range in (0, 1000) if scale.full else (0,):
                points = {"adjacency": adjacency, "batch": batch, "source_range": source_range}
                yield {**points, **common}


def _graph_expand(scale: Scale) -> Iterator[Parameters]:
    common = {"heap_bytes": scale.heap_bytes}
    growths: list[Parameters] = [{}]
    if scale.full and scale.backend == "cuda":
        # To 100 M edges in rounds, and 16 M at once.
        growths = [
            {"scale": 22, "batch": 1_000_000, "rounds": 100},
            {"scale": 20, "batch": 16_000_000, "rounds": 1},
        ]
    for adjacency in ("blocks", "pages") if scale.full else ("blocks",):
        for growth in growths:
            yield {"adjacency": adjacency, **growth, **common}


def _latency(scale: Scale) -> Iterator[Parameters]:
    for size in powers(4, 12, 2) if scale.full else [64]:
        yield {"threads": 1 << scale.max_threads_log2, **_size(size), **_timed(scale)}


def _registers(_: Scale) -> Iterator[Parameters]:
    for call in ("malloc", "free"):
        yield {"call": call}


def _fragmentation(scale: Scale) -> Iterator[Parameters]:
    common = {"threads": scale.batch, "heap_bytes": scale.heap_bytes}
    rounds = 100 if scale.full else 10
    for size in powers(4, 13) if scale.full else (SMALLEST, 256, 4 * KIB):
        yield {**_size(size), **common, "rounds": rounds}
    for largest in powers(5, 13) if scale.full else (4 * KIB,):
        yield {**_size(SMALLEST, largest), **common, "rounds": rounds}


def _block_bytes(scale: Scale) -> Iterator[Parameters]:
    for size in (1, 17, 100, 1000, 5000) if scale.full else (100,):
        yield {**_size(size), "heap_bytes": GIB if scale.full else scale.heap_bytes}


def _utilization(scale: Scale) -> Iterator[Parameters]:
    odd = (4, 8, 24, 48, 100, 192, 400, 768, 1050, 1536, 3000, 6144, 64 * KIB)
    # Evenly spread from 17 B to 8 KiB, for what rounding costs on average.
    spread = range(17, 8 * KIB, 255)
    every = sorted((*powers(4, 13), *odd, *spread))
    for size in every if scale.full else (100, 256, 1050, 4 * KIB):
        yield {**_size(size), **_filled(scale)}
    if scale.full:
        yield {**_size(SMALLEST, 8 * KIB), **_filled(scale)}


def _phases(scale: Scale) -> Iterator[Parameters]:
    pairs = ((64, 4 * KIB), (4 * KIB, 64), (KIB, 64)) if scale.full else ()
    for first, then in pairs:
        yield {**_size(then), **_filled(scale), "first_size": first}


def _growth(scale: Scale) -> Iterator[Parameters]:
    for size in powers(4, 12, 2) if scale.full else (256,):
        yield {**_size(size), **_filled(scale)}
    if scale.full:
        yield {**_size(SMALLEST, KIB), **_filled(scale)}


def _churn(scale: Scale) -> Iterator[Parameters]:
    gpu = scale.full and scale.backend == "cuda"
    load = {"threads": 256 * KIB, "rounds": 64} if gpu else {"threads": KIB, "rounds": 16}
    for largest in (256, 4 * KIB) if scale.full else (256,):
        yield {**_size(SMALLEST, largest), **load, **_timed(scale)}


def _holes(scale: Scale) -> Iterator[Parameters]:
    for size in powers(4, 12, 2) if scale.full else (256,):
        yield {**_size(size), **_filled(scale)}


def _exhaustion(scale: Scale) -> Iterator[Parameters]:
    for size in (256, 4 * KIB) if scale.full else (KIB,):
        yield {**_size(size), **_filled(scale), "iterations": scale.iterations}


def _occupancy(scale: Scale) -> Iterator[Parameters]:
    mixed = {**_size(SMALLEST, 4 * KIB), "distribution": "powers"}
    sizes = [_size(16), _size(64), _size(256), _size(4 * KIB), mixed] if scale.full else [_size(64)]
    common = {
        "heap_bytes": scale.filled_heap_bytes,
        "iterations": scale.iterations,
    }
    for size in sizes:
        for free_percent in (50, 20, 10, 5, 2, 1) if scale.full else (50, 10):
            yield {**size, "free_percent": free_percent, **common}


def _scattered_frees(scale: Scale) -> Iterator[Parameters]:
    mixed = {**_size(SMALLEST, 4 * KIB), "distribution": "powers"}
    # Each launch fills the heap anew, which takes some managers long with small blocks on the CPU.
    every = [_size(16), _size(64), _size(256), _size(4 * KIB), mixed]
    sizes = every if scale.full else [_size(256)]
    threads = 1 << scale.max_threads_log2 if scale.full else 4 * KIB
    common = {"heap_bytes": scale.filled_heap_bytes, "iterations": scale.iterations}
    for size in sizes:
        yield {**size, "threads": threads, **common}


def _sequence(scale: Scale) -> Iterator[Parameters]:
    threads = 1 << scale.max_threads_log2 if scale.full else KIB
    in_turn = {"threads": threads, **_size(SMALLEST, 8 * KIB), **_timed(scale)}
    yield in_turn
    if scale.full:
        yield {**in_turn, "turns": "any"}


def _failing(scale: Scale) -> Iterator[Parameters]:
    threads = 1 << scale.max_threads_log2 if scale.full else KIB
    for size in (64, 4 * KIB) if scale.full else (256,):
        filled = {**_filled(scale), "threads": threads, "iterations": scale.iterations}
        yield {**_size(size), **filled}


def _steady(scale: Scale) -> Iterator[Parameters]:
    gpu = scale.full and scale.backend == "cuda"
    if gpu:
        load = {"threads": 256 * KIB, "rounds": 32, "heap_bytes": 256 * MIB}
    else:
        # 14 s of processor time with the slowest manager, `rw`: within the limit on a busy machine.
        load = {"threads": 2 * KIB, "rounds": 2, "heap_bytes": 2 * MIB}
    common = {**load, "iterations": scale.iterations}
    yield {**_size(64), **common}
    if scale.full:
        yield {**_size(SMALLEST, 4 * KIB), "distribution": "powers", **common}
        yield {**_size(SMALLEST, 4 * KIB), **common}
        yield {**_size(KIB, 32 * KIB), **common}


def _work_generation(scale: Scale) -> Iterator[Parameters]:
    for largest in (64, 4 * KIB):
        # Half of the heap at most, so that every manager has room.
        most = min(1 << scale.max_threads_log2, scale.heap_bytes // (2 * largest))
        for exponent in range(0, most.bit_length(), 2 if scale.full else 8):
            yield {"threads": 1 << exponent, **_size(4, largest), **_timed(scale)}


def _access(scale: Scale) -> Iterator[Parameters]:
    sizes = [_size(size) for size in (16, 32, 64, 128)] if scale.full else [_size(64)]
    threads = 128 * KIB if scale.full and scale.backend == "cuda" else 8 * KIB
    mixed = [_size(4, 64), _size(16, 128)] if scale.full else [_size(4, 64)]
    for size in (*sizes, *mixed):
        yield {"threads": threads, **size, **_timed(scale)}


def _reading_loop(scale: Scale) -> Iterator[Parameters]:
    threads = 1 << scale.max_threads_log2 if scale.full else 4 * KIB
    for size in (_size(64), _size(SMALLEST, 4 * KIB)) if scale.full else (_size(64),):
        yield {**size, "threads": threads, **_timed(scale)}


def _join(scale: Scale) -> Iterator[Parameters]:
    gpu = scale.full and scale.backend == "cuda"
    for rows in powers(14, 24, 2) if gpu else (16 * KIB,):
        keys = {"rows": rows, "distinct_keys": rows}
        yield {**keys, **_timed(scale)}
        if scale.full:
            yield {**keys, "match_percent": 10, **_timed(scale)}
            yield {**keys, "key_skew": 1.0, **_timed(scale)}


def _group_by(scale: Scale) -> Iterator[Parameters]:
    rows = 10_000_000 if scale.full and scale.backend == "cuda" else 16 * KIB
    for distinct in (10, 1000, 1_000_000) if scale.full else (1000,):
        yield {"rows": rows, "distinct_keys": distinct, **_timed(scale)}


CASES = (
    CasePlan("init", _init),
    CasePlan("alloc", _alloc),
    CasePlan("scaling", _scaling),
    CasePlan("random_walk_steps", _random_walk_steps),
    CasePlan("graph_init", _graph_init),
    CasePlan("graph_update", _graph_update),
    CasePlan("graph_expand", _graph_expand),
    CasePlan("latency", _latency),
    CasePlan("registers", _registers),
    CasePlan("fragmentation", _fragmentation),
    CasePlan("block_bytes", _block_bytes),
    CasePlan("utilization", _utilization),
    CasePlan("phases", _phases),
    CasePlan("growth", _growth),
    CasePlan("churn", _churn),
    CasePlan("holes", _holes),
    CasePlan("exhaustion", _exhaustion),
    CasePlan("occupancy", _occupancy),
    CasePlan("scattered_frees", _scattered_frees),
    CasePlan("sequence", _sequence),
    CasePlan("failing", _failing),
    CasePlan("steady", _steady),
    CasePlan("work_generation", _work_generation),
    CasePlan("access", _access),
    CasePlan("reading_loop", _reading_loop),
    CasePlan("join", _join),
    CasePlan("group_by", _group_by),
)
