# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the tests of a manager or structure against a mutant of one of its headers."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from records import Controls
from workshop import ROOT, Verdict, Workshop

_TESTS = ROOT / "tests"


class Suites:
    """Unit tests, the cheapest first, and the conformance suite of a manager, for all threads."""

    def __init__(
        self, workshop: Workshop, folder: Path, seconds: float, controls: Controls
    ) -> None:
        """Give each program this many seconds."""
        self._controls = controls
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

    def judge(self, name: str, header: str, text: str) -> Verdict:
        """Run the tests, one program after the other, until one rejects the header's `text`."""
        headers = self._folder / f"{name}_headers"
        place = headers / "warpheap" / header
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        try:
            return self._judge(name, header, headers)
        finally:
            shutil.rmtree(headers)

    def _judge(self, name: str, header: str, headers: Path) -> Verdict:
        for source in self.sources(header):
            verdict = self._run(name, source, headers)
            if verdict.status == "killed" and self._passes_unchanged(source):
                return verdict
        return Verdict("survived", "")

    def _passes_unchanged(self, source: Path) -> bool:
        test = str(source.relative_to(_TESTS))
        name = "control_" + test.replace("/", "_")
        judge = partial(self._run, name, source, self._folder / "none")
        return self._controls.passes(f"tests:{test}", judge)

    def _run(self, name: str, source: Path, headers: Path) -> Verdict:
        program = self._workshop.test_program(name, [source], headers)
        if program is None:
            # The explorer's programs compile: what a test asserts about it does not hold.
            return Verdict("killed", f"tests: {source.name} does not compile")
        small = ["--small"] if source.name == "conformance.cpp" else []
        try:
            return self._workshop.run_tests(program, self._seconds, *small)
        finally:
            program.unlink()

    def _included(self, source: Path) -> set[str]:
        if source not in self._includes:
            self._includes[source] = self._workshop.includes(source)
        return self._includes[source]
