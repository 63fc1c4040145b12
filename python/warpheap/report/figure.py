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

    A y axis that is not ``log`` starts at 0.
    """

    column: str
    label: str
    ticks: Format = decimal
    log: bool = True
    more_is_better: bool = False


@dataclass(frozen=True)
class FigureSpec:
    """One kind of figure; it is drawn once for each combination of the ``facets`` columns, whose
    values its title says, and of all other parameters whose role is facet: those are said where a
    value is not the usual one, so no figure need name them.

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


def one_size(table: pd.DataFrame) -> Any:
    """Choose the rows whose blocks are all of one size."""
    return table["size_min"] == table["size_max"]


def share(value: float) -> str:
    """Write a share in percent."""
    return f"{100 * value:.3g} %"


def times(value: float) -> str:
    """Write a ratio."""
    return f"{decimal(value)}×"
