# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells what a manager costs in a test run, against the limits of docs/testing.md.

Usage: cost.py BUILD REPORT: a build folder of Ninja and the JUnit file of its tests. What Ninja did
not build in this folder, or ccache had, costs nothing here; a fresh build gives the numbers to go
by. Prints the averages, then a line that starts with OVER for each limit that an average exceeds,
and for each folder of managers whose tests take longer than its managers may. Exits 0: on a busy
machine everything takes longer.
"""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

COMPILE_LIMIT_S = 15.0
TEST_LIMIT_S = 15.0
# Objects that grow with the number of managers, by their path in the build folder.
COMPILED = re.compile(
    r"^tests/(conformance|managers|verify|heap)/.*\.o$|^bench/.*_shard_\d+\.\w+\.o$"
)
# Tests of all managers at once, by their name in ctest.
OF_ALL = {"explore", "damage", "mutants", "bench.program", "steady"}
# Programs with tests of managers, by their path in the build folder. NAME-test has those of the
# folder NAME; in the others, a typed test says which manager it is of.
PROGRAMS = ("tests/managers", "tests/conformance")
TYPED = re.compile(r"/(\w+)\.")


@dataclass
class TestSeconds:
    """What tests take: those of each folder of managers, and those of all managers at once."""

    folders: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    shared: float = 0.0

    def total(self) -> float:
        """Of all of them."""
        return self.shared + sum(self.folders.values())


def compile_seconds(log: str) -> float:
    """Seconds of the objects of managers in the text of a .ninja_log; the last build of each."""
    lines = (line.split("\t") for line in log.splitlines() if not line.startswith("#"))
    spans = {fields[3]: int(fields[1]) - int(fields[0]) for fields in lines}
    return sum(span for name, span in spans.items() if COMPILED.match(name)) / 1000


def folder_of(test: str, program: str, folders: dict[str, str]) -> str | None:
    """The folder of a test of managers; None if it is of none, or of all. ``folders``: that of each
    manager, by its name, with which the names of its other configurations begin.
    """
    named = program.removesuffix("-test")
    if named in folders.values():
        return named
    typed = TYPED.search(test)
    names = [name for name in folders if typed and f"{typed[1]}_".startswith(f"{name}_")]
    return folders[max(names, key=len)] if names else None


def programs(listed: str, build: Path) -> dict[str, str]:
    """The program of each test of managers, from ctest's list of tests as JSON."""
    parents = [build.resolve() / path for path in PROGRAMS]
    return {
        test["name"]: Path(test["command"][0]).name
        for test in json.loads(listed)["tests"]
        if "command" in test and Path(test["command"][0]).parent in parents
    }


def test_seconds(
    report: ElementTree.Element, program_of: dict[str, str], folders: dict[str, str]
) -> TestSeconds:
    """Seconds of the tests of managers in a JUnit file."""
    found = TestSeconds()
    for case in report.iter("testcase"):
        name, seconds = case.get("name", ""), float(case.get("time", 0))
        if name in OF_ALL:
            found.shared += seconds
        elif name in program_of:
            folder = folder_of(name, program_of[name], folders)
            if folder is None:
                found.shared += seconds
            else:
                found.folders[folder] += seconds
    return found


def verdict(folders: dict[str, str], compiled: float, tested: TestSeconds) -> list[str]:
    """The lines to print about these managers, by their folders."""
    managers = len(folders)
    each = {"compile": (compiled / managers, COMPILE_LIMIT_S)}
    each["test"] = (tested.total() / managers, TEST_LIMIT_S)
    text = ", ".join(f"{cost:.1f} s to {what}" for what, (cost, _) in each.items())
    over = [
        f"OVER: {what} takes {cost:.1f} s per manager, the limit is {limit:g} s"
        for what, (cost, limit) in each.items()
        if cost > limit
    ]
    for folder, count in sorted(Counter(folders.values()).items()):
        own = tested.folders[folder]
        cost = own / count + tested.shared / managers
        if cost > TEST_LIMIT_S:
            whose = f"{folder} take" if count == 1 else f"the {count} managers in {folder} take"
            over.append(
                f"OVER: the tests of {whose} {cost:.1f} s per manager ({own:.1f} s in all for what"
                f" is theirs alone), the limit is {TEST_LIMIT_S:g} s"
            )
    return [f"{managers} managers, on average {text} (cpu-release, seconds of one core)", *over]


def main(arguments: list[str]) -> int:
    build, report = map(Path, arguments)
    listed = subprocess.run(
        [build / "bench/warpheap-bench-cpu", "list"], capture_output=True, check=True, text=True
    )
    folders = {each["name"]: each["folder"] for each in json.loads(listed.stdout)["managers"]}
    tests = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"],
        capture_output=True,
        check=True,
        text=True,
    )
    compiled = compile_seconds((build / ".ninja_log").read_text(encoding="utf-8"))
    report_tests = ElementTree.parse(report).getroot()
    tested = test_seconds(report_tests, programs(tests.stdout, build), folders)
    print("\n".join(verdict(folders, compiled, tested)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
