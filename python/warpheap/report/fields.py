# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the report must know of a row's fields: unit, role and words. The only list of them here.

A field that is not listed is shown as a plain number and never told apart from others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from warpheap.units import binary, decimal, milliseconds

Format = Callable[[float], str]


class Role(StrEnum):
    """What a parameter does in a figure."""

    AXIS = "axis"  # may be an x axis; otherwise a facet
    FACET = "facet"  # rows that differ in it never share a line
    DETAIL = "detail"  # told in tables only


def number_of_bytes(value: float) -> str:
    """Format a size: 2048 -> '2 KiB'."""
    return binary(value, "B")


def percent(value: float) -> str:
    """Format a number that is already in percent: 0.5 -> '0.5 %'."""
    return f"{value:g} %"


def share(value: float) -> str:
    """Format a share of 1: 0.5 -> '50 %'."""
    return f"{100 * value:.3g} %"


def times(value: float) -> str:
    """Format a ratio, with the multiplication sign behind it."""
    return f"{decimal(value)}×"


def _plain(value: float) -> str:
    return f"{value:g}"


def _mode(value: Any) -> str:
    return f"one block a {value}"


def _distribution(value: Any) -> str:
    return "powers of two" if value == "powers" else str(value)


# How a number is written, by the unit of its field.
UNITS: Mapping[str, Format] = {
    "bytes": number_of_bytes,
    "threads": binary,
    "pages": binary,
    "%": percent,
    "share": share,
    "ratio": times,
    "ms": milliseconds,
    "": _plain,
}


@dataclass(frozen=True)
class Field:
    """One parameter: ``label`` names it on an axis, ``phrase`` says a value in running text."""

    name: str
    role: Role
    label: str
    unit: str = ""
    noun: str = ""
    words: Callable[[Any], str] | None = None

    @property
    def ticks(self) -> Format:
        """Give the function that writes a value of the field with its unit."""
        return UNITS[self.unit]

    @property
    def log(self) -> bool:
        """Tell whether an axis of it is logarithmic: counts and sizes are, shares are not."""
        return self.unit not in ("%", "share")

    def phrase(self, value: Any) -> str:
        """Say a value in a few words: '16 GiB heap'."""
        if self.words is not None:
            return self.words(value)
        noun = self.noun[:-1] if value == 1 and self.noun.endswith("s") else self.noun
        return f"{self.ticks(float(value))} {noun}".rstrip()


PARAMETERS = (
    Field("mode", Role.FACET, "mode", words=_mode),
    Field("threads", Role.AXIS, "threads", "threads", "threads"),
    Field("size_min", Role.FACET, "smallest size", "bytes", "smallest"),
    Field("size_max", Role.AXIS, "block size", "bytes", "largest"),
    Field("distribution", Role.FACET, "distribution", words=_distribution),
    Field("heap_bytes", Role.FACET, "heap size", "bytes", "heap"),
    Field("graph", Role.FACET, "graph", words=str),
    Field("rounds", Role.FACET, "rounds", noun="rounds"),
    Field("pages", Role.FACET, "pages", "pages", "pages"),
    Field("free_percent", Role.FACET, "free share of the heap", "%", "free"),
    Field("used_percent", Role.AXIS, "share of the heap in use", "%", "in use"),
    Field("word_bits", Role.FACET, "bits of a word", noun="bit"),
    Field("trace", Role.FACET, "trace", words=str),
    Field("program", Role.FACET, "program", words=str),
    Field("upstream", Role.FACET, "upstream", words=lambda value: f"over {value}"),
    Field("initial_bytes", Role.FACET, "initial size", "bytes", "at the start"),
    Field("limit_bytes", Role.FACET, "limit", "bytes", "limit"),
    Field("seed", Role.FACET, "seed", words=lambda value: f"seed {float(value):g}"),
    Field("iterations", Role.DETAIL, "warm runs", noun="warm runs"),
)
BY_NAME: Mapping[str, Field] = {entry.name: entry for entry in PARAMETERS}
# What makes two rows the same measurement, beside backend, device, case and manager. How often a
# launch was repeated says how well it was measured, not what.
NOT_IDENTITY = frozenset(entry.name for entry in PARAMETERS if entry.role is Role.DETAIL)
IDENTITY = tuple(entry.name for entry in PARAMETERS if entry.name not in NOT_IDENTITY)
# Of the facets those that most cases leave at one value, which then needs no mention.
SPLIT = ("heap_bytes", "seed", "distribution", "free_percent")
# Parameters that say the same in other words: with the first on an axis, the second is told, too.
IMPLIED: Mapping[str, str] = {"used_percent": "free_percent"}


def phrases(values: Mapping[str, Any], leave_out: Iterable[str] = ()) -> str:
    """Say in a few words what rows have in common; the two sizes are said together."""
    told = {n: v for n, v in values.items() if n in BY_NAME and n not in leave_out}
    least, most = told.pop("size_min", None), told.pop("size_max", None)
    parts = [BY_NAME[name].phrase(value) for name, value in told.items()]
    if most is not None and least in (None, most):
        parts.append(f"blocks of {number_of_bytes(float(most))}")
    elif most is not None and least is not None:
        sizes = f"{number_of_bytes(float(least))} to {number_of_bytes(float(most))}"
        parts.append(f"blocks of {sizes}")
    elif least is not None:
        parts.append(f"blocks from {number_of_bytes(float(least))}")
    return ", ".join(parts)


def timed(columns: Iterable[str]) -> list[str]:
    """Give the names of the times that a table has summaries of: ``malloc_ms`` and the like."""
    return [name.removesuffix(".median") for name in columns if name.endswith("_ms.median")]
