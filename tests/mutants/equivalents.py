# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Read which mutants equivalent.toml says no test can tell from the header as it is, and why."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import mutate
from mutate import TableError

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
_TIME = "time"  # the kind of those that cost time; without a kind, a mutant changes nothing
_ENTRY: mutate.Keys = (
    {"header": str, "line": str, "about": str, "why": str},
    {"which": int, "kind": str},
)

Place = tuple[str, str, str, int]  # header, line, mistake, and which of equal ones


@dataclass(frozen=True)
class Reason:
    """Why a mutant counts as equivalent, and whether it changes how long something takes."""

    why: str
    costs_time: bool = False


def read_equivalents(path: Path = EQUIVALENT) -> dict[Place, Reason]:
    """Read the entries of a file by their places. One with a key or a kind of no use is refused."""
    table = tomllib.loads(path.read_text())
    for key in table.keys() - {"equivalent"}:
        raise TableError(f"{path}: unknown key '{key}'")
    found: dict[Place, Reason] = {}
    for number, entry in enumerate(table.get("equivalent", []), 1):
        where = f"{path}: entry {number} ({entry.get('header', 'no header')})"
        mutate.check_entry(where, entry, _ENTRY)
        kind = entry.get("kind", _TIME)
        if kind != _TIME:
            raise TableError(f"{where} has the kind '{kind}'; known: '{_TIME}'")
        place = entry["header"], entry["line"], entry["about"], entry.get("which", 0)
        if place in found:
            raise TableError(f"{where}: the mutant has an entry already")
        found[place] = Reason(entry["why"], "kind" in entry)
    return found
