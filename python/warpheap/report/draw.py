# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Paints figures with Matplotlib, as SVG that follows the page's colours or as PNG for paper."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.markers import CARETDOWN, CARETUP
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from warpheap.report.figure import Axis
from warpheap.report.select import Plot
from warpheap.report.style import DASHED, INK_PRINT, INK_SENTINEL, look

# In inches. The width is what a phone shows without making the text too small to read.
_WIDTH = 5.0
_PLOT_HEIGHT = 2.9
_LEFT, _RIGHT, _BOTTOM = 0.66, 0.15, 0.5
_MARGIN, _TITLE_ROW = 0.16, 0.215
_LEGEND_ROW, _LEGEND_COLUMNS = 0.2, 3
_BAR = 0.27
_FITTING_STEPS = 4  # a value that moves with its bar moves less than the axes get narrower
_PNG_DPI = 200
_MAX_X_TICKS = 10  # with prefixes; shares are shorter
_MAX_SHARE_TICKS = 13
_FEW_TICKS = 4  # a logarithmic axis that spans less has too few round numbers
_LINEAR_SPREAD = 20  # bars that differ more than this are drawn on a logarithmic axis


def svg(plot: Plot) -> str:
    """Draw a figure as an SVG element for a page: no fixed size, unique ids."""
    with _style(INK_SENTINEL, plot.slug):
        buffer = io.StringIO()
        _draw(plot, INK_SENTINEL).savefig(
            buffer, format="svg", transparent=True, metadata={"Date": None}
        )
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = text.replace(INK_SENTINEL, "currentColor")
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{plot.slug}-", text)
    label = plot.description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def png(plot: Plot, folder: Path) -> Path:
    """Draw a figure as FOLDER/SLUG.png, dark on white."""
    file = folder / f"{plot.slug}.png"
    save(plot, file)
    return file


def save(plot: Plot, file: Path) -> None:
    """Draw a figure as a PNG file, dark on white, with the digest of what it shows."""
    about = {"Software": None, "Description": plot.digest}
    with _style(INK_PRINT, plot.slug):
        _draw(plot, INK_PRINT).savefig(
            file, format="png", dpi=_PNG_DPI, facecolor="white", metadata=about
        )


@contextmanager
def _style(ink: str, salt: str) -> Iterator[None]:
    settings: dict[str, Any] = {
        "font.family": "sans-serif",
        "font.size": 9.5,
        "text.color": ink,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "xtick.labelsize": 8.5,
        "ytick.labelsize": 8.5,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": ink,
        "grid.alpha": 0.16,
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.6,
        "lines.markersize": 5.5,
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
    }
    with mpl.rc_context(settings):
        yield


def _draw(plot: Plot, ink: str) -> Figure:
    figure, axes = _draw_bars(plot) if plot.bars else _draw_lines(plot, ink)
    _keep_inside(figure, axes)
    return figure


def _keep_inside(figure: Figure, axes: Any) -> None:
    """Make the axes narrower until no tick or value at the right end is cut off."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    limit = figure.bbox.x1 - _RIGHT / 3 * figure.dpi
    for _ in range(_FITTING_STEPS):
        beyond = axes.get_tightbbox(renderer).x1 - limit
        if beyond <= 0:
            return
        box = axes.get_position()
        width = box.width - beyond / figure.bbox.width
        axes.set_position((box.x0, box.y0, width, box.height))


def _draw_lines(plot: Plot, ink: str) -> tuple[Figure, Any]:
    entries = len(plot.series) + any(series.model for series in plot.series) + plot.late
    legend = math.ceil(entries / _LEGEND_COLUMNS) * _LEGEND_ROW + 0.05
    figure, axes = _canvas(plot, _PLOT_HEIGHT, _LEFT, legend)
    for series in plot.series:
        style = look(series.manager)
        axes.plot(
            series.x,
            series.y,
            color=style.colour,
            marker=style.marker,
            linestyle=style.dash,
            label=series.label,
            markeredgewidth=0,
        )
        if series.model:
            axes.plot(series.x, series.model, color=ink, linestyle=DASHED, linewidth=0.8)
    if plot.late:
        _mark_late(axes, plot, ink)
    if any(series.model for series in plot.series):
        label = plot.spec.model_label
        axes.plot([], [], color=ink, linestyle=DASHED, linewidth=0.9, label=label)
    _x_ticks(axes, plot)
    if plot.spec.y.log:
        _log_axis(axes.yaxis, axes.set_yscale, plot.spec.y)
    else:
        axes.set_ylim(0, 1.06 * max(max(series.drawn, default=0) for series in plot.series) or 1)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plot.spec.y.ticks(value)))
    axes.set_xlabel(plot.spec.x.label)
    axes.grid(True)
    figure.legend(
        loc="lower left",
        bbox_to_anchor=(0.02, 0.0),
        ncol=_LEGEND_COLUMNS,
        frameon=False,
        fontsize=8.5,
        handlelength=2.6,
        columnspacing=1.2,
        labelspacing=0.3,
    )
    return figure, axes


def _mark_late(axes: Any, plot: Plot, ink: str) -> None:
    """Mark, at the worse edge, where a manager had not finished: it is worse than any drawn."""
    marker, edge = (CARETDOWN, 0.015) if plot.spec.y.more_is_better else (CARETUP, 0.985)
    mark = {"marker": marker, "linestyle": "none", "markersize": 7, "clip_on": False}
    for series in plot.series:
        axes.plot(
            series.late,
            [edge] * len(series.late),
            color=look(series.manager).colour,
            transform=axes.get_xaxis_transform(),
            **mark,
        )
    axes.plot([], [], color=ink, label="not finished in time", **mark)


def _draw_bars(plot: Plot) -> tuple[Figure, Any]:
    """One bar per manager, the best at the top, with its value at its end.

    Managers that had not finished in time have no bar, and stand below all others.
    """
    sign = 1 if plot.spec.y.more_is_better else -1
    drawn = [(series.drawn[-1], series) for series in plot.series if series.drawn]
    bars = sorted(drawn, key=lambda b: sign * b[0])
    late = [series for series in plot.series if series.late and not series.drawn]
    managers = late + [series for _, series in bars]
    left = 0.35 + 0.075 * max(len(series.label) for series in managers)
    figure, axes = _canvas(plot, _BAR * len(managers) + 0.15, left, 0.0)
    values = [value for value, _ in bars]
    axes.barh(
        [series.label for series in managers],
        [0.0] * len(late) + values,
        height=0.66,
        color=[look(series.manager).colour for series in managers],
    )
    for row in range(len(late)):
        place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        axes.annotate("not finished in time", (0, row), (4, 0), va="center", size=8.5, **place)
    for row, value in enumerate(values, start=len(late)):
        text = plot.spec.y.ticks(value)
        axes.annotate(text, (value, row), (4, 0), textcoords="offset points", va="center", size=8.5)
    if min(values) > 0 and max(values) > _LINEAR_SPREAD * min(values):
        axes.set_xlim(min(values) / 2, max(values) * (max(values) / min(values)) ** 0.25)
        _log_axis(axes.xaxis, axes.set_xscale, plot.spec.y)
    else:
        axes.set_xlim(0, max(values) * 1.22 or 1)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plot.spec.y.ticks(value)))
    axes.set_xlabel(plot.spec.y.label)
    axes.grid(True, axis="x")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    return figure, axes


def _canvas(plot: Plot, plot_height: float, left: float, legend: float) -> tuple[Figure, Any]:
    """Make a figure with its title lines; the axes get exactly the requested height."""
    title: dict[str, Any] = {"size": 11, "weight": "bold"}
    lines = [(plot.spec.title, title)]
    lines += [(text, {"size": 8.5}) for text in (plot.subtitle, plot.remark) if text]
    if not plot.bars:
        # Above the axis and level: easier to read than a label that stands on its side.
        lines.append((plot.spec.y.label, {"size": 9.5}))
    bottom = _BOTTOM + legend
    height = _MARGIN + _TITLE_ROW * len(lines) + plot_height + bottom
    figure = Figure(figsize=(_WIDTH, height))
    for row, (text, font) in enumerate(lines):
        where = 1 - (_MARGIN / 2 + _TITLE_ROW * (row + 0.5)) / height
        figure.text(0.02, where, text, va="center", **font)
    width = 1 - (left + _RIGHT) / _WIDTH
    axes = figure.add_axes((left / _WIDTH, bottom / height, width, plot_height / height))
    return figure, axes


def _x_ticks(axes: Any, plot: Plot) -> None:
    """Put ticks on measured values only, fewer if there are many."""
    values = sorted({value for series in plot.series for value in series.x})
    if plot.spec.x.log:
        axes.set_xscale("log", base=2)
        axes.set_xlim(values[0] / 1.12, values[-1] * 1.12)
    else:
        edge = 0.02 * (values[-1] - values[0])
        axes.set_xlim(values[0] - edge, values[-1] + edge)
    axes.xaxis.set_major_locator(FixedLocator(_thin_out(values, plot.spec.x.log)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plot.spec.x.ticks(value)))


def _thin_out(values: list[float], log: bool = True) -> list[float]:
    """Choose values for ticks, both ends among them, so far apart that their labels fit."""
    places = [math.log2(value) if log else value for value in values]
    steps = [after - before for before, after in pairwise(places)]
    if max(steps) < 1.01 * min(steps):
        least = math.ceil(len(values) / _MAX_X_TICKS)
        for step in range(least, 2 * least + 1):
            if len(steps) % step == 0:
                return values[::step]
    gap = sum(steps) / (_MAX_X_TICKS if log else _MAX_SHARE_TICKS)
    chosen = [0]
    for index in range(1, len(places) - 1):
        if min(places[index] - places[chosen[-1]], places[-1] - places[index]) >= gap:
            chosen.append(index)
    return [*(values[index] for index in chosen), values[-1]]


def _log_axis(axis: Any, set_scale: Any, spec: Axis) -> None:
    set_scale("log")
    low, high = axis.get_view_interval()
    # Within one decade the powers of ten alone would leave the axis without a number.
    narrow = math.log10(high / low) < 2.5
    axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5) if narrow else (1,), numticks=12))
    axis.set_minor_locator(NullLocator() if narrow else LogLocator(base=10, subs="auto"))
    axis.set_major_formatter(FuncFormatter(lambda value, _: spec.ticks(value)))
    axis.set_minor_formatter(NullFormatter())
    if high < _FEW_TICKS * low:
        axis.set_major_locator(MaxNLocator(5))
