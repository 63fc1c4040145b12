# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report's table of figures. A new figure is one entry.

A case without an entry gets figures by the roles of its fields: see ``by_roles``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from warpheap.report.fields import IMPLIED, SPLIT, UNDESCRIBED, measures, parameters, text
from warpheap.report.style import LIMIT_PROBE
from warpheap.row_fields import Description, Field
from warpheap.units import decimal, milliseconds

Format = Callable[[float], str]


@dataclass(frozen=True)
class Axis:
    """One axis: the column it shows, its label, and how its ticks are written (with the unit).

    A y axis that is not ``log`` starts at 0.
    """

    column: str
    label: str
    ticks: Format = decimal
    log: bool = True
    more_is_better: bool = False


@dataclass(frozen=True)
class FigureSpec:
    """One kind of figure; it is drawn once for each combination of the ``facets`` columns.

    ``model`` is a column with values that theory gives for the same points; it is drawn dashed.
    ``series`` names columns that, with the manager, tell lines apart. ``bars`` draws x as bars. A
    ``trend`` is left out where there is only one value of x.
    """

    name: str
    case: str
    title: str
    x: Axis
    y: Axis
    facets: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    model: str | None = None
    model_label: str = ""
    bars: bool = False
    trend: bool = False
    note: str = ""
    where: Callable[[pd.DataFrame], Any] | None = None


def _one_size(table: pd.DataFrame) -> Any:
    return table["size_min"] == table["size_max"]


def _mixed(table: pd.DataFrame) -> Any:
    return table["size_min"] < table["size_max"]


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"


def _times(value: float) -> str:
    return f"{decimal(value)}×"


def _axis(field: Field, label: str = "", column: str = "") -> Axis:
    """Make the axis of a field: counts and sizes are logarithmic, shares are not."""
    log = field.unit not in ("%", "share")
    ticks = partial(text, field)
    return Axis(column or field.name, label or _name(field), ticks, log, field.better == "more")


def _name(field: Field) -> str:
    return field.about or field.name.replace("_", " ")


def _known(name: str, label: str = "") -> Axis:
    return _axis(UNDESCRIBED.fields[name], label)


_SIZE = _known("size_max", "block size")
_UP_TO = _known("size_max", "largest size")
_THREADS = _known("threads", "threads")
_FREE_PAGES = replace(_known("free_percent", "free pages, share of all"), log=True)
_IN_USE = _known("used_percent")
_GRAPH = Axis("graph", "graph")
_MALLOC = Axis("malloc_ms.median", "malloc, median of the warm launches", milliseconds)
_FREE = Axis("free_ms.median", "free, median of the warm launches", milliseconds)
_LONGEST = replace(_MALLOC, column="malloc_ms.max", label="malloc, longest of the warm launches")
_COLD = Axis("malloc_first_over_warm", "first launch ÷ median of the warm launches", _times)
_MALLOC_RATIO = Axis("malloc_over_limit", f"malloc ÷ malloc of {LIMIT_PROBE}", _times)
_FREE_RATIO = Axis("free_over_limit", f"free ÷ free of {LIMIT_PROBE}", _times)
_STEPS = Axis("tas", "steps")
_SLOWEST = Axis("was", "steps")
_INIT = Axis("init_ms.median", "time, median of the warm launches", milliseconds)
_RANGE = Axis("range_over_bytes", "range of addresses ÷ bytes requested", _times)
_RANGE_LAST = replace(_RANGE, column="range_over_bytes_last")
_USED = Axis("utilization", "bytes handed out ÷ heap", _share, log=False, more_is_better=True)
_REFILLED = Axis(
    "refilled_share", "handed out again ÷ freed", _share, log=False, more_is_better=True
)
_NULLS = Axis("null_ms.median", "time until every malloc has returned null", milliseconds)
_CHURN = Axis("churn_ms.median", "time, median of the warm launches", milliseconds)

_TWO_PASSES = Axis("time_over_two_passes", "time ÷ time of two passes", _times)
_BATCH = Axis("batch", "edges of a batch")
_ROWS = Axis("rows", "rows of the probe side")
_GROUPS = Axis("distinct_keys", "different keys")

_ALLOC = ("mode", "threads")
_SIZES = ("threads", "size_min", "size_max")
_RATIO_NOTE = f"{LIMIT_PROBE} hands out memory as fast as the device allows and never reuses any."
_COLD_NOTE = "1× means that a fresh heap is as fast as a used one."
_HOLES_NOTE = (
    "The heap is filled, every second block is freed, and the same size is requested again."
)
_TWO_PASSES_NOTE = (
    "Two passes need no manager: count, prefix sum, one allocation, write. Below 1× the manager is "
    "faster."
)
_ACCESS_NOTE = "Threads use the words of all blocks in turn; the array has the same words."
_GROWTH_NOTE = "Every round allocates and frees half of that, until the first null."


def _latency(operation: str, heap: str) -> FigureSpec:
    """Make the figure of how much single calls differ."""
    label = "standard deviation over the calls, in clock ticks"
    y = Axis(f"{operation}_ticks_{heap}.std", label)
    title = f"variation of {operation} latency, {heap} heap"
    return FigureSpec(f"latency-{operation}-{heap}", "latency", title, _SIZE, y, ("threads",))


def _access(operation: str) -> FigureSpec:
    """Make the figure of how fast memory is that was handed out."""
    y = Axis(f"{operation}_ratio", f"time to {operation} ÷ that of one array", _times)
    title = f"time to {operation} memory that was handed out"
    return FigureSpec(
        f"access-{operation}",
        "access",
        title,
        _SIZE,
        y,
        ("threads",),
        where=_one_size,
        note=_ACCESS_NOTE,
    )


def _graph(case: str, name: str, title: str, column: str) -> FigureSpec:
    """Make a figure of updates of a dynamic graph."""
    facets = ("graph", "source_range") if case == "graph_update" else ("scale",)
    y = Axis(column, "time, median of the rounds", milliseconds)
    return FigureSpec(name, case, title, _BATCH, y, (*facets, "adjacency", "rounds"))


def _time_in_malloc(
    case: str, name: str, x: Axis, column: str, facets: tuple[str, ...]
) -> FigureSpec:
    """Make the figure of the share of a program's time that its warps spend in malloc."""
    y = Axis(column, "share of the warps' time", _share, log=False)
    return FigureSpec(f"{name}-malloc-share", case, f"{name}: time in malloc", x, y, facets)


def _against_occupancy(name: str, title: str, y: Axis) -> FigureSpec:
    """Make a figure of a time against the share of the heap that is in use at the start."""
    facets = (*_ALLOC, "size_min", "size_max")
    return FigureSpec(name, "alloc", f"{title} against occupancy", _IN_USE, y, facets, trend=True)


_JOINS = ("match_percent", "key_skew", "page_bytes")
_GROUP_BYS = ("rows", "key_skew", "page_bytes")
_UPDATES = ("graph", "source_range", "adjacency", "rounds")

_OCCUPANCY = (
    ("occupancy-malloc", "malloc", _MALLOC),
    ("occupancy-longest", "longest launch of malloc", _LONGEST),
    ("occupancy-free", "free", _FREE),
)

FIGURES = (
    FigureSpec(
        "alloc-malloc", "alloc", "malloc against size", _SIZE, _MALLOC, _ALLOC, where=_one_size
    ),
    FigureSpec("alloc-free", "alloc", "free against size", _SIZE, _FREE, _ALLOC, where=_one_size),
    FigureSpec(
        "alloc-cold",
        "alloc",
        "first launch against warm launches",
        _SIZE,
        _COLD,
        _ALLOC,
        where=_one_size,
        note=_COLD_NOTE,
    ),
    FigureSpec(
        "alloc-malloc-ratio",
        "alloc",
        "malloc against the limit probe",
        _SIZE,
        _MALLOC_RATIO,
        _ALLOC,
        where=_one_size,
        note=_RATIO_NOTE,
    ),
    FigureSpec(
        "alloc-free-ratio",
        "alloc",
        "free against the limit probe",
        _SIZE,
        _FREE_RATIO,
        _ALLOC,
        where=_one_size,
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
    FigureSpec("init", "init", "making a heap", _known("heap_bytes", "heap size"), _INIT),
    *(_latency(operation, heap) for heap in ("warm", "fresh") for operation in ("malloc", "free")),
    FigureSpec(
        "fragmentation",
        "fragmentation",
        "range of addresses at first",
        _SIZE,
        _RANGE,
        ("threads", "rounds"),
        where=_one_size,
    ),
    FigureSpec(
        "fragmentation-last",
        "fragmentation",
        "range of addresses after the last round",
        _SIZE,
        _RANGE_LAST,
        ("threads", "rounds"),
        where=_one_size,
    ),
    FigureSpec(
        "fragmentation-mixed",
        "fragmentation",
        "range of addresses, mixed sizes",
        _UP_TO,
        _RANGE_LAST,
        ("threads", "rounds", "size_min"),
        where=_mixed,
    ),
    FigureSpec(
        "utilization",
        "utilization",
        "share of a heap that can be used",
        _SIZE,
        _USED,
        where=_one_size,
    ),
    FigureSpec(
        "growth",
        "growth",
        "share of a heap that can be used after churning",
        _SIZE,
        _USED,
        where=_one_size,
        note=_GROWTH_NOTE,
    ),
    FigureSpec(
        "holes",
        "holes",
        "reuse of single freed blocks",
        _SIZE,
        _REFILLED,
        where=_one_size,
        note=_HOLES_NOTE,
    ),
    FigureSpec(
        "churn",
        "churn",
        "every thread allocates and frees at random",
        _THREADS,
        _CHURN,
        (*_SIZES, "rounds"),
        bars=True,
    ),
    FigureSpec(
        "exhaustion", "exhaustion", "requests to a full heap", _THREADS, _NULLS, _SIZES, bars=True
    ),
    FigureSpec(
        "join", "join", "hash join into pages", _ROWS, _TWO_PASSES, _JOINS, note=_TWO_PASSES_NOTE
    ),
    _time_in_malloc("join", "join", _ROWS, "malloc_share", _JOINS),
    FigureSpec(
        "group-by",
        "group_by",
        "group-by in chains of pages",
        _GROUPS,
        _TWO_PASSES,
        _GROUP_BYS,
        note=_TWO_PASSES_NOTE,
    ),
    _time_in_malloc("group_by", "group-by", _GROUPS, "malloc_share", _GROUP_BYS),
    FigureSpec(
        "work-generation",
        "work_generation",
        "malloc and free of as much as every thread produces",
        _THREADS,
        _TWO_PASSES,
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

_DRAWN = frozenset(spec.case for spec in FIGURES)
# Of a time the longest launch is drawn beside the median.
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
    same = x.name == "size_max" and (rows["size_min"] == rows["size_max"]).all()
    hidden = {x.name, *SPLIT, *implied, *(["size_min"] if same else [])}
    told = {"axis": 0, "facet": 1}  # the role, and how many values go without mention
    facets = tuple(
        f.name
        for f in given
        if f.role in told and f.name not in hidden and varied[f.name] > told[f.role]
    )
    for field, column in measures(known, case, rows.columns):
        _, _, part = column.partition(".")
        what = field.name.removesuffix("_ms").replace("_", " ")
        y = _axis(field, what + _PARTS.get(part, ""), column)
        name = "-".join(filter(None, (case, what.replace(" ", "_"), part)))
        title = f"{what} against {_name(x)}"
        yield FigureSpec(name, case, title, _axis(x), y, facets, trend=True)
