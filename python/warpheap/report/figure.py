# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a figure of the report is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from warpheap.report.fields import UNDESCRIBED, text
from warpheap.row_fields import Field
from warpheap.units import decimal

Format = Callable[[float], str]


@dataclass(frozen=True)
class Axis:
    """One axis: the column it shows, its label, and how its ticks are written (with the unit).

    The columns ``plus`` are added to that one, and the sum is divided by the column ``over``. A y
    axis that is not ``log`` starts at 0.
    """

    column: str
    label: str
    ticks: Format = decimal
    log: bool = True
    more_is_better: bool = False
    plus: tuple[str, ...] = ()
    over: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that it needs."""
        return (self.column, *self.plus, *([self.over] if self.over else []))

    def values(self, rows: pd.DataFrame) -> pd.Series:
        """Return what it shows of each row."""
        shown = pd.to_numeric(rows[self.column])
        for name in self.plus:
            shown = shown + pd.to_numeric(rows[name])
        return shown / pd.to_numeric(rows[self.over]) if self.over else shown


@dataclass(frozen=True)
class FigureSpec:
    """One kind of figure; it is drawn once for each combination of the ``facets`` columns, whose
    values its title says, and of all other parameters that are an axis or a facet by their role:
    those are said where a value is not the usual one, so no figure need name them. An exception are
    the parameters ``along``, which go with x.

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
    along: tuple[str, ...] = ()
    where: Callable[[pd.DataFrame], Any] | None = None


def axis_of(field: Field, label: str = "", column: str = "") -> Axis:
    """Make the axis of a field: counts and sizes are logarithmic, shares are not."""
    log = field.unit not in ("%", "share")
    ticks = partial(text, field)
    return Axis(column or field.name, label or name_of(field), ticks, log, field.better == "more")


def name_of(field: Field) -> str:
    """Return what an axis of the field is called."""
    return field.about or field.name.replace("_", " ")


def known_axis(name: str, label: str = "") -> Axis:
    """Make the axis of a field of the published rows."""
    return axis_of(UNDESCRIBED.fields[name], label)


def share(value: float) -> str:
    """Write a share in percent."""
    return f"{100 * value:.3g} %"


def times(value: float) -> str:
    """Write a ratio."""
    return f"{decimal(value)}×"
