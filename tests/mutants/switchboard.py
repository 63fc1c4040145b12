# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that each hold many mutants as switches, compiled once, for all threads."""

from __future__ import annotations

import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import mutate
from generated import INCLUDE, Mutant, body_of
from includes import ROOT, Includes
from switches import HEADER, TEXT, blamed, can_switch, layers, with_switches
from workshop import Flavour, Workshop

_TRIES = 4  # to compile a program without the switches that the compiler has rejected


class Switchboard:
    """Knows which mutants are switches, and makes the programs that have them."""

    def __init__(self, mutants: Iterable[Mutant], workshop: Workshop, folder: Path) -> None:
        """Divide the mutants into layers, in which no two overlap."""
        self._workshop = workshop
        self._folder = folder
        self._bodies: dict[str, str] = {}
        self._layers: dict[str, int] = {}
        self._in_header: dict[str, list[Mutant]] = defaultdict(list)
        self._programs: dict[Hashable, Path | None] = {}
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()
        for mutant in mutants:
            if can_switch(self._body(mutant.header), mutant.fault):
                self._in_header[mutant.header].append(mutant)
        for here in self._in_header.values():
            for mutant, layer in zip(here, layers([m.fault for m in here]), strict=True):
                self._layers[mutant.name] = layer

    def layer(self, mutant: Mutant) -> int | None:
        """Return the layer that a mutant is a switch of; none if it must be compiled by itself."""
        with self._lock:
            return self._layers.get(mutant.name)

    def explorer(
        self, profile: str, how: dict[str, Any], layer: int, flavour: Flavour
    ) -> tuple[Path | None, str]:
        """Return the explorer with a layer of a profile's mutants, and what its subject is called.

        No program if the compiler rejects it: then no mutant of it is a switch any longer.
        """
        subject = f"layer_{layer}_of_{profile}"
        headers: list[str] = how["headers"]

        def build(complain: Callable[[str], None]) -> Path | None:
            changed = {header: self._switched(header, layer)[1] for header in headers}
            includes, text = mutate.joined(headers, INCLUDE, changed)
            copy = subject, "switches", mutate.in_namespace(subject, includes, text)
            source = TEXT.replace("#pragma once\n", "") + mutate.translation_unit(how, [copy])
            others = how.get("sources", [])
            return self._workshop.build(subject, source, flavour, others, complain)

        return self._program((profile, layer, flavour), headers, layer, build), subject

    def tests(
        self,
        source: Path,
        includes: Includes,
        layer: int,
        flavour: Flavour,
        parts: Sequence[Path] = (),
    ) -> Path | None:
        """Return a test program with a layer of the mutants of all headers that it includes.

        It is linked with `parts`. No program if the compiler rejects it. That may be the fault of a
        test, so the mutants stay switches for others.
        """
        make = partial(self._workshop.test_program, parts=parts)
        return self._of_source(source, includes, layer, flavour, make)

    def part(self, source: Path, includes: Includes, layer: int, flavour: Flavour) -> Path | None:
        """Return what tests are linked with, compiled with a layer; none if that is rejected."""
        return self._of_source(source, includes, layer, flavour, self._workshop.test_object)

    def _of_source(
        self,
        source: Path,
        includes: Includes,
        layer: int,
        flavour: Flavour,
        make: Callable[..., Path | None],
    ) -> Path | None:
        name = f"layer_{layer}_of_" + str(source.relative_to(ROOT)).replace("/", "_")
        headers = sorted(includes.of(source).keys() & self._in_header.keys())

        def build(complain: Callable[[str], None]) -> Path | None:
            place = self._folder / f"{name}.{flavour.name}_headers"
            place.mkdir(exist_ok=True)
            for header in headers:
                text, _ = self._switched(header, layer)
                (place / "warpheap" / header).parent.mkdir(parents=True, exist_ok=True)
                (place / "warpheap" / header).write_text(f'#include "{HEADER}"\n{text}')
            (place / HEADER).write_text(TEXT)
            try:
                return make(name, source, place, complain, flavour)
            finally:
                shutil.rmtree(place)

        return self._program((source, layer, flavour), [], layer, build)

    def _program(
        self,
        key: Hashable,
        headers: list[str],
        layer: int,
        build: Callable[[Callable[[str], None]], Path | None],
    ) -> Path | None:
        with self._lock:
            mine = self._locks.setdefault(key, threading.Lock())
        with mine:
            if key not in self._programs:
                self._programs[key] = self._built(headers, layer, build)
            return self._programs[key]

    def _built(
        self,
        headers: list[str],
        layer: int,
        build: Callable[[Callable[[str], None]], Path | None],
    ) -> Path | None:
        for _ in range(_TRIES):
            errors: list[str] = []
            program = build(errors.append)
            if program is not None:
                return program
            if not self._drop(blamed("".join(errors))):
                break
        here = [m.name for h in headers for m in self._in_header.get(h, [])]
        self._drop({int(n[1:]) for n in here if self._layers.get(n) == layer})
        return None

    def _drop(self, numbers: set[int]) -> bool:
        """Make mutants be no switches any longer; whether one of them was."""
        with self._lock:
            gone = [name for name in self._layers if int(name[1:]) in numbers]
            for name in gone:
                del self._layers[name]
            return bool(gone)

    def _switched(self, header: str, layer: int) -> tuple[str, str]:
        """Return a header's whole text and what is in its namespace, with a layer's switches."""
        with self._lock:
            here = [m for m in self._in_header.get(header, []) if self._layers.get(m.name) == layer]
        body = self._body(header)
        changed = with_switches(body, [(int(m.name[1:]), m.fault) for m in here])
        return (INCLUDE / header).read_text().replace(body, changed), changed

    def _body(self, header: str) -> str:
        if header not in self._bodies:
            self._bodies[header] = body_of(header)
        return self._bodies[header]
