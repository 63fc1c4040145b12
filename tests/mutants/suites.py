# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the tests of a manager or structure against a mutant of one of its headers."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

from workshop import ROOT, Verdict, Workshop

_TESTS = ROOT / "tests"


class Suites:
    """Unit tests, the cheapest first, and the conformance suite of a manager, for all threads."""

    def __init__(self, workshop: Workshop, folder: Path, seconds: float) -> None:
        """Give each program this many seconds."""
        self._workshop = workshop
        self._folder = folder
        self._seconds = seconds
        self._includes: dict[Path, set[str]] = {}
        self._lock = threading.Lock()

    def sources(self, header: str) -> list[Path]:
        """Find the tests in the header's folder of tests/ that include it."""
        parts = Path(header).parts
        folder = _TESTS.joinpath(*parts[: 2 if parts[0] == "managers" else 1])
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
            program = self._workshop.test_program(name, [source], headers)
            if program is None:
                # The explorer's programs compile: what a test asserts about it does not hold.
                return Verdict("killed", f"tests: {source.name} does not compile")
            small = ["--small"] if source.name == "conformance.cpp" else []
            verdict = self._workshop.run_tests(program, self._seconds, *small)
            program.unlink()
            if verdict.status == "killed":
                return verdict
        return Verdict("survived", "")

    def _included(self, source: Path) -> set[str]:
        with self._lock:
            if source not in self._includes:
                self._includes[source] = self._workshop.includes(source)
            return self._includes[source]
