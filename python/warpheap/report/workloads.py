# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of the workloads (docs/workloads.md)."""

from __future__ import annotations

from warpheap.report.fields import one_size
from warpheap.report.figure import Axis, FigureSpec, known_axis, share, times
from warpheap.units import milliseconds

_TWO_PASSES_NOTE = (
    "Two passes need no manager: count, prefix sum, one allocation, write. Below 1× the manager is "
    "faster."
)
_ACCESS_NOTE = "Threads use the words of all blocks in turn; the array has the same words."

_BATCH = known_axis("batch")
_ROWS = known_axis("rows", "rows of the probe side")
_GROUPS = known_axis("distinct_keys", "different keys")

_SIZE = known_axis("size_max", "block size")
_THREADS = known_axis("threads", "threads")

_JOINS = ("match_percent", "key_skew", "page_bytes")
_GROUP_BYS = ("rows", "key_skew", "page_bytes")
_UPDATES = ("graph", "source_range", "adjacency")


def _over_two_passes(column: str, baseline: str, plus: tuple[str, ...] = ()) -> Axis:
    """Compare a program that takes memory as it goes with the same in two passes."""
    return Axis(column, "time ÷ time of two passes", times, plus=plus, over=baseline)


def _access(operation: str) -> FigureSpec:
    """Make the figure of how fast memory is that was handed out."""
    y = Axis(f"{operation}_ratio", f"time to {operation} ÷ that of one array", times)
    title = f"time to {operation} memory that was handed out"
    return FigureSpec(
        f"access-{operation}",
        "access",
        title,
        _SIZE,
        y,
        ("threads",),
        where=one_size,
        note=_ACCESS_NOTE,
    )


def _graph(case: str, name: str, title: str, column: str) -> FigureSpec:
    """Make a figure of updates of a dynamic graph."""
    facets = ("graph", "source_range") if case == "graph_update" else ("scale",)
    y = Axis(column, "time, median of the rounds", milliseconds)
    return FigureSpec(name, case, title, _BATCH, y, (*facets, "adjacency"))


def _time_in_malloc(
    case: str,
    name: str,
    x: Axis,
    column: str,
    facets: tuple[str, ...],
    along: tuple[str, ...] = (),
) -> FigureSpec:
    """Make the figure of the share of a program's time that its warps spend in malloc."""
    y = Axis(column, "share of the warps' time", share, log=False)
    title = f"{name}: time in malloc"
    return FigureSpec(f"{name}-malloc-share", case, title, x, y, facets, along=along)


FIGURES = (
    FigureSpec(
        "join",
        "join",
        "hash join into pages",
        _ROWS,
        _over_two_passes("join_ms.median", "baseline_ms.median"),
        _JOINS,
        along=("distinct_keys",),
        note=_TWO_PASSES_NOTE,
    ),
    _time_in_malloc("join", "join", _ROWS, "malloc_share", _JOINS, along=("distinct_keys",)),
    FigureSpec(
        "group-by",
        "group_by",
        "group-by in chains of pages",
        _GROUPS,
        _over_two_passes("group_ms.median", "baseline_ms.median"),
        _GROUP_BYS,
        note=_TWO_PASSES_NOTE,
    ),
    _time_in_malloc("group_by", "group-by", _GROUPS, "malloc_share", _GROUP_BYS),
    FigureSpec(
        "work-generation",
        "work_generation",
        "malloc and free of as much as every thread produces",
        _THREADS,
        _over_two_passes("malloc_ms.median", "two_pass_ms.median", ("free_ms.median",)),
        ("size_min", "size_max"),
        note=_TWO_PASSES_NOTE,
    ),
    _access("write"),
    _access("read"),
    _graph("graph_update", "graph-insert", "inserting edges", "insert_ms.median"),
    _graph("graph_update", "graph-delete", "deleting edges", "delete_ms.median"),
    _time_in_malloc("graph_update", "graph", _BATCH, "update_malloc_share", _UPDATES),
    _graph("graph_expand", "graph-expand", "a graph that grows", "insert_ms.median"),
)
