# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads result files into tables: a section for each backend and device.

Of rows that measured the same the newest counts, so a collection may grow over several commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from warpheap import published, repeat_command, results
from warpheap.errors import UserError
from warpheap.report.fields import UNDESCRIBED, describe, identity
from warpheap.report.style import LIMIT_PROBE, rank
from warpheap.row_fields import Description

_TIMES = tuple(
    f"{part}_ms.{value}"
    for part in ("malloc", "free", "init")
    for value in ("first", "median", "mean", "std", "min", "max")
)
_EXPECTED = (
    *("manager", "backend", "device", "driver", "toolkit", "commit", "time", "command"),
    *("status", "reason", "null_returns", "corrupted", "wall_s", "source"),
    *("iterations", "case"),
    *_TIMES,
)


@dataclass(frozen=True)
class Section:
    """The rows of a backend and device. ``usable`` are those whose times may be drawn;
    ``known`` describes their fields.
    """

    backend: str
    device: str
    commit: str
    rows: pd.DataFrame
    usable: pd.DataFrame
    known: Description

    @property
    def filling(self) -> set[str]:
        """Return the cases that go on until the heap is exhausted, so that they wait for null."""
        return _filling(self.rows, self.known)

    @property
    def title(self) -> str:
        """Name the section by its backend and device."""
        return f"{self.backend.upper()}: {self.device}"


@dataclass(frozen=True)
class Results:
    """All sections. ``replaced`` counts the rows that a newer one of the same measurement hid."""

    sections: list[Section]
    replaced: int


def load(places: Sequence[Path], by_commit: bool = False) -> Results:
    """Read result files and folders of them.

    With ``by_commit`` each commit gets sections of its own and hides no row of another one.
    Raises UserError if there are no rows.
    """
    known = UNDESCRIBED
    read = []
    for place in places:
        for file in results.find_files([place]):
            rows = results.read(file)
            if rows:
                known = known.merged(describe(file))
                read.append((place, rows))
    if not read:
        raise UserError(f"no rows in {', '.join(str(place) for place in places)}")
    tables = [_frame(rows, known).assign(source=str(place)) for place, rows in read]
    columns = dict.fromkeys(name for table in tables for name in table.columns)
    # pandas will no longer leave columns without a value out of account when it chooses a type.
    told = [table.dropna(axis="columns", how="all") for table in tables]
    together = pd.concat(told, ignore_index=True).reindex(columns=list(columns))
    _complete(together, known)
    newest = _newest_of_each(together, by_commit)
    return Results(_sections(newest, by_commit, known), len(together) - len(newest))


def as_usual(values: pd.Series, usual: Any) -> pd.Series:
    """Fill in the usual value where rows leave it out."""
    return values.map(lambda value: usual if pd.isna(value) else value)


def _newest_of_each(table: pd.DataFrame, by_commit: bool) -> pd.DataFrame:
    """Keep the newest row of each measurement, or of each measurement and commit."""
    point = ["backend", "device", "identity", *(["commit"] if by_commit else [])]
    newest = table.sort_values("time", kind="stable").drop_duplicates(point, keep="last")
    # Managers that belong together stand together in tables and legends.
    by_rank = newest.sort_index().sort_values("manager", key=_ranks, kind="stable")
    return by_rank.reset_index(drop=True)


def _ranks(managers: pd.Series) -> pd.Series:
    return managers.map(rank)


def _frame(rows: list[dict[str, Any]], known: Description) -> pd.DataFrame:
    """Make the table of rows: nested times become columns such as ``malloc_ms.median``."""
    table = pd.json_normalize(rows)
    parameters = identity(known)
    missing = [name for name in (*_EXPECTED, *parameters) if name not in table.columns]
    table = table.reindex(columns=[*table.columns, *missing])
    for name in ("backend", "device", "commit"):
        values = table[name].dropna().unique()
        table[name] = _filled(table[name], values[0] if len(values) == 1 else "unknown")
    return table.assign(identity=[published.identity(row, parameters) for row in rows])


def _filled(column: pd.Series, text: str) -> pd.Series:
    """Put a text where values are missing: where all are, the column is one of numbers."""
    return column.astype(object).fillna(text)


def _complete(table: pd.DataFrame, known: Description) -> None:
    """Fill in what rows lack that a program wrote without the tool."""
    for name in ("time", "reason"):
        table[name] = _filled(table[name], "").astype(str)
    table["graph"] = table["graph"].map(published.graph_name, na_action="ignore")
    named = table[["backend", "command", *_point(known), "iterations", "manager"]]
    table["command"] = [repeat_command.command(row.to_dict(), known) for _, row in named.iterrows()]
    # The same fact, as an axis: how full the heap was at the start.
    in_use = 100 - pd.to_numeric(table["free_percent"])
    table["used_percent"] = pd.to_numeric(table["used_percent"], errors="coerce").fillna(in_use)


def _point(known: Description) -> list[str]:
    """Return what identifies a measurement when the rows of managers are compared."""
    return ["case", *identity(known)]


def _filling(rows: pd.DataFrame, known: Description) -> set[str]:
    return {case for case in rows["case"].unique() if known.fills(case)}


def _sections(table: pd.DataFrame, by_commit: bool, known: Description) -> list[Section]:
    sections = []
    for (backend, device, *_), rows in table.groupby(
        ["backend", "device", *(["commit"] if by_commit else [])]
    ):
        commit = ", ".join(rows["commit"].unique())
        rows = rows.copy()
        sections.append(Section(backend, device, commit, rows, _usable(rows, known), known))
    newest = {id(section): section.rows["time"].max() for section in sections}
    sections.sort(key=lambda section: newest[id(section)], reverse=True)
    return sorted(sections, key=lambda section: section.backend == "cpu")


def _usable(rows: pd.DataFrame, known: Description) -> pd.DataFrame:
    """Keep rows that did the whole work, and add what figures compare.

    A manager that returned null did less than the others, so its time would flatter it, except in
    the cases that wait for null.
    """
    served = rows["case"].isin(_filling(rows, known)) | (
        pd.to_numeric(rows["null_returns"]).fillna(0) == 0
    )
    intact = pd.to_numeric(rows["corrupted"]).fillna(0) == 0
    usable = rows[(rows["status"] == "ok") & served & intact].copy()
    for name in _TIMES:
        usable[name] = pd.to_numeric(usable[name])
    # As texts: the type of a parameter that the probe never has differs, and would not compare.
    point = _point(known)
    points = usable[point].astype(str)
    probe = points[usable["manager"] == LIMIT_PROBE].drop_duplicates(keep="last")
    for part in ("malloc", "free"):
        column = f"{part}_ms.median"
        limits = probe.assign(limit=usable.loc[probe.index, column])
        limit = points.merge(limits, on=point, how="left")["limit"]
        usable[f"{part}_over_limit"] = usable[column].to_numpy() / limit.to_numpy()
    return usable.copy()  # in one piece: it has many columns that were added one by one
