# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws what pools held while a trace ran, and how long its calls took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from warpheap.report.style import look
from warpheap.traces.replay import PERCENTILES, Row

_MIB = float(1 << 20)
_DPI = 150


def draw(rows: list[Row], timelines: dict[str, dict[str, NDArray[Any]]], file: Path) -> None:
    """Draw one figure of three parts: memory, fragmentation, latencies.

    ``timelines`` are those of replay.timeline() by the name of the resource. The suffix of the
    file decides the format (.png, .svg, .pdf).
    """
    figure = Figure(figsize=(8, 9.5), layout="constrained")
    memory, holes, calls = figure.subplots(3, 1)
    figure.suptitle(rows[0]["trace"] + (" (CPU: no device memory)" if _on_cpu(rows) else ""))
    _memory(memory, timelines)
    _fragmentation(holes, timelines)
    _latencies(calls, [row for row in rows if row["status"] != "skipped"])
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=_DPI, facecolor="white")


def _on_cpu(rows: list[Row]) -> bool:
    return all(row["backend"] == "cpu" for row in rows)


def _memory(axes: Axes, timelines: dict[str, dict[str, NDArray[Any]]]) -> None:
    for name, points in timelines.items():
        axes.plot(
            points["event"], points["reserved_bytes"] / _MIB, color=look(name).colour, label=name
        )
    for points in list(timelines.values())[:1]:
        axes.fill_between(
            points["event"], points["bytes_in_use"] / _MIB, color="0.8", label="in use"
        )
    axes.set(xlabel="event", ylabel="memory held (MiB)", ylim=(0, None))
    _legend(axes)


def _fragmentation(axes: Axes, timelines: dict[str, dict[str, NDArray[Any]]]) -> None:
    for name, points in timelines.items():
        free = points["free_bytes"].astype(float)
        largest = points["largest_free_bytes"].astype(float)
        share = np.divide(largest, free, out=np.ones_like(free), where=free > 0)
        axes.plot(points["event"], 100 * (1 - share), color=look(name).colour, label=name)
    axes.set(xlabel="event", ylabel="free memory outside of\nthe largest hole (%)", ylim=(0, 100))
    _legend(axes)


def _latencies(axes: Axes, rows: list[Row]) -> None:
    ticks = list(PERCENTILES)
    for row in rows:
        for kind, dash in (("malloc_ns", "solid"), ("free_ns", (0, (4, 1.5)))):
            if row.get(kind):
                axes.plot(
                    range(len(ticks)),
                    [row[kind][tick] for tick in ticks],
                    color=look(row["manager"]).colour,
                    marker=look(row["manager"]).marker,
                    linestyle=dash,
                    label=f"{row['manager']} {kind.removesuffix('_ns')}",
                )
    axes.set(yscale="log", xlabel="percentile of the calls", ylabel="time of a call (ns)")
    axes.set_xticks(range(len(ticks)), ticks)
    _legend(axes)


def _legend(axes: Axes) -> None:
    axes.grid(visible=True, color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small", ncols=2)
