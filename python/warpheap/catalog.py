# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a benchmark program offers: its device, managers and cases, read from ``PROGRAM list``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from warpheap import process, programs
from warpheap.errors import EXIT_FAILED, UserError, check_names
from warpheap.row_fields import SCHEMA, CaseFields, Description, Field

LIST_TIME_LIMIT_S = 60.0
# What the tool adds to the rows of the programs.
TOOL_FIELDS = (
    Field("commit", role="identity", about="git describe of the source, and a digest if changed"),
    Field("time", role="identity", about="when it was measured, ISO 8601, UTC"),
    Field("wall_s", "s", "number", about="the whole process, start to end"),
    Field("command", role="identity", about="the shell command that repeats the measurement"),
    Field("key", role="identity", about="identity of the measurement across runs"),
    Field("rejected_request", kind="flag", about="the program rejected its parameters"),
    Field("graph_sha256", about="first digits of the digest of the graph's unpacked content"),
    Field("edges", "edges", "integer", about="of the undirected simple graph"),
    Field("tas_model", "steps", "number", "result", "mean of the threads, by the equations"),
    Field("tas_bound", "steps", "number", "result", "its upper bound for clustered walks"),
    Field("was_bound", "steps", "number", "result", "upper bound on the slowest lane's mean"),
    Field("tas_equation", "steps", "number", "detail", "equation 5 as it is printed"),
    Field("was_equation", "steps", "number", "detail", "equation 6 as it is printed"),
    Field("first_passage", "steps", "number", "detail", "mean first passage, equation 11"),
)


@dataclass(frozen=True)
class Manager:
    """One memory manager of a benchmark program, with its publication and what it claims.

    ``claims`` is as the program says it: ``largest_block`` in bytes (None: bounded by the heap
    only), ``frees``, ``scope``, and others.
    """

    name: str
    available: bool
    reason: str | None
    description: str = ""
    authors: str = ""
    title: str = ""
    venue: str = ""
    year: int | None = None
    doi: str = ""
    deviations: tuple[str, ...] = ()
    claims: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Catalog:
    """Everything that a benchmark program says about itself."""

    program: Path
    backend: str
    device: str
    device_memory_bytes: int
    driver: str | None
    toolkit: str | None
    available: bool
    reason: str | None
    managers: tuple[Manager, ...]
    described: Description
    document: dict[str, Any]

    @cached_property
    def commit(self) -> str:
        """Say which source the program was built from when this was first asked."""
        return programs.revision(self.program)

    @property
    def command(self) -> tuple[str, ...]:
        """Return the first words of the command that repeats a row; a program may have its own."""
        usual = ("warpheap", "bench", "--backend", self.backend)
        return tuple(map(str, self.document.get("command", usual)))

    def manager(self, name: str) -> Manager:
        """Return the manager of that name or raise the error that lists the known ones."""
        check_names("manager", [name], (m.name for m in self.managers))
        return next(m for m in self.managers if m.name == name)

    def case(self, name: str) -> CaseFields:
        """Return the case of that name or raise the error that lists the known ones."""
        check_names("case", [name], self.described.cases)
        return self.described.cases[name]

    def needs_graph(self, case: str) -> bool:
        """Tell whether a case reads a graph."""
        return any(known.kind == "graph" for known in self.described.parameters(case))


def load(program: Path) -> Catalog:
    """Ask a benchmark program what it offers; raises UserError if it does not answer properly."""
    document = ask(program, "list")
    try:
        return _catalog(program, document)
    except (KeyError, TypeError, ValueError) as error:
        raise unusable(program, error) from error


def unusable(program: Path, error: Exception) -> UserError:
    """Make the error for what a program listed, from what was raised when it was read."""
    fault = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return UserError(f"{program} list: {fault}; build the program again", EXIT_FAILED)


def ask(program: Path, *arguments: str) -> dict[str, Any]:
    """Run a program that answers with one JSON object of our schema, and return that object."""
    try:
        outcome = process.run([program, *arguments], LIST_TIME_LIMIT_S)
    except OSError as error:
        raise UserError(f"{program} cannot be started: {error.strerror}", EXIT_FAILED) from error
    if outcome.timed_out:
        raise UserError(
            f"{program} {' '.join(arguments)}: no answer in {LIST_TIME_LIMIT_S:g} s", EXIT_FAILED
        )
    if outcome.returncode != 0:
        raise UserError(f"{program} {' '.join(arguments)}: {outcome.death()}", EXIT_FAILED)
    try:
        document = json.loads(outcome.stdout)
    except ValueError as error:
        raise UserError(
            f"{program} {' '.join(arguments)}: the answer is not JSON ({error})", EXIT_FAILED
        ) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UserError(
            f"{program} {' '.join(arguments)}: not schema {SCHEMA}; "
            "the program and the tool are of different versions; build it again",
            EXIT_FAILED,
        )
    return document


def load_all(
    build_dir: Path | None = None, backends: Sequence[str] = (), need_one: bool = True
) -> list[Catalog]:
    """Load the catalogs of the named backends (all of them must be built), or of all built ones."""
    check_names("backend", backends, programs.BACKENDS)
    if backends:
        return [
            load(programs.require(programs.bench_name(b), build_dir))
            for b in dict.fromkeys(backends)
        ]
    found = [programs.find(programs.bench_name(b), build_dir) for b in programs.BACKENDS]
    if need_one and not any(found):
        programs.require(programs.bench_name(programs.BACKENDS[0]), build_dir)
    return [load(path) for path in found if path is not None]


def described(catalogs: Sequence[Catalog]) -> Description:
    """Describe the rows of all these programs."""
    whole = Description()
    for catalog in catalogs:
        whole = whole.merged(catalog.described)
    return whole


def _catalog(program: Path, document: dict[str, Any]) -> Catalog:
    return Catalog(
        program=program,
        backend=str(document["backend"]),
        device=str(document["device"] or "no device"),
        device_memory_bytes=int(document["device_memory_bytes"]),
        driver=document.get("driver"),
        toolkit=document.get("toolkit"),
        available=bool(document["available"]),
        reason=document.get("reason"),
        managers=tuple(_manager(entry) for entry in document["managers"]),
        described=Description.of(document, TOOL_FIELDS),
        document=document,
    )


def _manager(entry: dict[str, Any]) -> Manager:
    return Manager(
        name=str(entry["name"]),
        available=bool(entry["available"]),
        reason=entry.get("reason"),
        description=str(entry.get("description") or ""),
        authors=str(entry.get("authors") or ""),
        title=str(entry.get("title") or ""),
        venue=str(entry.get("venue") or ""),
        year=int(entry["year"]) if entry.get("year") else None,
        doi=str(entry.get("doi") or ""),
        deviations=tuple(map(str, entry.get("deviations") or ())),
        claims=dict(entry.get("capabilities") or {}),
    )
