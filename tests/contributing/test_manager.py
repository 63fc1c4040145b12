# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does adding a manager as CONTRIBUTING.md says work, word for word?

The page's files go into a copy of the tree, its two lines into the copy's registry, which must then
list one manager more. All programs with all managers would take many minutes. So that list is
shortened to the new entry, and no other manager's tests are copied; the programs of the copy are
built and asked for the manager, and the tool drives them.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from page import example

ROOT = Path(__file__).parents[2]
NAME = "slots"
TITLE = "Add a manager"
# What finds managers in the tree, and what that needs. Empty files stand for what would only take
# time: subjects that have nothing to do with the manager.
COPIED = (
    *(
        "include",
        "cmake",
        "bench/backend",
        "bench/cases",
        "bench/host",
        "bench/lanes",
        "bench/workloads",
        "tools/header_comments.py",
        "tools/manager_docs.py",
    ),
    *("tests/conformance", "tests/mutants", "tests/support", "tests/verify", "README.md"),
    *("tests/managers/CMakeLists.txt", "docs/managers", "docs/null.md"),
    *(f"tests/managers/{test.name}" for test in (ROOT / "tests/managers").glob("*_test.cpp")),
)
EMPTIED = ("tests/conformance/reference/conformance.cpp", "tests/heap/conformance.cpp")

options: argparse.Namespace


def copy_tree(scratch: Path) -> None:
    """Copy what is needed; files that are as they were keep their time, so nothing is rebuilt."""
    shutil.rmtree(scratch / "tests/managers", ignore_errors=True)
    for path in COPIED:
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, scratch / path, dirs_exist_ok=True)
        else:
            (scratch / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, scratch / path)
    for path in EMPTIED:
        (scratch / path).parent.mkdir(parents=True, exist_ok=True)
        (scratch / path).write_text("")
    shutil.copy2(Path(__file__).parent / "scratch.cmake", scratch / "CMakeLists.txt")


def shortened(registry: str, entry: str) -> str:
    """A registry of portable managers with this entry alone."""
    kind = entry.partition("//")[0].strip().removesuffix(",")
    text, count = re.subn(
        r"(using portable_managers = type_list<).*?>;\n",
        lambda found: f"{found[1]}{kind}>;\n",
        registry,
        flags=re.DOTALL,
    )
    if count != 1:
        raise AssertionError("the registry has no list of portable managers")
    return text


NAMES = """
#include <cstdio>
#include "warpheap/registry.hpp"

int main() {
  warpheap::managers::for_each([](auto type) { std::puts(decltype(type)::type::about.name); });
}
"""


def names_in(registry: str, headers: Path, folder: Path) -> list[str]:
    """The names of all managers of a registry, in its order, as the compiler sees it."""
    (folder / "warpheap").mkdir(parents=True, exist_ok=True)
    (folder / "warpheap/registry.hpp").write_text(registry)
    (folder / "names.cpp").write_text(NAMES)
    include = (f"-I{folder}", f"-I{headers}")
    program = folder / "names"
    run(
        *(options.compiler, "-std=c++20", "-DWARPHEAP_CPU=1", *include, folder / "names.cpp"),
        *("-o", program),
    )
    return run(program).splitlines()


def run(*command: object, environment: dict[str, str] | None = None) -> str:
    """Run a command; its output, or an error with that."""
    done = subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | (environment or {}),
    )
    if done.returncode != 0:
        raise AssertionError(f"{command} failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


@functools.cache
def tool_python() -> Path | None:
    """An interpreter that has what the tool needs: this one, or that of the checkout."""
    if importlib.util.find_spec("typer") and importlib.util.find_spec("matplotlib"):
        return Path(sys.executable)
    of_checkout = ROOT / ".venv/bin/python"
    return of_checkout if of_checkout.exists() else None


class AddedManager(unittest.TestCase):
    """The example, in all that is made from the registry and the two folders."""

    scratch: Path
    build: Path
    registry: str

    @classmethod
    def setUpClass(cls) -> None:
        """Add the manager to a copy of the tree, and build that."""
        cls.scratch = options.scratch
        cls.build = cls.scratch / "build"
        added = example(TITLE)
        copy_tree(cls.scratch)
        for path, text in added.files.items():
            (cls.scratch / path).parent.mkdir(parents=True, exist_ok=True)
            (cls.scratch / path).write_text(text)
        registry = cls.scratch / "include/warpheap/registry.hpp"
        text = registry.read_text()
        cls.registry = added.added_to(text, "using portable_managers =", "warpheap_manager<>>;")
        registry.write_text(shortened(cls.registry, added.entry))
        settings = [
            f"-DCMAKE_CXX_COMPILER={options.compiler}",
            f"-DCMAKE_CXX_COMPILER_LAUNCHER={options.launcher}",
            f"-DCPU_LIBRARY={options.cpu_library}",
            f"-DBENCH_OBJECTS={';'.join(options.bench_objects)}",
            f"-DBENCH_INCLUDE={options.bench_include}",
            "-DCMAKE_BUILD_TYPE=None",
        ]
        run("cmake", "-G", "Ninja", "-S", cls.scratch, "-B", cls.build, *settings)
        programs = ("warpheap-bench-cpu", "warpheap-conformance", "warpheap-verify")
        run("cmake", "--build", cls.build, "--target", *programs, "managers-test")

    def listed(self) -> dict[str, Any]:
        """What the program for measurements lists."""
        answer: dict[str, Any] = json.loads(run(self.build / "warpheap-bench-cpu", "list"))
        return answer

    def test_touches_two_folders_and_the_registry(self) -> None:
        folders = {str(Path(path).parent) for path in example(TITLE).files}
        self.assertEqual(folders, {f"include/warpheap/managers/{NAME}", f"tests/managers/{NAME}"})
        self.assertFalse((ROOT / f"include/warpheap/managers/{NAME}").exists())

    def test_the_registry_lists_one_manager_more(self) -> None:
        before = json.loads(run(options.bench_program, "list"))["managers"]
        names = [manager["name"] for manager in before if manager["available"]]
        headers, folder = self.scratch / "include", self.scratch / "names"
        self.assertGreater(len(names), 20)
        self.assertEqual(names_in(self.registry, headers, folder), [*names[:-1], NAME, names[-1]])

    def test_its_header_has_at_most_forty_lines_of_code(self) -> None:
        header = example(TITLE).files[f"include/warpheap/managers/{NAME}/{NAME}.hpp"]
        lines = [line.strip() for line in header.splitlines()]
        self.assertLessEqual(sum(bool(line) and not line.startswith("//") for line in lines), 40)

    def test_it_is_in_the_list(self) -> None:
        managers = {m["name"]: m for m in self.listed()["managers"]}
        self.assertTrue(managers[NAME]["available"])
        self.assertEqual(managers[NAME]["folder"], NAME)

    def passed(self, program: str, tests: str) -> int:
        """Run the GoogleTests of that pattern, and count those that pass."""
        said = run(self.build / program, f"--gtest_filter={tests}", "--gtest_brief=1")
        passed = re.search(r"PASSED  \] (\d+) tests", said)
        self.assertIsNotNone(passed, said)
        return int(passed[1])  # type: ignore[index]

    def test_the_conformance_suite_passes(self) -> None:
        self.assertGreater(self.passed("tests/conformance/warpheap-conformance", f"*/{NAME}"), 10)

    def test_it_passes_the_tests_of_all_managers(self) -> None:
        self.assertGreaterEqual(self.passed("tests/managers/managers-test", f"*/{NAME}.*"), 3)

    def test_the_explorer_finds_nothing_wrong_but_the_mutant(self) -> None:
        program = self.build / "bench/warpheap-verify"
        subjects = json.loads(run(program, "list"))
        self.assertIn(NAME, subjects["managers"])
        run(program, "check", "--subject", NAME, "--schedules", "200", "--seconds", "20")
        run(program, "mutants", "--schedules", "100000", "--seconds", "60")

    def test_it_is_measured(self) -> None:
        row = run(
            *(self.build / "warpheap-bench-cpu", "run", "--case", "alloc", "--manager", NAME),
            *("--threads", "256", "--size-min", "64", "--size-max", "64"),
            *("--heap-bytes", "1048576", "--iterations", "2"),
        )
        self.assertEqual(json.loads(row)["status"], "ok")

    def tool(self, *arguments: object) -> str:
        """Run the tool on the programs of the copy."""
        python = tool_python()
        if python is None:
            self.skipTest("no Python with the tool's packages: ./dev makes one in .venv")
        command = (python, "-B", "-m", "warpheap", *arguments, "--build-dir", self.build)
        return run(*command, environment={"PYTHONPATH": str(ROOT / "python")})

    def test_the_tool_lists_it(self) -> None:
        listed = json.loads(self.tool("list", "--backend", "cpu", "--json"))
        names = [manager["name"] for manager in listed["backends"]["cpu"]["managers"]]
        self.assertIn(NAME, names)

    def test_a_survey_measures_and_draws_it(self) -> None:
        out = self.scratch / "survey"
        shutil.rmtree(out, ignore_errors=True)
        self.tool("survey", "--quick", "--backend", "cpu", "--case", "alloc", "--out", out)
        rows = [json.loads(row) for row in (out / "results.jsonl").read_text().splitlines()]
        measured = [row for row in rows if row["manager"] == NAME and row["status"] == "ok"]
        self.assertTrue(measured)
        self.assertIn(NAME, (out / "report.html").read_text())

    def test_the_docs_have_it(self) -> None:
        program = self.build / "warpheap-bench-cpu"
        run(sys.executable, "-B", self.scratch / "tools/manager_docs.py", program)
        self.assertIn(
            f"[`{NAME}`](docs/managers/{NAME}.md)", (self.scratch / "README.md").read_text()
        )
        self.assertIn(
            f"- [`{NAME}`](managers/{NAME}.md): no slot was free at a moment of the call.\n",
            (self.scratch / "docs/null.md").read_text(),
        )
        page = (self.scratch / f"docs/managers/{NAME}.md").read_text()
        self.assertIn("[ free slots: bitmap tree ][ slots ... ]", page)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--compiler", type=Path, required=True)
    parser.add_argument("--launcher", default="")
    parser.add_argument("--cpu-library", type=Path, required=True)
    parser.add_argument("--bench-objects", nargs="+", required=True)
    parser.add_argument("--bench-include", required=True)
    parser.add_argument("--bench-program", type=Path, required=True)
    options = parser.parse_args()
    unittest.main(argv=sys.argv[:1], verbosity=2)
