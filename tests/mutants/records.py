# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts in a file of JSON lines, written as they come, from which another run may go on.

The last line of a mutant holds. A line with `control` tells whether what rejects mutants lets the
headers as they are pass.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from generated import Key, Mutant
from workshop import Verdict


class RecordError(Exception):
    """A file of verdicts that does not fit the mutants."""


def row_of(mutant: Mutant, done: bool) -> dict[str, Any]:
    """Return what is kept of a mutant: `open` while it lives and has not been through all."""
    status = mutant.verdict.status if mutant.verdict and not mutant.lives else "survived"
    return {
        "name": mutant.name,
        "header": mutant.header,
        "kind": mutant.fault.kind,
        "line": mutant.fault.line,
        "about": mutant.fault.about,
        "which": mutant.which,
        "status": status if done else "open",
        "by": mutant.verdict.by if mutant.verdict else "",
        "tried": mutant.tried,
        "equivalent": bool(mutant.why_equivalent),
    }


def read(path: Path, mutants: Iterable[Mutant]) -> dict[str, bool]:
    """Set the verdicts of an earlier run; return its controls that passed.

    Names are numbers, which another generator gives to other mutants: what they change tells.
    """
    known = {mutant.key: mutant for mutant in mutants}
    controls: dict[str, bool] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            row = json.loads(line)
            if "control" in row:
                # One that failed is asked again: what was wrong may have been mended.
                if row["passes"]:
                    controls[row["control"]] = True
                continue
            mutant = known.get(_key_of(row))
            verdict = Verdict(row["status"], row["by"])
            tried = list(row["tried"])
        except (ValueError, KeyError, TypeError) as error:
            raise RecordError(f"{path}:{number}: not a verdict: {error!r}") from error
        if mutant is None:
            raise RecordError(f"{path}:{number}: {row['name']} is not, or not the same, here")
        mutant.tried = tried
        mutant.verdict = verdict if verdict.status in ("killed", "stillborn") else None
    return controls


def keys_in(path: Path) -> set[Key]:
    """Return what the mutants change that a file has verdicts on."""
    try:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return {_key_of(row) for row in rows if "control" not in row}
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{path}: not verdicts: {error!r}") from error


def drawn_before(path: Path, mutants: Iterable[Mutant]) -> list[Mutant]:
    """Return the mutants that an earlier run drew, and tell each what killed it there.

    That run may have been on other headers: mutants are told apart by what they change.
    """
    rows: dict[Key, dict[str, Any]] = {}
    try:
        for row in (json.loads(line) for line in path.read_text().splitlines()):
            if "control" not in row:
                rows[_key_of(row)] = row
        chosen = [mutant for mutant in mutants if mutant.key in rows]
        for mutant in chosen:
            row = rows[mutant.key]
            if row["status"] == "killed":
                mutant.killed_before = row["tried"][-1], row["by"]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise RecordError(f"{path}: not verdicts: {error!r}") from error
    return chosen


def _key_of(row: dict[str, Any]) -> Key:
    return row["header"], row["kind"], row["line"], row["about"], row["which"]


class Records:
    """The file of a run. Threads may share it."""

    def __init__(self, path: Path | None) -> None:
        """Empty the file; with no path nothing is kept."""
        self._lock = threading.Lock()
        self._path = path
        if path:
            path.write_text("")

    def write(self, row: dict[str, Any]) -> None:
        """Add a line, which is there whatever happens to this process."""
        if self._path is None:
            return
        with self._lock, self._path.open("a") as file:
            file.write(json.dumps(row) + "\n")


class Controls:
    """Whether what rejects mutants lets the headers as they are pass. Threads may share it."""

    def __init__(self, records: Records, known: dict[str, bool]) -> None:
        """Take what earlier runs told."""
        self._records = records
        self._answers = dict(known)
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        for name, passes in known.items():
            records.write({"control": name, "passes": passes})

    def passes(self, name: str, judge: Callable[[], Verdict]) -> bool:
        """Ask `judge` for the verdict on the headers as they are, once for each name."""
        with self._lock:
            mine = self._locks.setdefault(name, threading.Lock())
        with mine:
            if name not in self._answers:
                verdict = judge()
                self._answers[name] = verdict.status == "survived"
                self._records.write({"control": name, "passes": self._answers[name]})
                if not self._answers[name]:
                    print(f"NOT BELIEVED: {name} rejects no mutant: {verdict}", flush=True)
            return self._answers[name]

    @property
    def failed(self) -> list[str]:
        """Name those that reject even the headers as they are."""
        return sorted(name for name, passes in self._answers.items() if not passes)
