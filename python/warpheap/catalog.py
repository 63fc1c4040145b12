# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a benchmark program offers: its device, managers and cases, read from ``PROGRAM list``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpheap import process, programs
from warpheap.errors import EXIT_FAILED, UserError, check_names

LIST_TIME_LIMIT_S = 60.0
SCHEMA = 1


@dataclass(frozen=True)
class Capabilities:
    """What a manager claims. ``largest_block`` is in bytes; None means bounded by the heap only."""

    largest_block: int | None
    alignment: int
    frees: bool
    scope: str
    reuse: str
    growth: bool
    numbered_pages: bool = False


@dataclass(frozen=True)
class Manager:
    """One memory manager of a benchmark program."""

    name: str
    description: str
    folder: str
    title: str
    authors: str
    venue: str
    year: int | None
    doi: str | None
    deviations: tuple[str, ...]
    available: bool
    reason: str | None
    capabilities: Capabilities


@dataclass(frozen=True)
class Parameter:
    """One parameter of a case; its flag is ``--`` and the name with '-' for '_'."""

    name: str
    unit: str
    default: Any
    about: str


@dataclass(frozen=True)
class Case:
    """One benchmark case."""

    name: str
    about: str
    modes: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    needs_frees: bool = False


@dataclass(frozen=True)
class Catalog:
    """All that one benchmark program says about itself."""

    program: Path
    backend: str
    device: str
    device_memory_bytes: int
    driver: str | None
    toolkit: str | None
    available: bool
    reason: str | None
    managers: tuple[Manager, ...]
    cases: tuple[Case, ...]
    document: dict[str, Any]

    def manager(self, name: str) -> Manager:
        """Give the manager of that name or raise the error that lists the known ones."""
        check_names("manager", [name], (m.name for m in self.managers))
        return next(m for m in self.managers if m.name == name)

    def case(self, name: str) -> Case:
        """Give the case of that name or raise the error that lists the known ones."""
        check_names("case", [name], (c.name for c in self.cases))
        return next(c for c in self.cases if c.name == name)


def load(program: Path) -> Catalog:
    """Ask a benchmark program what it offers; raises UserError if it does not answer properly."""
    document = ask(program, "list")
    try:
        return _catalog(program, document)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{program} list: the answer lacks or garbles {error}; rebuild it", EXIT_FAILED
        ) from error


def ask(program: Path, *arguments: str) -> dict[str, Any]:
    """Run a program that answers with one JSON object of our schema, and give that object."""
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
            f"{program} {' '.join(arguments)}: the answer is no JSON ({error})", EXIT_FAILED
        ) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UserError(
            f"{program} {' '.join(arguments)}: not schema {SCHEMA}; "
            "the program and the tool are of different versions, rebuild it",
            EXIT_FAILED,
        )
    return document


def load_all(
    build_dir: Path | None = None, backends: Sequence[str] = (), need_one: bool = True
) -> list[Catalog]:
    """Load the catalogs of the named backends (all of them must be built), or of all built ones."""
    check_names("backend", backends, programs.BACKENDS)
    if backends:
        return [load(programs.require(programs.bench_name(b), build_dir)) for b in backends]
    found = [programs.find(programs.bench_name(b), build_dir) for b in programs.BACKENDS]
    if need_one and not any(found):
        programs.require(programs.bench_name(programs.BACKENDS[0]), build_dir)
    return [load(path) for path in found if path is not None]


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
        cases=tuple(_case(entry) for entry in document["cases"]),
        document=document,
    )


def _manager(entry: dict[str, Any]) -> Manager:
    claims = entry["capabilities"]
    largest = claims["largest_block"]
    authors = entry.get("authors") or ""
    return Manager(
        name=str(entry["name"]),
        description=str(entry.get("description") or ""),
        folder=str(entry.get("folder") or ""),
        title=str(entry.get("title") or ""),
        authors=", ".join(authors) if isinstance(authors, list) else str(authors),
        venue=str(entry.get("venue") or ""),
        year=int(entry["year"]) if entry.get("year") else None,
        doi=entry.get("doi"),
        deviations=tuple(entry.get("deviations") or ()),
        available=bool(entry["available"]),
        reason=entry.get("reason"),
        capabilities=Capabilities(
            largest_block=None if largest is None else int(largest),
            alignment=int(claims["alignment"]),
            frees=bool(claims["frees"]),
            scope=str(claims["scope"]),
            reuse=str(claims["reuse"]),
            growth=bool(claims["growth"]),
            numbered_pages=bool(claims.get("numbered_pages", False)),
        ),
    )


def _case(entry: dict[str, Any]) -> Case:
    return Case(
        name=str(entry["name"]),
        about=str(entry.get("about") or ""),
        modes=tuple(entry.get("modes") or ()),
        parameters=tuple(
            Parameter(p["name"], p.get("unit") or "", p.get("default"), p.get("about") or "")
            for p in entry.get("parameters") or ()
        ),
        needs_frees=bool(entry.get("needs_frees", False)),
    )
