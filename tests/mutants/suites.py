# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the tests of a manager, structure or pool against a mutant of one of its headers."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from generated import Mutant
from includes import ROOT, Includes
from records import Controls
from switchboard import Switchboard
from workshop import Flavour, Verdict, Workshop

_TESTS = ROOT / "tests"
# Whose tests need CUDA's headers, and a library that stands in for its driver: they are not built.
_WITH_A_DRIVER = "host/cuda/"


class Suites:
    """Unit tests, the nearest first, and the conformance suite of a manager, for all threads."""

    def __init__(
        self,
        workshop: Workshop,
        folder: Path,
        seconds: float,
        controls: Controls,
        switchboard: Switchboard,
        includes: Includes | None = None,
    ) -> None:
        """Set the time limit of each program, in seconds."""
        self._controls = controls
        self._switchboard = switchboard
        self._workshop = workshop
        self._folder = folder
        self._seconds = seconds
        self._includes = includes or Includes()

    def sources(self, header: str) -> list[Path]:
        """Find the tests that have a header's code, in the nearest folder of tests/ to its own.

        If none lies there, anywhere. Those that include it over the fewest others come first, and
        of these the smallest.
        """
        folder = _TESTS / Path(header).parent
        while not folder.is_dir():
            folder = folder.parent
        tests = self._nearest(folder.glob("*_test.cpp"), header)
        tests = tests or self._nearest(_TESTS.rglob("*_test.cpp"), header)
        suites = (one for one in folder.glob("conformance.cpp") if header in self._includes.of(one))
        return tests + list(suites)

    def _nearest(self, sources: Iterable[Path], header: str) -> list[Path]:
        found: list[tuple[int, int, Path]] = []
        for source in sources:
            reached = self._includes.reached(source)
            far = reached.get(header)
            if far is not None and not any(one.startswith(_WITH_A_DRIVER) for one in reached):
                found.append((far, source.stat().st_size, source))
        return [source for _, _, source in sorted(found)]

    def first_to_last(self, mutant: Mutant) -> list[Path]:
        """Return the tests of a mutant in the order in which it meets them.

        That which killed it before is the first.
        """
        before = mutant.killed_before[1]
        sources = self.sources(mutant.header)
        return sorted(sources, key=lambda source: not before.startswith(_by(source)))

    def judge(self, mutant: Mutant, flavour: Flavour) -> Verdict:
        """Run the tests, one program after the other, until one rejects the mutant.

        A layer of switches of which none is on is the control of a switch: it is there already.
        """
        changed: dict[Path, Path | None] = {}  # what the tests are linked with, with the mutant
        try:
            for source in self.first_to_last(mutant):
                layer = self._switchboard.layer(mutant)
                program = self.prepare(source, layer, flavour) if layer is not None else None
                if program is not None:
                    verdict = self._tested(program, source, flavour, int(mutant.name[1:]))
                    unchanged = partial(self._tested, program, source, flavour)
                else:
                    verdict = self._changed(mutant, source, flavour, changed)
                    unchanged = partial(self._unchanged, source, flavour)
                control = f"{flavour.tests}:{source.relative_to(_TESTS)}"
                rejected = verdict.status in ("killed", "stillborn")
                if rejected and self._controls.passes(control, unchanged):
                    by = verdict.by.removeprefix("tests: ")
                    return Verdict(verdict.status, _by(source) + by)
        finally:
            for thing in filter(None, changed.values()):
                thing.unlink()
        return Verdict("survived", "")

    def prepare(self, source: Path, layer: int, flavour: Flavour) -> Path | None:
        """Compile a test with a layer of mutants; none if it does not compile."""
        parts = []
        for part in self._includes.parts(source):
            thing = self._switchboard.part(part, self._includes, layer, flavour)
            if thing is None:
                return None
            parts.append(thing)
        return self._switchboard.tests(source, self._includes, layer, flavour, parts)

    def _changed(
        self, mutant: Mutant, source: Path, flavour: Flavour, changed: dict[Path, Path | None]
    ) -> Verdict:
        headers = self._folder / f"{mutant.name}_headers"
        place = headers / "warpheap" / mutant.header
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(mutant.changed_body()[0])
        parts: list[Path | None] = []
        try:
            for part in self._includes.parts(source):
                if mutant.header not in self._includes.of(part):
                    parts.append(self._workshop.part(part, flavour))
                    continue
                if part not in changed:
                    changed[part] = self._workshop.test_object(
                        mutant.name, part, headers, flavour=flavour
                    )
                parts.append(changed[part])
            verdict = self._run(mutant.name, source, headers, flavour, parts)
        finally:
            shutil.rmtree(headers)
        if verdict is None and not mutant.profiles:
            return Verdict("stillborn", "")
        # The explorer's programs compile: what a test asserts about it does not hold.
        return verdict or Verdict("killed", f"tests: {source.name} does not compile")

    def _unchanged(self, source: Path, flavour: Flavour) -> Verdict:
        name = "control_" + str(source.relative_to(_TESTS)).replace("/", "_")
        parts = [self._workshop.part(part, flavour) for part in self._includes.parts(source)]
        verdict = self._run(name, source, self._folder / "none", flavour, parts)
        return verdict or Verdict("stillborn", "")

    def _run(
        self,
        name: str,
        source: Path,
        headers: Path,
        flavour: Flavour,
        parts: Sequence[Path | None],
    ) -> Verdict | None:
        """Compile a test and run it; none if it, or a part of it, does not compile."""
        there = [part for part in parts if part is not None]
        if len(there) < len(parts):
            return None
        program = self._workshop.test_program(name, source, headers, flavour=flavour, parts=there)
        if program is None:
            return None
        try:
            return self._tested(program, source, flavour)
        finally:
            program.unlink()

    def _tested(
        self, program: Path, source: Path, flavour: Flavour, switch: int | None = None
    ) -> Verdict:
        small = ["--small"] if source.name == "conformance.cpp" else []
        return self._workshop.run_tests(
            program, self._seconds, *small, switch=switch, flavour=flavour
        )


def _by(source: Path) -> str:
    """Return how a verdict begins that a test of this source gave."""
    return f"tests: {source.relative_to(_TESTS)}: "
