# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report's table of figures. A new figure is one entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from warpheap.report.style import LIMIT_PROBE
from warpheap.units import binary, milliseconds

Format = Callable[[float], str]


def _plain(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _bytes(value: float) -> str:
    return binary(value, "B")


def _percent(value: float) -> str:
    return f"{value:g} %"


def _times(value: float) -> str:
    return f"{_plain(value)}×"


@dataclass(frozen=True)
class Axis:
    """One axis: the column it shows, its label, and how its ticks are written (with the unit)."""

    column: str
    label: str
    ticks: Format = _plain


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


def _one_size(table: pd.DataFrame) -> Any:
    return table["size_min"] == table["size_max"]


_SIZE = Axis("size_max", "block size", _bytes)
_THREADS = Axis("threads", "threads", binary)
_FREE_PAGES = Axis("free_percent", "free pages, share of all", _percent)
_MALLOC = Axis("malloc_ms.median", "malloc, median of the warm runs", milliseconds)
_FREE = Axis("free_ms.median", "free, median of the warm runs", milliseconds)
_COLD = Axis("malloc_first_over_warm", "first run ÷ median of the warm runs", _times)
_MALLOC_RATIO = Axis("malloc_over_limit", f"malloc ÷ malloc of {LIMIT_PROBE}", _times)
_FREE_RATIO = Axis("free_over_limit", f"free ÷ free of {LIMIT_PROBE}", _times)
_RATIO_NOTE = f"{LIMIT_PROBE} hands out memory as fast as the device allows and reuses nothing."
_ALLOC = ("mode", "threads")

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
        note="1× means that a fresh heap is as fast as a used one.",
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
        "scaling-malloc", "scaling", "malloc against threads", _THREADS, _MALLOC, ("size_max",)
    ),
    FigureSpec("scaling-free", "scaling", "free against threads", _THREADS, _FREE, ("size_max",)),
    FigureSpec(
        "steps-tas",
        "random_walk_steps",
        "mean steps of a thread (TAS)",
        _FREE_PAGES,
        Axis("tas", "steps"),
        ("threads", "pages"),
        ("word_bits",),
        "tas_model",
        "the paper's equations",
    ),
    FigureSpec(
        "steps-was",
        "random_walk_steps",
        "steps of the slowest lane of a warp (WAS)",
        _FREE_PAGES,
        Axis("was", "steps"),
        ("threads", "pages"),
        ("word_bits",),
        "was_bound",
        "the paper's upper bound",
    ),
    FigureSpec(
        "graph-malloc",
        "graph_init",
        "building a graph, one block an adjacency",
        Axis("graph", "graph"),
        _MALLOC,
        ("graph",),
        bars=True,
    ),
    FigureSpec(
        "graph-free",
        "graph_init",
        "freeing a graph",
        Axis("graph", "graph"),
        _FREE,
        ("graph",),
        bars=True,
    ),
    FigureSpec(
        "init",
        "init",
        "making a heap ready",
        Axis("heap_bytes", "heap size", _bytes),
        Axis("init_ms.median", "time, median of all runs", milliseconds),
    ),
)

# How a facet's value is said in a title.
FACET_TEXT: dict[str, Callable[[Any], str]] = {
    "mode": lambda value: f"one block a {value}",
    "threads": lambda value: f"{binary(float(value))} threads",
    "size_max": lambda value: f"blocks of {binary(float(value), 'B')}",
    "size_min": lambda value: f"from {binary(float(value), 'B')}",
    "heap_bytes": lambda value: f"{binary(float(value), 'B')} heap",
    "pages": lambda value: f"{binary(float(value))} pages",
    "iterations": lambda value: f"{float(value):g} runs",
    "graph": str,
    "seed": lambda value: f"seed {float(value):g}",
    "distribution": lambda value: f"{value} sizes",
}
