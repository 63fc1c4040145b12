# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the report knows about a row's fields: from ``fields.json`` beside the rows or, if there is
none, from those of the published rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpheap import row_fields
from warpheap.row_fields import Description, Field

if TYPE_CHECKING:  # it takes long to load, and only reports need it
    import pandas as pd

# What the report derives from other fields.
_DERIVED = (Field("used_percent", "%", "number", "axis", "share of the heap in use", "{} in use"),)


def _undescribed() -> Description:
    said = row_fields.of_published_rows()
    return said.merged(Description({f.name: f for f in _DERIVED}))


UNDESCRIBED = _undescribed()
# How often a launch was repeated says how well it was measured, not what.
NOT_IDENTITY = frozenset({"iterations"})
# Titles say these only where a value is not the usual one, also where the values vary.
SAID_IF_UNUSUAL = ("heap_bytes", "seed", "distribution", "free_percent")
# Parameters that say the same in other words: with the first on an axis, the second is told, too.
IMPLIED: Mapping[str, str] = {"used_percent": "free_percent"}
# What a reader of tables need not know of every row.
UNTOLD = frozenset({"seed", *NOT_IDENTITY, *IMPLIED})


def describe(file: Path) -> Description:
    """Return what is known about the fields in a file of rows."""
    return UNDESCRIBED.merged(row_fields.describe(file))


def identity(known: Description = UNDESCRIBED) -> tuple[str, ...]:
    """Return what makes two rows the same measurement, beside backend, device, case, manager and
    what a row's key names.
    """
    given = {field.name for field in known.parameters()}
    return tuple(
        field.name
        for field in known.fields.values()
        if (field.role in ("axis", "facet") or field.name in given)
        and field.name not in NOT_IDENTITY
    )


def parameters(known: Description, columns: Iterable[str]) -> list[Field]:
    """Return the parameters that a table has, in order: whatever is neither a result nor a name."""
    there = set(columns)
    wanted = {*identity(known), *NOT_IDENTITY}
    return [f for f in known.fields.values() if f.name in there and f.name in wanted]


def kept_apart(known: Description, rows: pd.DataFrame, told: Collection[str]) -> list[str]:
    """Return the parameters, beside those that a figure tells, of which a line has one value each:
    rows that differ in one that is an axis or a facet are never joined.

    Most cases leave them at one value, which needs no mention.
    """
    given = parameters(known, rows.columns)
    roles = [field.name for field in given if field.role in ("axis", "facet")]
    same = "size_max" in told and one_size(rows).all()
    known_anyway = {*told, *IMPLIED, *(["size_min"] if same else [])}
    return [n for n in dict.fromkeys([*SAID_IF_UNUSUAL, *roles]) if n not in known_anyway]


def one_size(rows: pd.DataFrame) -> pd.Series:
    """Choose the rows whose blocks are all of one size."""
    return rows["size_min"] == rows["size_max"]


def phrases(values: Mapping[str, Any], known: Description, leave_out: Iterable[str] = ()) -> str:
    """Describe briefly what rows have in common; the two sizes become one phrase."""
    told = {n: v for n, v in values.items() if n in known.fields and n not in leave_out}
    least, most = told.pop("size_min", None), told.pop("size_max", None)
    parts = [phrase(known.fields[name], value) for name, value in told.items()]
    if most is not None and least in (None, most):
        parts.append(f"blocks of {text(known.fields['size_max'], most)}")
    elif most is not None and least is not None:
        sizes = (text(known.fields[n], v) for n, v in (("size_min", least), ("size_max", most)))
        parts.append(f"blocks of {' to '.join(sizes)}")
    elif least is not None:
        parts.append(f"blocks from {text(known.fields['size_min'], least)}")
    return ", ".join(parts)


def text(field: Field, value: Any) -> str:
    """Write a value with its unit. Tables hold NumPy's numbers, not Python's."""
    return field.text(value.item() if hasattr(value, "item") else value)


def phrase(field: Field, value: Any) -> str:
    """Say a value in a few words: '16 GiB heap', '1 thread'."""
    said = field.say(value.item() if hasattr(value, "item") else value)
    return said[:-1] if value == 1 and said.endswith("s") else said


def measured(known: Description, case: str, rows: pd.DataFrame) -> Iterator[tuple[Field, str]]:
    """Return all that rows of a case have measured, details too: fields with their columns.

    A case without a description has all numbers that are not known to be something else.
    """
    there = [name for name in rows.columns if rows[name].notna().any()]
    if case in known.cases:
        every = [f for f in known.fields.values() if f.always and f.role == "result"]
        for field in [*every, *(known.fields[name] for name in known.cases[case].fields)]:
            if field.kind == "list":
                continue  # a cell has one value
            parts = (n for n in there if n == field.name or n.startswith(f"{field.name}."))
            yield from ((field, name) for name in parts)
        return
    results = {name for entry in known.cases.values() for name in entry.fields}
    for name in there:
        found = known.fields.get(name.partition(".")[0])
        if _numeric(rows[name]) and (not found or found.role == "result" or found.name in results):
            # What other cases say about a field need not be true of this one.
            yield Field(name, _unit(name), "number", "result"), name


def _numeric(values: pd.Series) -> bool:
    return all(isinstance(value, int | float) for value in values.dropna().tolist())


def _unit(column: str) -> str:
    """Return the unit that the name of a column tells, of those that are written with a prefix."""
    endings = {part.rpartition("_")[2] for part in column.split(".")}
    return next((unit for unit in ("bytes", "ms") if unit in endings), "")


def measures(known: Description, case: str, columns: Iterable[str]) -> Iterator[tuple[Field, str]]:
    """Return what can be drawn for a case: fields with the columns that have their values.

    A time has two, its median and its longest launch. A case without a description has all times.
    """
    there = list(columns)
    if case in known.cases:
        results = known.results(case)
    else:
        names = (name.removesuffix(".median") for name in there if name.endswith("_ms.median"))
        results = [Field(name, "ms", "summary", "result") for name in names]
    for field in results:
        parts = {"summary": [".median", ".max"], "number": [""], "integer": [""]}
        for part in parts.get(field.kind, []):
            if field.name + part in there and (part != ".max" or field.unit == "ms"):
                yield field, field.name + part
