# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows as tables of a SQL database: a folder of rows is a table, under the folder's path.

``SELECT manager, malloc_ms_median FROM "results/nvidia-h200/alloc"``: the columns are the fields of
docs/results.md; what a field holds by name follows it after an underscore. ``"case"`` and
``"commit"`` are words of SQL and need their quotes.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from warpheap import results
from warpheap.report.style import rank
from warpheap.units import binary, milliseconds

FOLDERS = ("results", "docs/decisions")


def number(value: float | None) -> str | None:
    """Write a number with the digits that are worth reading: 0.75, 6.8, 89, 1,524."""
    if value is None:
        return None
    digits = 0 if abs(value) >= 9.95 else 1 if abs(value) >= 0.995 else 2
    return f"{value:,.{digits}f}"


def significant(value: float, digits: int) -> str:
    """Write a number with this many significant digits, trailing zeros included: 2.000, 1,032."""
    text = f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:#.{digits}g}"
    return text.removesuffix(".")


_CONVERSION = re.compile(r"%(?:%|(?P<how>[^%a-z]*)(?P<kind>[a-z]))")


def printf(text: str, *values: Any) -> str:
    """Write values as SQL's printf does, correctly rounded: 11.35 was 11.4 before SQLite 3.43."""
    rest = iter(values)

    def write(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        value, kind = next(rest), found["kind"]
        if kind == "s":
            return "" if value is None else str(value)
        value = value or 0
        return format(int(value) if kind == "d" else float(value), found["how"] + kind)

    return _CONVERSION.sub(write, text)


def _unless_null(function: Callable[..., str]) -> Callable[..., str | None]:
    """Make a function of SQL that returns null for null."""
    return lambda *values: None if None in values else function(*values)


# What the queries can write values with; docs/results.md lists them.
FUNCTIONS: Mapping[str, tuple[int, Callable[..., Any]]] = {
    "number": (1, number),
    "significant": (2, _unless_null(significant)),
    "bytes": (1, _unless_null(lambda value: binary(value, "B"))),
    "binary": (1, _unless_null(binary)),
    "duration": (1, _unless_null(milliseconds)),
    "percent": (1, _unless_null(lambda share: f"{100 * share:.1f} %")),
    "code": (1, _unless_null(lambda text: f"`{text}`")),
    "rank": (1, rank),
    "printf": (-1, printf),
}


def connect(root: Path) -> sqlite3.Connection:
    """Load all published rows of a checkout into a database in memory.

    Raises UserError with FILE:LINE for a line that is not a row.
    """
    database = sqlite3.connect(":memory:")
    for name, (arguments, function) in FUNCTIONS.items():
        database.create_function(name, arguments, function, deterministic=True)
    for folder in FOLDERS:
        by_table: dict[str, list[dict[str, Any]]] = {}
        for file in sorted((root / folder).rglob("*.jsonl")):
            table = file.parent.relative_to(root).as_posix()
            by_table.setdefault(table, []).extend(results.read(file))
        for table, rows in by_table.items():
            _fill(database, table, [dict(_flat(row)) for row in rows])
    return database


def _fill(database: sqlite3.Connection, table: str, rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    names = ", ".join(f'"{name}"' for name in columns)
    database.execute(f'CREATE TABLE "{table}" ({names})')
    marks = ", ".join("?" * len(columns))
    values = ([row.get(name) for name in columns] for row in rows)
    database.executemany(f'INSERT INTO "{table}" VALUES ({marks})', values)


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        column = prefix + re.sub(r"\W", "_", name)
        if isinstance(value, dict):
            yield from _flat(value, f"{column}_")
        else:
            yield column, json.dumps(value) if isinstance(value, list) else value
