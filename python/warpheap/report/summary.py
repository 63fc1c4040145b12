# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report's tables: facts of a run, one line per manager, what a case without a figure
measured, what was not measured, every row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from warpheap.report.fields import (
    IMPLIED,
    NOT_IDENTITY,
    UNTOLD,
    identity,
    measured,
    one_size,
    parameters,
    phrases,
    text,
)
from warpheap.report.sections import Section, as_usual
from warpheap.results import GOOD
from warpheap.row_fields import Field
from warpheap.units import milliseconds

# The block size of the one-line comparison; the nearest measured one is taken.
_SUMMARY_SIZE = 256
_SHORT = "returned null for some requests; not drawn"


@dataclass(frozen=True)
class Problem:
    """Rows of one case without a time, all for the same reason."""

    managers: str
    case: str
    status: str
    reason: str
    where: str
    rows: int


@dataclass(frozen=True)
class Line:
    """A row of a table of measured values; ``where`` are its parameters that not all rows share."""

    manager: str
    where: str
    cells: list[str]
    status: str
    reason: str


@dataclass(frozen=True)
class Table:
    """What a case measured. ``shared`` are the parameters that all rows have in common; ``about``
    explains the columns.
    """

    shared: str
    about: str
    columns: list[str]
    lines: list[Line]


def facts(section: Section) -> list[tuple[str, str]]:
    """Return what must be known to repeat or to trust the measurements."""
    rows = section.rows
    counts = rows["status"].value_counts()
    times = rows.loc[rows["time"] != "", "time"]
    measured = f"{_when(times.min())} to {_when(times.max())}" if len(times) else ""
    entries = [
        ("Device", section.device),
        ("Driver", _values(rows, "driver")),
        ("Toolkit", _values(rows, "toolkit")),
        ("Commit", section.commit),
        ("Measured", measured),
        ("Rows", ", ".join(f"{count} {status}" for status, count in counts.items())),
        ("File", _values(rows, "source")),
    ]
    return [(name, value) for name, value in entries if value]


def reference(section: Section) -> tuple[str, pd.DataFrame]:
    """Choose the rows for the one-line comparison: one row of ``alloc`` a manager.

    They have the most threads, the size near 256 B and the usual value of every other parameter.
    Returns what they have in common, in words, and the rows: none if ``alloc`` was not measured.
    """
    rows = section.usable[section.usable["case"] == "alloc"]
    rows = rows[(rows["mode"] == "thread") & one_size(rows)]
    if rows.empty:
        return "", rows
    usual = {name: _usual(rows[name]) for name in identity(section.known)}
    usual["threads"] = rows["threads"].max()
    # Files without sizes make this a column of objects, which pandas 1.5 does not compare.
    distance = (rows["size_max"].astype(float) - _SUMMARY_SIZE).abs()
    usual["size_min"] = usual["size_max"] = rows.loc[distance.idxmin(), "size_max"]
    for name, value in usual.items():
        if value is not None:
            rows = rows[as_usual(rows[name], value) == value]
    told = {name: value for name, value in usual.items() if value is not None}
    return phrases(told, section.known, leave_out={*UNTOLD, "distribution"}), rows


def _usual(values: pd.Series) -> Any:
    """Return the most frequent value, or None if there is none."""
    frequent = values.dropna().mode()
    return frequent.iloc[0] if len(frequent) else None


def managers(section: Section) -> tuple[str, list[dict[str, str]]]:
    """Return one line per manager: how its rows ended and its times at the reference point."""
    title, chosen = reference(section)
    lines = []
    for name, rows in section.rows.groupby("manager", sort=False):
        counts = rows["status"].value_counts()
        bad = int(counts.drop(list(GOOD), errors="ignore").sum())
        times = chosen[chosen["manager"] == name]
        lines.append(
            {
                "manager": str(name),
                "ok": str(counts.get("ok", 0)),
                "skipped": str(counts.get("skipped", 0)),
                "bad": str(bad),
                "first": _time(times, "malloc_ms.first"),
                "malloc": _time(times, "malloc_ms.median"),
                "free": _time(times, "free_ms.median"),
            }
        )
    return title, lines


def problems(section: Section) -> list[Problem]:
    """Return what was skipped or failed, and ok rows with nulls, grouped by reason."""
    short = _short(section)
    rows = section.rows.assign(reason=section.rows["reason"].mask(short, _SHORT))
    rows = rows[(rows["status"] != "ok") | short]
    found = []
    for key, group in rows.groupby(["status", "case", "reason"], sort=False):
        status, case, reason = (str(part) for part in key)
        names = ", ".join(group["manager"].unique())
        where = "; ".join(_distinct(group, section))
        found.append(Problem(names, case, status, reason or "no reason given", where, len(group)))
    # What failed comes before what was never tried.
    return sorted(found, key=lambda problem: problem.status == "skipped")


def measured_values(section: Section, case: str) -> Table:
    """Return the values of all rows of a case; those with the same parameters stand together."""
    rows = section.rows[section.rows["case"] == case]
    rows = rows.assign(reason=rows["reason"].mask(_short(section), _SHORT))
    varied, shared = _varied(rows, section)
    results = list(measured(section.known, case, rows))
    lines = []
    for _, row in rows.iterrows():
        given = {name: row[name] for name in varied if pd.notna(row[name])}
        where = phrases(given, section.known, leave_out={*NOT_IDENTITY, *IMPLIED})
        cells = [text(f, row[column]) if pd.notna(row[column]) else "" for f, column in results]
        lines.append(Line(row["manager"], where, cells, row["status"], row["reason"]))
    order = {where: place for place, where in enumerate(dict.fromkeys(n.where for n in lines))}
    lines.sort(key=lambda line: order[line.where])
    about = "; ".join(dict.fromkeys(f"{_counted(f)}: {f.about}" for f, _ in results if f.about))
    common = phrases(shared, section.known, leave_out=UNTOLD)
    return Table(common, about, [column for _, column in results], lines)


def _varied(rows: pd.DataFrame, section: Section) -> tuple[list[str], dict[str, Any]]:
    """Return the parameters in which rows differ, and the values of the others.

    Rows with another status than ok may lack a parameter.
    """
    names = [field.name for field in parameters(section.known, rows.columns)]
    ok = rows[rows["status"] == "ok"]
    varied = {n for n in names if rows[n].nunique() > 1 or ok[n].nunique(dropna=False) > 1}
    sizes = {"size_min", "size_max"}  # they are said together
    varied |= sizes if varied & sizes else set()
    given = {name: rows[name].dropna() for name in names if name not in varied}
    shared = {name: values.iloc[0] for name, values in given.items() if len(values)}
    return [name for name in names if name in varied], shared


def _counted(field: Field) -> str:
    """Name a field, with the unit that its values leave out."""
    count = field.kind == "integer" and field.unit not in ("", "bytes", field.name)
    return f"{field.name} ({field.unit})" if count else field.name


def _short(section: Section) -> pd.Series:
    """Choose the rows that are ok but did less work, as some requests returned null."""
    rows = section.rows
    nulls = pd.to_numeric(rows["null_returns"]).fillna(0)
    return (rows["status"] == "ok") & (nulls > 0) & ~rows["case"].isin(section.filling)


def every_row(section: Section) -> Iterator[dict[str, str]]:
    """Return every row for the last table, with the command that repeats it."""
    for _, row in section.rows.iterrows():
        yield {
            "case": row["case"],
            "manager": row["manager"],
            "where": details(row, section),
            "status": row["status"],
            "first": _number(row["malloc_ms.first"]),
            "malloc": _number(row["malloc_ms.median"]),
            "free": _number(row["free_ms.median"]),
            "command": row["command"],
        }


def details(row: pd.Series, section: Section) -> str:
    """Say in a few words with which parameters a row was measured."""
    names = (field.name for field in parameters(section.known, row.index))
    given = {name: row[name] for name in names if pd.notna(row[name])}
    return phrases(given, section.known, leave_out=UNTOLD)


def _distinct(rows: pd.DataFrame, section: Section) -> list[str]:
    """Say what a group of rows covers: every value of each parameter that varies in it."""
    parts = []
    for field in parameters(section.known, rows.columns):
        values = [text(field, value) for value in rows[field.name].dropna().unique()]
        if values and field.name not in {*UNTOLD, "size_min"}:
            shown = values if len(values) <= 3 else [values[0], "…", values[-1]]
            parts.append(field.phrase.replace("{}", ", ".join(shown)))
    return parts


def _when(time: str) -> str:
    return time.replace("T", " ").replace("+00:00", "Z").replace("Z", " UTC")


def _values(rows: pd.DataFrame, column: str) -> str:
    return ", ".join(str(value) for value in rows[column].dropna().unique())


def _time(rows: pd.DataFrame, column: str) -> str:
    return _number(rows[column].iloc[-1]) if len(rows) else ""


def _number(value: float) -> str:
    return milliseconds(float(value)) if pd.notna(value) else ""
