# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the tests of a manager or structure against a mutant of one of its headers."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from generated import Mutant
from records import Controls
from switchboard import Switchboard
from workshop import ROOT, Verdict, Workshop

_TESTS = ROOT / "tests"


class Suites:
    """Unit tests, the cheapest first, and the conformance suite of a manager, for all threads."""

    def __init__(
        self,
        workshop: Workshop,
        folder: Path,
        seconds: float,
        controls: Controls,
        switchboard: Switchboard,
    ) -> None:
        """Set the time limit of each program, in seconds."""
        self._controls = controls
        self._switchboard = switchboard
        self._workshop = workshop
        self._folder = folder
        self._seconds = seconds
        self._includes: dict[Path, set[str]] = {}

    def sources(self, header: str) -> list[Path]:
        """Find the tests that include the header, in the nearest folder of tests/ to its own."""
        folder = _TESTS / Path(header).parent
        while not folder.is_dir():
            folder = folder.parent
        tests = sorted(folder.glob("*_test.cpp"), key=lambda source: source.stat().st_size)
        tests += folder.glob("conformance.cpp")
        return [source for source in tests if header in self._included(source)]

    def first_to_last(self, mutant: Mutant) -> list[Path]:
        """Return the tests of a mutant in the order in which it meets them.

        That which killed it before is the first.
        """
        before = mutant.killed_before[1]
        sources = self.sources(mutant.header)
        return sorted(sources, key=lambda source: not before.startswith(_by(source)))

    def judge(self, mutant: Mutant) -> Verdict:
        """Run the tests, one program after the other, until one rejects the mutant.

        A layer of switches of which none is on is the control of a switch: it is there already.
        """
        for source in self.first_to_last(mutant):
            layer = self._switchboard.layer(mutant)
            program = self.prepare(source, layer) if layer is not None else None
            if program is not None:
                verdict = self._tested(program, source, int(mutant.name[1:]))
                unchanged = partial(self._tested, program, source)
            else:
                verdict = self._changed(mutant, source)
                unchanged = partial(self._unchanged, source)
            control = f"tests:{source.relative_to(_TESTS)}"
            if verdict.status == "killed" and self._controls.passes(control, unchanged):
                return Verdict("killed", _by(source) + verdict.by.removeprefix("tests: "))
        return Verdict("survived", "")

    def prepare(self, source: Path, layer: int) -> Path | None:
        """Compile a test with a layer of mutants; none if it does not compile."""
        return self._switchboard.tests(source, self._included(source), layer)

    def _changed(self, mutant: Mutant, source: Path) -> Verdict:
        headers = self._folder / f"{mutant.name}_headers"
        place = headers / "warpheap" / mutant.header
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(mutant.changed_body()[0])
        try:
            return self._run(mutant.name, source, headers)
        finally:
            shutil.rmtree(headers)

    def _unchanged(self, source: Path) -> Verdict:
        name = "control_" + str(source.relative_to(_TESTS)).replace("/", "_")
        return self._run(name, source, self._folder / "none")

    def _run(self, name: str, source: Path, headers: Path) -> Verdict:
        program = self._workshop.test_program(name, [source], headers)
        if program is None:
            # The explorer's programs compile: what a test asserts about it does not hold.
            return Verdict("killed", f"tests: {source.name} does not compile")
        try:
            return self._tested(program, source)
        finally:
            program.unlink()

    def _tested(self, program: Path, source: Path, switch: int | None = None) -> Verdict:
        small = ["--small"] if source.name == "conformance.cpp" else []
        return self._workshop.run_tests(program, self._seconds, *small, switch=switch)

    def _included(self, source: Path) -> set[str]:
        if source not in self._includes:
            self._includes[source] = self._workshop.includes(source)
        return self._includes[source]


def _by(source: Path) -> str:
    """Return how a verdict begins that a test of this source gave."""
    return f"tests: {source.relative_to(_TESTS)}: "
