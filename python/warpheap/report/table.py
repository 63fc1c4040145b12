# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads result files into tables: one section for each backend, device and commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from warpheap import results
from warpheap.errors import UserError
from warpheap.report.style import LIMIT_PROBE

# What makes two rows the same measurement; the manager is left out when rows are compared.
_POINT = (
    "case",
    "mode",
    "threads",
    "size_min",
    "size_max",
    "heap_bytes",
    "iterations",
    "seed",
    "graph",
    "distribution",
)
_TIMES = tuple(
    f"{part}_ms.{value}"
    for part in ("malloc", "free", "init")
    for value in ("first", "median", "mean", "std", "min", "max")
)
_EXPECTED = (
    *("case", "manager", "backend", "device", "driver", "toolkit", "commit", "time", "command"),
    *("status", "reason", "null_returns", "corrupted", "wall_s", "source"),
    *_POINT,
    *_TIMES,
)


@dataclass(frozen=True)
class Section:
    """The rows of one backend, device and commit. ``usable`` are those whose times may be drawn."""

    backend: str
    device: str
    commit: str
    rows: pd.DataFrame
    usable: pd.DataFrame

    @property
    def title(self) -> str:
        """Name the section by its backend and device."""
        return f"{self.backend.upper()}: {self.device}"


@dataclass(frozen=True)
class Results:
    """All sections, and how many rows of older commits were left out."""

    sections: list[Section]
    left_out: int


def load(places: Sequence[Path], all_commits: bool = False) -> Results:
    """Read result files and folders of them.

    Of a measurement that was repeated the last row counts. Without ``all_commits`` each file gives
    the rows of its newest commit only, for each backend and device. Raises UserError if there are
    no rows.
    """
    tables = []
    left_out = 0
    for file in results.find_files(list(places)):
        rows = results.read(file)
        if not rows:
            continue
        table = _frame(rows).assign(source=f"{file.resolve().parent.name}/{file.name}")
        if not all_commits:
            newest = table.groupby(["backend", "device"])["commit"].transform("last")
            left_out += int((table["commit"] != newest).sum())
            table = table[table["commit"] == newest]
        tables.append(table)
    if not tables:
        raise UserError(f"no rows in {', '.join(str(place) for place in places)}")
    joined = pd.concat(tables, ignore_index=True)
    return Results(_sections(joined), left_out)


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Make the table of rows: nested times become columns such as ``malloc_ms.median``."""
    table = pd.json_normalize(rows)
    missing = [name for name in _EXPECTED if name not in table.columns]
    table = table.reindex(columns=[*table.columns, *missing])
    for name in ("device", "commit", "time", "command", "reason"):
        table[name] = table[name].fillna("").astype(str)
    table["order"] = range(len(table))
    if "key" in table.columns:
        has_key = table["key"].notna()
        keyed = table[has_key].drop_duplicates(["key", "commit"], keep="last")
        table = pd.concat([keyed, table[~has_key]])
    return table.sort_values("order").drop(columns="order")


def _sections(table: pd.DataFrame) -> list[Section]:
    sections = []
    for (backend, device, commit), rows in table.groupby(["backend", "device", "commit"]):
        sections.append(Section(backend, device, commit, rows, _usable(rows)))
    newest = {id(section): section.rows["time"].max() for section in sections}
    sections.sort(key=lambda section: newest[id(section)], reverse=True)
    return sorted(sections, key=lambda section: section.backend == "cpu")


def _usable(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep rows that did the whole work, and add what figures compare.

    A manager that answered null did less than the others, so its time would flatter it.
    """
    served = pd.to_numeric(rows["null_returns"]).fillna(0) == 0
    intact = pd.to_numeric(rows["corrupted"]).fillna(0) == 0
    usable = rows[(rows["status"] == "ok") & served & intact].copy()
    for name in _TIMES:
        usable[name] = pd.to_numeric(usable[name])
    usable["malloc_first_over_warm"] = usable["malloc_ms.first"] / usable["malloc_ms.median"]
    point = [name for name in _POINT if name == "case" or usable[name].notna().any()]
    probe = usable[usable["manager"] == LIMIT_PROBE]
    for part in ("malloc", "free"):
        column = f"{part}_ms.median"
        limit = probe.groupby(point, dropna=False)[column].last().rename("limit").reset_index()
        joined = usable[point].merge(limit, on=point, how="left")["limit"]
        usable[f"{part}_over_limit"] = usable[column].to_numpy() / joined.to_numpy()
    return usable
