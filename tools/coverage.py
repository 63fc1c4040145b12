# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints which lines of the device code the CPU tests ran.

Usage: coverage.py BUILD, a build folder of the preset cpu-coverage (g++) after its tests ran. A
line counts as run if any instantiation of its template ran it. A template that no test instantiates
has no lines here, and neither has the CUDA model. Prints a line for each header, with the numbers
of the lines that never ran, and the sums. Exits 1 if no test ran.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

HEADERS = Path(__file__).resolve().parents[1] / "include/warpheap"
DEVICE_CODE = ("core", "simt", "sync", "heap", "managers")
MODEL_OF_ANOTHER_MACHINE = "simt/cuda/"

Counts = dict[str, dict[int, int]]  # of each header, how often each line ran


def device_header(file: str) -> str | None:
    """The name of a header of the device code below include/warpheap; None for other files."""
    path = Path(file)
    if not path.is_relative_to(HEADERS):
        return None
    name = str(path.relative_to(HEADERS))
    if name.partition("/")[0] not in DEVICE_CODE or name.startswith(MODEL_OF_ANOTHER_MACHINE):
        return None
    return name


def add(counts: Counts, report: dict[str, list[dict[str, object]]]) -> None:
    """Adds gcov's report of one object file to ``counts``."""
    for file in report["files"]:
        name = device_header(str(file["file"]))
        if name is None:
            continue
        lines = file["lines"]
        assert isinstance(lines, list)
        for line in lines:
            counts[name][line["line_number"]] += line["count"]


def ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Neighbouring numbers as one range: 3, 4, 5, 9 -> '3-5', '9'."""
    ordered = sorted(numbers)
    cuts = [k for k, (one, other) in enumerate(pairwise(ordered), start=1) if other != one + 1]
    for start, end in pairwise([0, *cuts, len(ordered)]):
        if start < end:
            first, last = ordered[start], ordered[end - 1]
            yield str(first) if first == last else f"{first}-{last}"


def table(counts: Counts) -> Iterator[str]:
    """The lines of the report, the headers with the smallest share first."""

    def share(lines: dict[int, int]) -> float:
        return 100 * sum(count > 0 for count in lines.values()) / len(lines)

    yield " ran   of  share  header, and the lines that never ran"
    for name, lines in sorted(counts.items(), key=lambda entry: (share(entry[1]), entry[0])):
        never = ", ".join(ranges(number for number, count in lines.items() if count == 0))
        ran = sum(count > 0 for count in lines.values())
        text = f"{ran:4} {len(lines):4}  {share(lines):4.0f}%  {name}"
        yield f"{text}: {never}" if never else text
    every = {(name, number): count for name, ls in counts.items() for number, count in ls.items()}
    ran = sum(count > 0 for count in every.values())
    yield f"{ran:4} {len(every):4}  {100 * ran / len(every):4.1f}%  all"


def main(arguments: list[str]) -> int:
    (build,) = arguments
    counts: Counts = defaultdict(lambda: defaultdict(int))
    for notes in sorted(Path(build).rglob("*.gcda")):
        program = os.environ.get("GCOV", "gcov")  # that of the compiler, as in gcov-13
        gcov = [program, "--json-format", "--stdout", str(notes)]
        output = subprocess.run(gcov, capture_output=True, check=True, text=True).stdout
        for line in output.splitlines():
            add(counts, json.loads(line))
    if not counts:
        print(f"{build}: no test of the device code ran", file=sys.stderr)
        return 1
    print("\n".join(table(counts)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
