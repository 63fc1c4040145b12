# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report's table of figures. A new figure is one entry.

A case without an entry gets figures by the roles of its fields: see ``by_roles``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from warpheap.report import workloads
from warpheap.report.fields import IMPLIED, SAID_IF_UNUSUAL, measures, one_size, parameters
from warpheap.report.figure import (
    Axis,
    FigureSpec,
    axis_of,
    known_axis,
    name_of,
    share,
    times,
)
from warpheap.report.style import LIMIT_PROBE
from warpheap.row_fields import Description
from warpheap.units import milliseconds


def _mixed(table: pd.DataFrame) -> Any:
    return table["size_min"] < table["size_max"]


_SIZE = known_axis("size_max", "block size")
_UP_TO = known_axis("size_max", "largest size")
_THREADS = known_axis("threads", "threads")
_FREE_PAGES = replace(known_axis("free_percent", "free pages, share of all"), log=True)
_IN_USE = known_axis("used_percent")
_GRAPH = Axis("graph", "graph")
_MALLOC = Axis("malloc_ms.median", "malloc, median of the warm launches", milliseconds)
_FREE = Axis("free_ms.median", "free, median of the warm launches", milliseconds)
_LONGEST = replace(_MALLOC, column="malloc_ms.max", label="malloc, longest of the warm launches")
_COLD = Axis(
    "malloc_ms.first",
    "first launch ÷ median of the warm launches",
    times,
    over="malloc_ms.median",
)
_MALLOC_RATIO = Axis("malloc_over_limit", f"malloc ÷ malloc of {LIMIT_PROBE}", times)
_FREE_RATIO = Axis("free_over_limit", f"free ÷ free of {LIMIT_PROBE}", times)
_STEPS = Axis("tas", "steps")
_SLOWEST = Axis("was", "steps")
_INIT = Axis("init_ms.median", "time, median of the warm launches", milliseconds)
_RANGE = Axis("range_over_bytes", "range of addresses ÷ bytes requested", times)
_RANGE_LAST = replace(_RANGE, column="range_over_bytes_last")
_USED = Axis("utilization", "bytes handed out ÷ heap", share, log=False, more_is_better=True)
_REFILLED = Axis(
    "refilled_share", "handed out again ÷ freed", share, log=False, more_is_better=True
)
_NULLS = Axis("null_ms.median", "time until every malloc has returned null", milliseconds)
_CALL = Axis("call", "call")
_REGISTERS = Axis("registers", "registers of a thread", log=False)
_LOCAL = Axis("local_bytes", "local memory of a thread, in bytes", log=False)
_CHURN = Axis("churn_ms.median", "time, median of the warm launches", milliseconds)

_ALLOC = ("mode", "threads")
_SIZES = ("threads", "size_min", "size_max")
_RATIO_NOTE = f"{LIMIT_PROBE} hands out memory as fast as the device allows and never reuses any."
_COLD_NOTE = "1× means that a fresh heap is as fast as a used one."
_HOLES_NOTE = (
    "The heap is filled, every second block is freed, and the same size is requested again."
)
_OCCUPANCY_NOTE = (
    "The heap is filled and thinned at random. A launch asks for half of what is free, a million "
    "blocks at most, so the fullest heaps get fewer requests."
)
_GROWTH_NOTE = "Every round allocates and frees half of that, until the first null."
_REGISTERS_NOTE = (
    "Kernels are compiled for blocks of 1024 threads, which leave 64 registers each: what does not "
    "fit lies in local memory."
)


def _latency(operation: str, heap: str) -> FigureSpec:
    """Make the figure of how much single calls differ."""
    label = "standard deviation over the calls, in clock ticks"
    y = Axis(f"{operation}_ticks_{heap}.std", label)
    title = f"variation of {operation} latency, {heap} heap"
    return FigureSpec(f"latency-{operation}-{heap}", "latency", title, _SIZE, y, ("threads",))


def _registers(name: str, what: str, call: str, y: Axis) -> FigureSpec:
    """Make a figure of what a kernel with one of the two calls takes."""
    return FigureSpec(
        f"{name}-{call}",
        "registers",
        f"{what} of a kernel that calls {call}",
        _CALL,
        y,
        bars=True,
        note=_REGISTERS_NOTE,
        where=lambda table: table["call"] == call,
    )


def _against_occupancy(name: str, title: str, y: Axis) -> FigureSpec:
    """Make a figure of a time against the share of the heap that is in use at the start."""
    facets = ("size_min", "size_max")
    title = f"{title} against occupancy"
    note = _OCCUPANCY_NOTE
    return FigureSpec(name, "occupancy", title, _IN_USE, y, facets, trend=True, note=note)


_OCCUPANCY = (
    ("occupancy-malloc", "malloc", _MALLOC),
    ("occupancy-longest", "longest launch of malloc", _LONGEST),
    ("occupancy-free", "free", _FREE),
)

FIGURES = (
    FigureSpec(
        "alloc-malloc", "alloc", "malloc against size", _SIZE, _MALLOC, _ALLOC, where=one_size
    ),
    FigureSpec("alloc-free", "alloc", "free against size", _SIZE, _FREE, _ALLOC, where=one_size),
    FigureSpec(
        "alloc-cold",
        "alloc",
        "first launch against warm launches",
        _SIZE,
        _COLD,
        _ALLOC,
        where=one_size,
        note=_COLD_NOTE,
    ),
    FigureSpec(
        "alloc-malloc-ratio",
        "alloc",
        "malloc against the limit probe",
        _SIZE,
        _MALLOC_RATIO,
        _ALLOC,
        where=one_size,
        note=_RATIO_NOTE,
    ),
    FigureSpec(
        "alloc-free-ratio",
        "alloc",
        "free against the limit probe",
        _SIZE,
        _FREE_RATIO,
        _ALLOC,
        where=one_size,
        note=_RATIO_NOTE,
    ),
    FigureSpec(
        "mixed-malloc",
        "alloc",
        "malloc of mixed sizes",
        _UP_TO,
        _MALLOC,
        (*_ALLOC, "distribution", "size_min"),
        where=_mixed,
    ),
    FigureSpec(
        "mixed-free",
        "alloc",
        "free of mixed sizes",
        _UP_TO,
        _FREE,
        (*_ALLOC, "distribution", "size_min"),
        where=_mixed,
    ),
    *(_against_occupancy(*figure) for figure in _OCCUPANCY),
    FigureSpec(
        "scaling-malloc", "scaling", "malloc against threads", _THREADS, _MALLOC, ("size_max",)
    ),
    FigureSpec("scaling-free", "scaling", "free against threads", _THREADS, _FREE, ("size_max",)),
    FigureSpec(
        "steps-tas",
        "random_walk_steps",
        "mean steps of a thread (TAS)",
        _FREE_PAGES,
        _STEPS,
        ("threads", "pages"),
        ("word_bits",),
        "tas_model",
        "the model",
    ),
    FigureSpec(
        "steps-was",
        "random_walk_steps",
        "steps of a warp's slowest lane (WAS)",
        _FREE_PAGES,
        _SLOWEST,
        ("threads", "pages"),
        ("word_bits",),
        "was_bound",
        "its upper bound",
    ),
    FigureSpec(
        "graph-malloc",
        "graph_init",
        "building a graph, one block per adjacency list",
        _GRAPH,
        _MALLOC,
        ("graph",),
        bars=True,
    ),
    FigureSpec("graph-free", "graph_init", "freeing a graph", _GRAPH, _FREE, ("graph",), bars=True),
    FigureSpec("init", "init", "making a heap", known_axis("heap_bytes", "heap size"), _INIT),
    *(_latency(operation, heap) for heap in ("warm", "fresh") for operation in ("malloc", "free")),
    *(_registers("registers", "registers", call, _REGISTERS) for call in ("malloc", "free")),
    *(_registers("local", "local memory", call, _LOCAL) for call in ("malloc", "free")),
    FigureSpec(
        "fragmentation",
        "fragmentation",
        "range of addresses at first",
        _SIZE,
        _RANGE,
        ("threads",),
        where=one_size,
    ),
    FigureSpec(
        "fragmentation-last",
        "fragmentation",
        "range of addresses after the last round",
        _SIZE,
        _RANGE_LAST,
        ("threads",),
        where=one_size,
    ),
    FigureSpec(
        "fragmentation-mixed",
        "fragmentation",
        "range of addresses, mixed sizes",
        _UP_TO,
        _RANGE_LAST,
        ("threads", "size_min"),
        where=_mixed,
    ),
    FigureSpec(
        "utilization",
        "utilization",
        "share of a heap that can be used",
        _SIZE,
        _USED,
        where=one_size,
    ),
    FigureSpec(
        "growth",
        "growth",
        "share of a heap that can be used after churning",
        _SIZE,
        _USED,
        where=one_size,
        note=_GROWTH_NOTE,
    ),
    FigureSpec(
        "holes",
        "holes",
        "reuse of single freed blocks",
        _SIZE,
        _REFILLED,
        where=one_size,
        note=_HOLES_NOTE,
    ),
    FigureSpec(
        "churn",
        "churn",
        "every thread allocates and frees at random",
        _THREADS,
        _CHURN,
        _SIZES,
        bars=True,
    ),
    FigureSpec(
        "exhaustion", "exhaustion", "requests to a full heap", _THREADS, _NULLS, _SIZES, bars=True
    ),
    *workloads.FIGURES,
)

_DRAWN = frozenset(spec.case for spec in FIGURES)
# The longest launch of a time is drawn beside the median.
_PARTS = {"median": ", median", "max": ", longest launch"}


def figures(rows: pd.DataFrame, known: Description) -> Iterator[FigureSpec]:
    """Return the figures to be drawn of a table of rows."""
    yield from FIGURES
    for case in dict.fromkeys(rows["case"]):
        if case not in _DRAWN:
            yield from by_roles(case, rows[rows["case"] == case], known)


def by_roles(case: str, rows: pd.DataFrame, known: Description) -> Iterator[FigureSpec]:
    """Make the figures of a case that has no entry, by the roles of its fields.

    Of its axes that are numbers the one with the most values is x, and everything that was measured
    is drawn against it. All other parameters that vary tell figures apart.
    """
    given = parameters(known, rows.columns)
    varied = {field.name: rows[field.name].nunique() for field in given}
    numbers = [f for f in given if f.role == "axis" and f.kind in ("integer", "number")]
    axes = [f for f in numbers if varied[f.name] > 1]
    implied = {IMPLIED[f.name] for f in axes if f.name in IMPLIED}
    axes = [f for f in axes if f.name not in implied]
    if not axes:
        return
    x = max(axes, key=lambda field: varied[field.name])
    same = x.name == "size_max" and one_size(rows).all()
    hidden = {x.name, *SAID_IF_UNUSUAL, *implied, *(["size_min"] if same else [])}
    told = {"axis": 0, "facet": 1}  # the role, and how many values go without mention
    facets = tuple(
        f.name
        for f in given
        if f.role in told and f.name not in hidden and varied[f.name] > told[f.role]
    )
    for field, column in measures(known, case, rows.columns):
        _, _, part = column.partition(".")
        what = field.name.removesuffix("_ms").replace("_", " ")
        y = axis_of(field, what + _PARTS.get(part, ""), column)
        name = "-".join(filter(None, (case, what.replace(" ", "_"), part)))
        title = f"{what} against {name_of(x)}"
        yield FigureSpec(name, case, title, axis_of(x), y, facets, trend=True)
