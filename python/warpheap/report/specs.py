# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report's table of figures. A new figure is one entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from warpheap.report.style import LIMIT_PROBE
from warpheap.units import binary, decimal, milliseconds

Format = Callable[[float], str]


def _bytes(value: float) -> str:
    return binary(value, "B")


def _percent(value: float) -> str:
    return f"{value:g} %"


def _times(value: float) -> str:
    return f"{decimal(value)}×"


@dataclass(frozen=True)
class Axis:
    """One axis: the column it shows, its label, and how its ticks are written (with the unit).

    Of y axes those that are not ``log`` start at 0.
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
    ``series`` names columns that, with the manager, tell lines apart. ``bars`` draws x as bars.
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
    note: str = ""
    where: Callable[[pd.DataFrame], Any] | None = None


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"


def _one_size(table: pd.DataFrame) -> Any:
    return table["size_min"] == table["size_max"]


def _mixed(table: pd.DataFrame) -> Any:
    return table["size_min"] < table["size_max"]


_SIZE = Axis("size_max", "block size", _bytes)
_UP_TO = Axis("size_max", "largest size", _bytes)
_THREADS = Axis("threads", "threads", binary)
_FREE_PAGES = Axis("free_percent", "free pages, share of all", _percent)
_GRAPH = Axis("graph", "graph")
_MALLOC = Axis("malloc_ms.median", "malloc, median of the warm runs", milliseconds)
_FREE = Axis("free_ms.median", "free, median of the warm runs", milliseconds)
_COLD = Axis("malloc_first_over_warm", "first run ÷ median of the warm runs", _times)
_MALLOC_RATIO = Axis("malloc_over_limit", f"malloc ÷ malloc of {LIMIT_PROBE}", _times)
_FREE_RATIO = Axis("free_over_limit", f"free ÷ free of {LIMIT_PROBE}", _times)
_STEPS = Axis("tas", "steps")
_SLOWEST = Axis("was", "steps")
_INIT = Axis("init_ms.median", "time, median of the warm runs", milliseconds)
_RANGE = Axis("range_over_bytes", "range of addresses ÷ bytes asked for", _times)
_RANGE_LAST = replace(_RANGE, column="range_over_bytes_last")
_USED = Axis("utilization", "bytes handed out ÷ heap", _share, log=False, more_is_better=True)
_REFILLED = Axis(
    "refilled_share", "handed out again ÷ freed", _share, log=False, more_is_better=True
)
_NULLS = Axis("null_ms.median", "time until all have their null, median", milliseconds)
_CHURN = Axis("churn_ms.median", "time, median of the warm runs", milliseconds)

_ALLOC = ("mode", "threads")
_SIZES = ("threads", "size_min", "size_max")
_RATIO_NOTE = f"{LIMIT_PROBE} hands out memory as fast as the device allows and reuses nothing."
_COLD_NOTE = "1× means that a fresh heap is as fast as a used one."
_HOLES_NOTE = "The heap is filled, every second block freed, and the same size asked for again."
_GROWTH_NOTE = "Every round allocates and frees half of that, until the first null."


def _latency(operation: str, heap: str) -> FigureSpec:
    """Make the figure of how much single calls differ."""
    label = "standard deviation over the calls, in clock ticks"
    y = Axis(f"{operation}_ticks_{heap}.std", label)
    title = f"variation of {operation} latency, {heap} heap"
    return FigureSpec(f"latency-{operation}-{heap}", "latency", title, _SIZE, y, ("threads",))


FIGURES = (
    FigureSpec(
        "alloc-malloc", "alloc", "malloc against size", _SIZE, _MALLOC, _ALLOC, where=_one_size
    ),
    FigureSpec("alloc-free", "alloc", "free against size", _SIZE, _FREE, _ALLOC, where=_one_size),
    FigureSpec(
        "alloc-cold",
        "alloc",
        "the first run against the warm ones",
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
        "steps of the slowest lane of a warp (WAS)",
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
        "building a graph, one block an adjacency",
        _GRAPH,
        _MALLOC,
        ("graph",),
        bars=True,
    ),
    FigureSpec("graph-free", "graph_init", "freeing a graph", _GRAPH, _FREE, ("graph",), bars=True),
    FigureSpec(
        "init", "init", "making a heap ready", Axis("heap_bytes", "heap size", _bytes), _INIT
    ),
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
        "utilization", "utilization", "how much of a heap can be had", _SIZE, _USED, where=_one_size
    ),
    FigureSpec(
        "growth",
        "growth",
        "how much of a heap can be had after churning",
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
)

# How a facet's value is said in a title; sizes are said together by facet_text.
_FACET_TEXT: dict[str, Callable[[Any], str]] = {
    "mode": lambda value: f"one block a {value}",
    "threads": lambda value: f"{binary(float(value))} threads",
    "heap_bytes": lambda value: f"{binary(float(value), 'B')} heap",
    "pages": lambda value: f"{binary(float(value))} pages",
    "iterations": lambda value: f"{float(value):g} warm runs",
    "graph": str,
    "seed": lambda value: f"seed {float(value):g}",
    "distribution": lambda value: "powers of two" if value == "powers" else str(value),
    "free_percent": lambda value: f"{float(value):g} % free",
    "rounds": lambda value: f"{float(value):g} rounds",
}


def facet_text(facet: Mapping[str, Any]) -> str:
    """Say in a few words what the rows of a figure have in common."""
    parts = [_FACET_TEXT[name](value) for name, value in facet.items() if name in _FACET_TEXT]
    least, most = (facet.get(name) for name in ("size_min", "size_max"))
    if most is not None and least in (None, most):
        parts.append(f"blocks of {_bytes(float(most))}")
    elif most is not None and least is not None:
        parts.append(f"blocks of {_bytes(float(least))} to {_bytes(float(most))}")
    elif least is not None:
        parts.append(f"blocks from {_bytes(float(least))}")
    return ", ".join(parts)
