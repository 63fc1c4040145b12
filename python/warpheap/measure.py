# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One measurement: one process, one row of the result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpheap import process, programs, shell
from warpheap.catalog import Catalog
from warpheap.errors import EXIT_FAILED, UserError
from warpheap.results import STATUSES
from warpheap.row_fields import SCHEMA

if TYPE_CHECKING:  # the graph readers load SciPy and pandas
    from warpheap.graphs.csr import Graph

_BAD_ARGUMENTS = 2
# What the reason of a row begins with whose program refused its arguments.
REFUSED = "refused: "

Row = dict[str, Any]


def _walk_values(row: Row) -> Row:
    from warpheap import random_walk_model  # noqa: PLC0415  loads SciPy

    return dict(random_walk_model.row_values(row))


# What theory predicts for a row's point, by case.
_EQUATIONS = {"random_walk_steps": _walk_values}


@dataclass(frozen=True)
class Measurement:
    """What is to be measured."""

    catalog: Catalog = field(repr=False)
    case: str
    manager: str
    parameters: Mapping[str, str | int | float]
    graph: Graph | None = None

    def key(self) -> str:
        """Identify the measurement (without the commit) across runs of the tool."""
        identity = [
            self.catalog.backend,
            self.catalog.device,
            self.case,
            self.manager,
            dict(sorted(self.parameters.items())),
            f"{self.graph.name}@{self.graph.digest}" if self.graph else None,
        ]
        return json.dumps(identity, separators=(",", ":"))

    def label(self) -> str:
        """Name the measurement in a few words, for progress lines."""
        axes = {known.name: known for known in self.catalog.described.axes(self.case)}
        values = [axes[n].say(v) for n, v in self.parameters.items() if n in axes]
        graph = [self.graph.name] if self.graph else []
        words = " ".join([self.catalog.backend, self.case, self.manager, *graph])
        return ", ".join([words, *values])

    def flags(self) -> list[str]:
        """Give case, manager and parameters as command-line flags (without the graph)."""
        flags = ["--case", self.case, "--manager", self.manager]
        for name, value in self.parameters.items():
            flags += [f"--{name.replace('_', '-')}", str(value)]
        return flags

    def command(self) -> str:
        """Return the shell command that repeats the measurement by hand."""
        graph = ["--graph", self.graph.file] if self.graph else []
        return shell.join([*self.catalog.command, *self.flags(), *graph])


def measure(wanted: Measurement, time_limit_s: float) -> Row:
    """Run one measurement and return its row; never raises for what the program does.

    A program that refuses its arguments (exit status 2) gives a ``failed`` row with its message.
    Raises UserError if the program is not that of the catalog any more.
    """
    commit = wanted.catalog.commit
    graph: list[str | Path] = ["--graph", wanted.graph.csr_file] if wanted.graph else []
    command: list[str | Path] = [wanted.catalog.program, "run", *wanted.flags(), *graph]
    try:
        outcome = process.run(command, time_limit_s)
    except OSError as error:
        raise UserError(f"{wanted.catalog.program} cannot be started: {error.strerror}") from error
    if programs.revision(wanted.catalog.program) != commit:
        reason = "was built again while this ran; the same command measures the newer one"
        raise UserError(f"{wanted.catalog.program} {reason}", EXIT_FAILED)
    if outcome.timed_out:
        result = _unmeasured("timeout", f"not finished in {time_limit_s:g} s")
    elif outcome.returncode == _BAD_ARGUMENTS:
        message = outcome.last_error_line() or "no message"
        result = {**_unmeasured("failed", f"{REFUSED}{message}"), "rejected_request": True}
    elif outcome.returncode != 0:
        result = _unmeasured("crashed", outcome.death())
    else:
        result = _parse(wanted, outcome)
    return _row(wanted, result, outcome.wall_s)


def _unmeasured(status: str, reason: str) -> Row:
    return {"status": status, "reason": reason}


def _parse(wanted: Measurement, outcome: process.Outcome) -> Row:
    """Read the row that the program printed; anything but one valid row counts as a crash."""
    lines = [line for line in outcome.stdout.splitlines() if line.strip()]
    if len(lines) != 1:
        return _unmeasured("crashed", f"printed {len(lines)} lines instead of one row")
    try:
        row = json.loads(lines[0])
    except ValueError as error:
        return _unmeasured("crashed", f"did not print JSON: {error}")
    expected = {
        "schema": SCHEMA,
        "case": wanted.case,
        "manager": wanted.manager,
        "backend": wanted.catalog.backend,
    }
    for name, value in expected.items():
        got = row.get(name) if isinstance(row, dict) else None
        if got != value:
            return _unmeasured("crashed", f"printed a row with {name} {got!r} instead of {value!r}")
    if row.get("status") not in STATUSES:
        return _unmeasured("crashed", f"printed a row with status {row.get('status')!r}")
    return dict(row)


def _row(wanted: Measurement, result: Row, wall_s: float) -> Row:
    """Complete a row: what was asked for, what came out, and where and when it was measured."""
    catalog = wanted.catalog
    # What was not asked for otherwise. A program that does not finish cannot say it.
    defaults = catalog.described.cases[wanted.case].parameters.items()
    row: Row = {
        "schema": SCHEMA,
        "case": wanted.case,
        "manager": wanted.manager,
        "backend": catalog.backend,
        "device": catalog.device,
        **{
            f.name: None
            for f in catalog.described.fields.values()
            if f.always and f.role != "identity"
        },
        **{name: value for name, value in defaults if value is not None},
        **wanted.parameters,
    }
    if catalog.driver:
        row["driver"] = catalog.driver
    if catalog.toolkit:
        row["toolkit"] = catalog.toolkit
    row.update(result)
    if row["status"] == "ok" and wanted.case in _EQUATIONS:
        try:
            row.update(_EQUATIONS[wanted.case](row))
        except UserError as error:
            row.update(_unmeasured("crashed", f"printed a row with {error}"))
    if wanted.graph is not None:
        row["graph"] = wanted.graph.name
        row["graph_sha256"] = wanted.graph.digest
        row["nodes"], row["edges"] = wanted.graph.nodes, wanted.graph.edges
    row["commit"] = catalog.commit
    row["time"] = datetime.now(UTC).isoformat(timespec="seconds")
    row["wall_s"] = round(wall_s, 3)
    row["command"] = wanted.command()
    row["key"] = wanted.key()
    return row
