# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells what a manager costs on average in a test run, against the limits of docs/testing.md.

Usage: cost.py BUILD REPORT: a build folder of Ninja and the JUnit file of its tests. What Ninja did
not build in this folder, or ccache had, costs nothing here; a fresh build gives the numbers to go
by. Prints one line, and one that starts with OVER for each limit that is exceeded. Exits 0: on a
busy machine everything takes longer.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

COMPILE_LIMIT_S = 15.0
TEST_LIMIT_S = 15.0
# Objects that grow with the number of managers, by their path in the build folder.
COMPILED = re.compile(
    r"^tests/(conformance|managers|verify|heap)/.*\.o$|^bench/.*_shard_\d+\.\w+\.o$"
)
# Tests that do, by their name in ctest, and those of programs in a folder of the build.
TESTED = re.compile(r"^(conformance|explore$|damage$|mutants$|bench\.program$|steady$)")
UNIT_TESTS = "tests/managers"


def compile_seconds(log: str) -> float:
    """Seconds of the objects of managers in the text of a .ninja_log; the last build of each."""
    lines = (line.split("\t") for line in log.splitlines() if not line.startswith("#"))
    spans = {fields[3]: int(fields[1]) - int(fields[0]) for fields in lines}
    return sum(span for name, span in spans.items() if COMPILED.match(name)) / 1000


def unit_tests(listed: str, build: Path) -> set[str]:
    """Names of the unit tests of managers, from ctest's list of tests as JSON."""
    folder = build.resolve() / UNIT_TESTS
    return {
        test["name"]
        for test in json.loads(listed)["tests"]
        if "command" in test and folder in Path(test["command"][0]).parents
    }


def test_seconds(report: ElementTree.Element, units: set[str]) -> float:
    """Seconds of the tests of managers in a JUnit file; ``units``: the names of unit tests."""
    names = ((case.get("name", ""), case) for case in report.iter("testcase"))
    return sum(
        float(case.get("time", 0)) for name, case in names if name in units or TESTED.match(name)
    )


def verdict(managers: int, compiled: float, tested: float) -> list[str]:
    """The lines to print for this many managers."""
    each = {"compile": (compiled / managers, COMPILE_LIMIT_S)}
    each["test"] = (tested / managers, TEST_LIMIT_S)
    text = ", ".join(f"{cost:.1f} s to {what}" for what, (cost, _) in each.items())
    over = [
        f"OVER: {what} takes {cost:.1f} s per manager, the limit is {limit:g} s"
        for what, (cost, limit) in each.items()
        if cost > limit
    ]
    return [f"{managers} managers, on average {text} (cpu-release, seconds of one core)", *over]


def main(arguments: list[str]) -> int:
    build, report = map(Path, arguments)
    listed = subprocess.run(
        [build / "bench/warpheap-bench-cpu", "list"], capture_output=True, check=True, text=True
    )
    managers = len(json.loads(listed.stdout)["managers"])
    tests = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"],
        capture_output=True,
        check=True,
        text=True,
    )
    compiled = compile_seconds((build / ".ninja_log").read_text(encoding="utf-8"))
    units = unit_tests(tests.stdout, build)
    tested = test_seconds(ElementTree.parse(report).getroot(), units)
    print("\n".join(verdict(managers, compiled, tested)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
