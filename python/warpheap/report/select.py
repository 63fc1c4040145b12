# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fills the table of figures with the data of a section."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from warpheap.report.fields import IMPLIED, kept_apart, phrases
from warpheap.report.figure import FigureSpec
from warpheap.report.sections import Section, as_usual
from warpheap.report.specs import figures

_CPU_REMARK = "CPU model: says nothing about a GPU"


@dataclass(frozen=True)
class Series:
    """One line (or one bar) of a figure.

    ``y`` is not a number where the manager was measured without a result to draw: the line has a
    gap there. ``late`` are those x at which it had not finished in time.
    """

    manager: str
    label: str
    x: list[Any]
    y: list[float]
    model: list[float] = field(default_factory=list)
    late: list[Any] = field(default_factory=list)

    @property
    def drawn(self) -> list[float]:
        """Return the values that are there."""
        return [value for value in self.y if not math.isnan(value)]


@dataclass(frozen=True)
class Plot:
    """A figure with its data, ready to be drawn."""

    slug: str
    spec: FigureSpec
    facet: dict[str, Any]
    subtitle: str
    series: list[Series]
    remark: str

    @property
    def bars(self) -> bool:
        """Tell whether there is one value per manager, which bars show better than dots."""
        return self.spec.bars or len({x for series in self.series for x in series.x}) == 1

    @property
    def late(self) -> bool:
        """Tell whether a manager had not finished in time at one of its points."""
        return any(series.late for series in self.series)

    @property
    def description(self) -> str:
        """Say in one sentence what the figure shows, for readers who cannot see it."""
        names = ", ".join(series.label for series in self.series)
        what = ", ".join(filter(None, (self.spec.title, self.subtitle)))
        return f"{what}: {self.spec.y.label} of {names}"

    @property
    def digest(self) -> str:
        """Return a digest of everything that the figure shows: its words and its values."""
        axes = (self.spec.title, self.spec.x.label, self.spec.y.label, self.spec.model_label)
        shown = [*axes, self.subtitle, self.remark, *map(_alike, self.series)]
        return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def _alike(series: Series) -> dict[str, Any]:
    """Make floats of all numbers: which of them pandas has as integers depends on its version."""
    drawn = asdict(series)
    for name in ("x", "y", "model", "late"):
        drawn[name] = [v if isinstance(v, str) else float(v) for v in drawn[name]]
    return drawn


def plots(section: Section) -> list[Plot]:
    """Return every figure for which a section has data.

    The figures of a case stand together; in it those that differ only in what they show, such as
    malloc and free, follow each other, with the most threads first.
    """
    specs = list(figures(section.rows, section.known))
    order = {spec.case: place for place, spec in reversed(list(enumerate(specs)))}
    found = list(_all(section, specs))
    return sorted(found, key=lambda plot: (order[plot.spec.case], *_rank(plot.facet)))


def _rank(facet: dict[str, Any]) -> list[tuple[str, Any]]:
    """Order facets by their values, the number of threads downwards.

    Figures of one case may differ in their facets; the names keep unlike values apart.
    """
    return [(name, -value if name == "threads" else value) for name, value in facet.items()]


def _all(section: Section, specs: list[FigureSpec]) -> Iterator[Plot]:
    lost = section.rows[~section.rows.index.isin(section.usable.index)]
    for spec in specs:
        if not {spec.x.column, *spec.y.columns} <= set(section.usable.columns):
            continue
        rows = _of(section.usable, spec)
        rows = rows.assign(_y=spec.y.values(rows))
        rows = rows[rows["_y"].notna()]
        if spec.y.log and not spec.bars:
            rows = rows[rows["_y"] > 0]
        if not rows.empty:
            yield from _facets(section, spec, rows, _of(lost, spec).assign(_y=math.nan))


def _of(rows: pd.DataFrame, spec: FigureSpec) -> pd.DataFrame:
    """Return the rows that a figure is about."""
    rows = rows[rows["case"] == spec.case]
    if spec.where is not None:
        rows = rows[spec.where(rows)]
    return rows[rows[spec.x.column].notna()]


def _facets(
    section: Section, spec: FigureSpec, rows: pd.DataFrame, lost: pd.DataFrame
) -> Iterator[Plot]:
    implied = IMPLIED.get(spec.x.column, spec.x.column)
    told = (spec.x.column, implied, *spec.facets, *spec.series, *spec.along)
    split = kept_apart(section.known, rows, told)
    usual = {name: _usual(section, spec.case, name) for name in split}
    rows = pd.concat([rows, lost]) if len(lost) else rows
    for name, value in usual.items():
        if value is not None:
            rows = rows.assign(**{name: as_usual(rows[name], value)})
    for values, group in _split(rows, [*spec.facets, *split], sort=True):
        if group["_y"].isna().all() or (spec.trend and group[spec.x.column].nunique() == 1):
            continue
        named = zip([*spec.facets, *split], values, strict=True)
        facet = {n: v for n, v in named if pd.notna(v) and v != usual.get(n)}
        slug = "-".join([section.backend, spec.name, *(_slug(v) for v in facet.values())])
        subtitle = phrases(facet, section.known)
        if not spec.bars and group[spec.x.column].nunique() == 1:
            only = f"{spec.x.label} {spec.x.ticks(group[spec.x.column].iloc[0])}"
            subtitle = ", ".join(part for part in (subtitle, only) if part)
        remark = _CPU_REMARK if section.backend == "cpu" else section.device
        yield Plot(slug, spec, facet, subtitle, _series(spec, group), remark)


def _usual(section: Section, case: str, name: str) -> Any:
    """Return the value that most rows of a case have, which therefore needs no mention."""
    values = section.usable.loc[section.usable["case"] == case, name].dropna()
    return values.mode().iloc[0] if len(values) else None


def _series(spec: FigureSpec, rows: pd.DataFrame) -> list[Series]:
    """Split the rows of a figure into its lines, in the order in which managers were measured."""
    varied = rows.groupby("manager")
    known = (name for name in spec.series if name in rows.columns)
    parts = [name for name in known if varied[name].nunique().max() > 1]
    series = []
    for key, line in _split(rows, ["manager", *parts], sort=False):
        # If a point has several rows, a measured one counts, and the newest of those.
        line = line.assign(_there=line["_y"].notna())
        line = line.sort_values([spec.x.column, "_there", "time"], kind="stable")
        ordered = line.drop_duplicates(spec.x.column, keep="last")
        manager = str(key[0])
        label = " ".join([manager, *(f"({value:g} bit)" for value in key[1:] if pd.notna(value))])
        model = _model(spec, ordered)
        x = ordered[spec.x.column].tolist()
        late = ordered.loc[ordered["_y"].isna() & (ordered["status"] == "timeout"), spec.x.column]
        if len(late) or ordered["_y"].notna().any():
            series.append(Series(manager, label, x, ordered["_y"].tolist(), model, late.tolist()))
    return series


def _split(
    rows: pd.DataFrame, by: list[str], sort: bool
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Group rows by columns. pandas 1.5 and 2 differ in the keys that one column alone gives."""
    if not by:
        yield (), rows
    elif len(by) == 1:
        for value, group in rows.groupby(by[0], dropna=False, sort=sort):
            yield (value,), group
    else:
        yield from rows.groupby(by, dropna=False, sort=sort)


def _model(spec: FigureSpec, rows: pd.DataFrame) -> list[float]:
    if spec.model is None or spec.model not in rows.columns:
        return []
    values = pd.to_numeric(rows[spec.model])
    return values.tolist() if np.isfinite(values[rows["_y"].notna()]).all() else []


def _slug(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) and value < 1e6 else str(value)
    text = str(int(value)) if isinstance(value, float) and value == int(value) else text
    return "".join(char if char.isalnum() or char in "._" else "_" for char in text)
