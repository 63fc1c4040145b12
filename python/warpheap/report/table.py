# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads result files into tables: a section for each backend and device, and for each commit unless
commits are joined."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from warpheap import results
from warpheap.errors import UserError
from warpheap.plan_cases import FILLING
from warpheap.report.commits import Commits
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
    "free_percent",
    "pages",
    "rounds",
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
    """The rows of a backend, device and commit. ``usable`` are those whose times may be drawn."""

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


def load(places: Sequence[Path], commits: Commits = Commits.NEWEST) -> Results:
    """Read result files and folders of them.

    Of a measurement that was repeated the last row counts. Raises UserError if there are no rows.
    """
    tables = []
    left_out = 0
    for file in results.find_files(list(places)):
        rows = results.read(file)
        if not rows:
            continue
        table = _frame(rows).assign(source=f"{file.resolve().parent.name}/{file.name}")
        if commits is Commits.NEWEST:
            newest = table.groupby(["backend", "device"])["commit"].transform("last")
            left_out += int((table["commit"] != newest).sum())
            table = table[table["commit"] == newest]
        tables.append(table)
    if not tables:
        raise UserError(f"no rows in {', '.join(str(place) for place in places)}")
    together = pd.concat(tables, ignore_index=True)
    if commits is Commits.JOINED:
        together = _newest_of_each(together)
    return Results(_sections(together, commits is Commits.JOINED), left_out)


def _newest_of_each(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the newest row of each measurement."""
    point = ["backend", "device", "manager", *_POINT]
    return table.sort_values("time", kind="stable").drop_duplicates(point, keep="last").sort_index()


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Make the table of rows: nested times become columns such as ``malloc_ms.median``."""
    table = pd.json_normalize(rows)
    missing = [name for name in _EXPECTED if name not in table.columns]
    table = table.reindex(columns=[*table.columns, *missing])
    _complete(table)
    table["order"] = range(len(table))
    if "key" in table.columns:
        has_key = table["key"].notna()
        keyed = table[has_key].drop_duplicates(["key", "commit"], keep="last")
        table = pd.concat([keyed, table[~has_key]])
    return table.sort_values("order").drop(columns="order")


def _complete(table: pd.DataFrame) -> None:
    """Fill in what rows lack that a program wrote without the tool."""
    for name in ("backend", "device", "commit"):
        known = table[name].dropna().unique()
        table[name] = table[name].fillna(known[0] if len(known) == 1 else "unknown")
    for name in ("time", "reason"):
        table[name] = table[name].fillna("").astype(str)
    table["graph"] = table["graph"].map(_graph_name, na_action="ignore")
    table["command"] = [
        row["command"] if isinstance(row["command"], str) else _command(row)
        for _, row in table[["backend", "command", *_POINT, "manager"]].iterrows()
    ]


def _graph_name(text: str) -> str:
    """Give a graph's name from that of the CSR file that the tool made of it."""
    return re.sub(r"-[0-9a-f]{16}$", "", Path(text).stem) if text.endswith(".csr") else text


def _command(row: pd.Series) -> str:
    """Say how to repeat a row that does not say it itself."""
    words = ["warpheap", "bench", "--backend", row["backend"], "--manager", row["manager"]]
    for name in _POINT:
        value = row[name]
        if pd.isna(value) or (name == "mode" and value == "thread"):
            continue  # each thread allocates by itself unless something else is said
        text = f"{value:.15g}" if isinstance(value, float) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    return shlex.join(words)


def _sections(table: pd.DataFrame, joined: bool) -> list[Section]:
    sections = []
    for (backend, device, *_), rows in table.groupby(
        ["backend", "device"] if joined else ["backend", "device", "commit"]
    ):
        commit = ", ".join(rows["commit"].unique())
        sections.append(Section(backend, device, commit, rows, _usable(rows)))
    newest = {id(section): section.rows["time"].max() for section in sections}
    sections.sort(key=lambda section: newest[id(section)], reverse=True)
    return sorted(sections, key=lambda section: section.backend == "cpu")


def _usable(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep rows that did the whole work, and add what figures compare.

    A manager that answered null did less than the others, so its time would flatter it, except in
    the cases that wait for null.
    """
    served = rows["case"].isin(FILLING) | (pd.to_numeric(rows["null_returns"]).fillna(0) == 0)
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
