# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which values the fields of a result row may have, as far as the tool computes with them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

_NAMES = ("case", "manager", "status")
_TEXTS = (
    *("backend", "device", "driver", "toolkit", "commit", "time", "command", "reason", "key"),
    *("mode", "graph", "distribution"),
)
_POSITIVE = (
    *("threads", "size_min", "size_max", "heap_bytes", "iterations", "rounds", "pages"),
    *("free_percent", "word_bits"),
)
_NUMBERS = (
    *("seed", "null_returns", "corrupted", "wall_s", "nodes", "edges"),
    *("tas", "tas_model", "was", "was_bound"),
    *("range_over_bytes", "range_over_bytes_last", "utilization", "refilled_share"),
)
# Objects of numbers, such as {"median": 2.5}.
_SUMMARIES = (
    *("malloc_ms", "free_ms", "init_ms", "churn_ms", "null_ms"),
    *("malloc_ticks_fresh", "malloc_ticks_warm", "free_ticks_fresh", "free_ticks_warm"),
)


def fault(row: dict[str, Any]) -> str | None:
    """Say which field of a row has a value that it cannot have, or give None."""
    for name in _NAMES:
        if not isinstance(row.get(name), str):
            return f"the row has no {name}"
    for name, value in row.items():
        what = None if value is None else _wanted(name, value)
        if what:
            return f"{name} is {_short(value)}; {what} is needed"
    for name, value in _parts(row):
        if value is not None and not _is_number(value):
            return f"{name} is {_short(value)}; a number from 0 is needed"
    return None


def _wanted(name: str, value: Any) -> str | None:
    """Say what a field needs if it is not the value that it has."""
    if name in _TEXTS and not isinstance(value, str):
        return "a text"
    if name in _POSITIVE and not (_is_number(value) and value > 0):
        return "a number above 0"
    if name in _NUMBERS and not _is_number(value):
        return "a number from 0"
    if name in _SUMMARIES and not isinstance(value, dict):
        return "an object of numbers"
    return None


def _parts(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give the numbers of the summaries by the names that columns have, as in malloc_ms.median."""
    for name, value in row.items():
        if name in _SUMMARIES and value is not None:
            yield from ((f"{name}.{part}", number) for part, number in value.items())
        elif name.partition(".")[0] in _SUMMARIES and "." in name:
            yield name, value


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value)) and value >= 0
    except OverflowError:
        return False


def _short(value: Any, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + "…"
