# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fail if a manager takes long, or may, and nothing supports it: under steady load, or in a row of
the survey that was not finished.

A limit of launches above 100 ms needs a sentence about it in a header of the manager's folder,
which begins with "Steady load", and a measurement in results/checks/steady_load.txt. A measurement
above 100 ms needs a limit. No limit is below what was measured last, or above three times that.

A row of the survey's case `steady` above 100 ms needs such a sentence, too. If it is even above the
manager's limit, which is for another load, the sentence has to quote it. A row of any other case
that was not finished needs a sentence which begins with "Not finished" and names the case, and the
manager as well unless the folder has its name.

    check_limits.py STEADY      the program of the steady load
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import manager_docs

USUAL_MS = 100.0
SLACK = 3.0


def reasons(headers: Path, name: str) -> Iterator[str]:
    """What the headers of a folder say about the manager under steady load."""
    for header in sorted(headers.glob("*.hpp")):
        said = manager_docs.STEADY_REASON.match(manager_docs.paragraph(header, "Steady load"))
        if said and (said[1] is None or f"`{name}`" in said[1]):
            yield said[2]


def complaints(listed: str, root: Path) -> Iterator[str]:
    """What is wrong with limits that were listed as lines `NAME FOLDER MS`."""
    measured = manager_docs.longest_launches((root / manager_docs.STEADY).read_text())
    published = manager_docs.published_launches(root)
    for line in listed.splitlines():
        name, folder, text = line.split()
        limit, longest = float(text), measured.get(name)
        headers = root / "include/warpheap/managers" / folder
        if limit > USUAL_MS:
            if not any(reasons(headers, name)):
                yield f"{name}: {limit:.0f} ms, and no header says why after 'Steady load'"
            if longest is None:
                yield f"{name}: {limit:.0f} ms, and no launch was measured"
            elif limit > SLACK * max(longest, USUAL_MS):
                yield f"{name}: {limit:.0f} ms, and the longest launch took {longest:.0f} ms"
        if longest is not None and longest > limit:
            yield f"{name}: a launch took {longest:.0f} ms, and its limit is {limit:.0f} ms"
        said = " ".join(reasons(headers, name))
        for sizes, ms in published.get(name, ()):
            took = manager_docs.duration(ms)
            if ms > USUAL_MS and not said:
                yield f"{name}: a row has {took} ({sizes}), and no header says why"
            elif ms > max(limit, USUAL_MS) and took not in said:
                yield f"{name}: a row has {took} ({sizes}), and no header quotes it"


def unfinished_cases(root: Path) -> dict[str, set[str]]:
    """The cases, but for ``steady``, of which a manager has a row that was not finished."""
    cases: dict[str, set[str]] = {}
    for file in sorted((root / "results").glob("*/*/*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            if row["status"] == "timeout" and row["case"] != "steady":
                cases.setdefault(row["manager"], set()).add(row["case"])
    return cases


def unexplained(listed: str, root: Path) -> Iterator[str]:
    """The rows that were not finished, and of which no header of the manager's folder says why."""
    folders = dict(line.split()[:2] for line in listed.splitlines())
    for name, cases in unfinished_cases(root).items():
        # A manager that exists on a GPU only is not listed. Its folder has its name.
        folder = folders.get(name, name)
        headers = root / "include/warpheap/managers" / folder
        said = " ".join(cases_said for cases_said, _ in manager_docs.unfinished_reasons(headers))
        for case in sorted(cases):
            if f"`{case}`" not in said or (name != folder and f"`{name}`" not in said):
                yield f"{name}: a row of `{case}` was not finished, and no header says why"


def main() -> int:
    """Run as a program."""
    listed = subprocess.run([sys.argv[1], "limits"], check=True, capture_output=True, text=True)
    if not listed.stdout:
        print("check_limits.py: the program lists no manager", file=sys.stderr)
        return 1
    root = manager_docs.ROOT
    found = [*complaints(listed.stdout, root), *unexplained(listed.stdout, root)]
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
