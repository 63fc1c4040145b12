# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fills the table of figures with the data of a section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from warpheap.report.specs import FIGURES, FigureSpec, facet_text
from warpheap.report.table import Section

# Rows that differ in one of these are never joined by a line.
_SPLIT = ("heap_bytes", "seed", "distribution", "free_percent")
_CPU_REMARK = "CPU model: says nothing about a GPU"


@dataclass(frozen=True)
class Series:
    """One line (or one bar) of a figure."""

    manager: str
    label: str
    x: list[Any]
    y: list[float]
    model: list[float] = field(default_factory=list)


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
        """Tell whether there is one value a manager, which bars show better than dots."""
        return self.spec.bars or len({x for series in self.series for x in series.x}) == 1

    @property
    def description(self) -> str:
        """Say in one sentence what the figure shows, for readers who cannot see it."""
        names = ", ".join(series.label for series in self.series)
        return f"{self.spec.title}, {self.subtitle}: {self.spec.y.label} of {names}"


def plots(section: Section) -> list[Plot]:
    """Give every figure for which a section has data.

    The figures of a case stand together; in it those that differ only in what they show, such as
    malloc and free, follow each other, with the most threads first.
    """
    order = {spec.case: place for place, spec in reversed(list(enumerate(FIGURES)))}
    found = list(_all(section))
    return sorted(found, key=lambda plot: (order[plot.spec.case], *_rank(plot.facet)))


def _rank(facet: dict[str, Any]) -> list[tuple[str, Any]]:
    """Order facets by their values, the number of threads downwards.

    Figures of one case may differ in their facets; the names keep unlike values apart.
    """
    return [(name, -value if name == "threads" else value) for name, value in facet.items()]


def _all(section: Section) -> Iterator[Plot]:
    for spec in FIGURES:
        if spec.y.column not in section.usable.columns or spec.x.column not in section.usable:
            continue
        rows = section.usable[section.usable["case"] == spec.case]
        if spec.where is not None:
            rows = rows[spec.where(rows)]
        rows = rows.assign(_y=pd.to_numeric(rows[spec.y.column]))
        rows = rows[rows["_y"].notna() & rows[spec.x.column].notna()]
        if spec.y.log and not spec.bars:
            rows = rows[rows["_y"] > 0]
        if not rows.empty:
            yield from _facets(section, spec, rows)


def _facets(section: Section, spec: FigureSpec, rows: pd.DataFrame) -> Iterator[Plot]:
    told = (spec.x.column, *spec.facets)
    split = [name for name in _SPLIT if name not in told]
    usual = {name: _usual(section, spec.case, name) for name in split}
    for name, value in usual.items():
        if value is not None:
            rows = rows.assign(**{name: rows[name].fillna(value)})  # what is not said is as usual
    for values, group in _split(rows, [*spec.facets, *split], sort=True):
        named = zip([*spec.facets, *split], values, strict=True)
        facet = {n: v for n, v in named if pd.notna(v) and v != usual.get(n)}
        slug = "-".join([section.backend, spec.name, *(_slug(v) for v in facet.values())])
        subtitle = facet_text(facet)
        if not spec.bars and group[spec.x.column].nunique() == 1:
            only = f"{spec.x.label} {spec.x.ticks(group[spec.x.column].iloc[0])}"
            subtitle = ", ".join(part for part in (subtitle, only) if part)
        remark = _CPU_REMARK if section.backend == "cpu" else section.device
        yield Plot(slug, spec, facet, subtitle, _series(spec, group), remark)


def _usual(section: Section, case: str, name: str) -> Any:
    """Give the value that most rows of a case have, which therefore needs no mention."""
    values = section.usable.loc[section.usable["case"] == case, name].dropna()
    return values.mode().iloc[0] if len(values) else None


def _series(spec: FigureSpec, rows: pd.DataFrame) -> list[Series]:
    """Split the rows of a figure into its lines, in the order in which managers were measured."""
    varied = rows.groupby("manager")
    known = (name for name in spec.series if name in rows.columns)
    parts = [name for name in known if varied[name].nunique().max() > 1]
    series = []
    for key, line in _split(rows, ["manager", *parts], sort=False):
        # Of one point that was measured with several numbers of runs, that with the most counts.
        runs = [name for name in ("iterations",) if name in line.columns]
        ordered = line.sort_values([spec.x.column, *runs]).drop_duplicates(
            spec.x.column, keep="last"
        )
        manager = str(key[0])
        label = " ".join([manager, *(f"({value:g} bit)" for value in key[1:] if pd.notna(value))])
        model = _model(spec, ordered)
        x = ordered[spec.x.column].tolist()
        series.append(Series(manager, label, x, ordered["_y"].tolist(), model))
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
    return values.tolist() if np.isfinite(values).all() else []


def _slug(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) and value < 1e6 else str(value)
    text = str(int(value)) if isinstance(value, float) and value == int(value) else text
    return "".join(char if char.isalnum() or char in "._" else "_" for char in text)
