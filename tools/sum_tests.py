# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums up what the stages of a test run left behind.

Usage: sum_tests.py FOLDER, which holds stages.tsv (name, exit code and seconds of each stage) and
for stages that ran tests NAME.xml, a JUnit file. Prints a table, the names of what failed and, as
its last line, `N passed, N failed`. Exits 0 only if something passed and nothing failed.
"""

import re
import shutil
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree


@dataclass
class Stage:
    """One stage: a stage whose command failed though no test did counts as one failed test."""

    name: str
    code: int
    seconds: int
    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)


def read_report(stage: Stage, report: Path) -> None:
    """Adds the test cases of a JUnit file to `stage`."""
    try:
        root = ElementTree.parse(report).getroot()
    except ElementTree.ParseError as error:
        stage.failed.append(f"{report.name} is not a JUnit file: {error}")
        return
    for case in root.iter("testcase"):
        name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
        # A typed test's suite names its type; CMake appends all of the type.
        name = re.sub(r"\.  # TypeParam = .*>", ">", name)
        if case.find("failure") is not None or case.find("error") is not None:
            stage.failed.append(name)
        elif (skipped := case.find("skipped")) is not None:
            # CTest also calls it skipped when it cannot start a test's program.
            if case.get("status") == "notrun" and not skipped.get("message", "").startswith(
                "SKIP_"
            ):
                stage.failed.append(f"{name}: {skipped.get('message')}")
            else:
                stage.skipped += 1
        else:
            stage.passed += 1


def read_stages(folder: Path) -> list[Stage]:
    """The stages of a run, in the order in which they ran."""
    stages = []
    for line in (folder / "stages.tsv").read_text(encoding="utf-8").splitlines():
        name, code, seconds = line.split("\t")
        stage = Stage(name, int(code), int(seconds))
        report = folder / f"{name}.xml"
        if report.exists():
            read_report(stage, report)
        elif stage.code == 0:
            stage.passed = 1
        if stage.code != 0 and not stage.failed:
            stage.failed.append(f"the stage ended with exit code {stage.code}")
        stages.append(stage)
    return stages


def main(arguments: list[str]) -> int:
    (folder,) = arguments
    stages = read_stages(Path(folder))
    columns = shutil.get_terminal_size((100, 24)).columns
    width = max((len(stage.name) for stage in stages), default=5)
    print(f"{'stage':<{width}}  passed  failed  skipped  seconds")
    for stage in stages:
        print(
            f"{stage.name:<{width}}  {stage.passed:6}  {len(stage.failed):6}"
            f"  {stage.skipped:7}  {stage.seconds:7}"
        )
    for stage in stages:
        for name in stage.failed:
            print("\n".join(textwrap.wrap(f"FAILED {stage.name}: {name}", columns)))
    passed = sum(stage.passed for stage in stages)
    failed = sum(len(stage.failed) for stage in stages)
    skipped = sum(stage.skipped for stage in stages)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
