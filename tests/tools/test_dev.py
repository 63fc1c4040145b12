# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""./dev says clearly what is wrong, with an exit code that a script can trust."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from itertools import pairwise
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def dev(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROJECT / "dev", *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )


class DevTest(unittest.TestCase):
    def folder_with(self, *programs: str) -> str:
        """A folder to be used as PATH, with nothing but these programs of this machine in it."""
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        for program in programs:
            for folder in os.environ["PATH"].split(":"):
                found = Path(folder) / program
                if found.exists():
                    (Path(temporary.name) / program).symlink_to(found)
                    break
        return temporary.name

    def test_help_names_every_command(self) -> None:
        shown = dev("--help")
        self.assertEqual(shown.returncode, 0)
        for command in (
            "survey",
            "test",
            "lint",
            "format",
            "warpheap",
            "docs",
            "coverage",
            "nightly",
            "gpu-test",
        ):
            self.assertIn(f"  {command}", shown.stdout)
        self.assertEqual(dev().stdout, shown.stdout)

    def test_an_unknown_command_is_a_usage_error(self) -> None:
        shown = dev("surwey")
        self.assertEqual(shown.returncode, 2)
        self.assertIn("unknown command 'surwey'", shown.stderr)
        self.assertIn("usage: ./dev", shown.stderr)
        self.assertEqual(shown.stdout, "")

    def test_no_line_of_a_test_run_is_longer_than_the_terminal(self) -> None:
        name = "conformance/ouroboros_va_p." + "lanes_of_the_same_launch_may_free_" * 2 + "blocks"
        ctest = (
            f"          Start  560: {name}\n"
            f" 560/1395 Test  #560: {name} {'.' * 30}   Passed    0.10 sec\n"
            f" 561/1395 Test  #561: {name} .............***Failed    1.10 sec\n"
            " 562/1395 Test  #562: conformance.two_heaps<conformance/crw_64.  # TypeParam = "
            "warpheap::pages<warpheap::config{(warpheap::kind)2, 64}>> ...   Passed 0.2 sec\n"
            f"lanes.cpp:12: Failure: {'expected ' * 20}\n"
        )
        for columns in ("60", "120"):
            shown = subprocess.run(
                ["bash", "-c", f"logs=/; source {PROJECT}/tools/shell/steps.sh; fit"],
                input=ctest,
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "COLUMNS": columns},
            )
            lines = shown.stderr.splitlines()
            self.assertLessEqual(max(map(len, lines)), int(columns))
            whole = "".join(lines)
            self.assertEqual(whole.count("expected "), 20)
            self.assertIn("560/1395 Passed 0.10 sec", whole)
            self.assertIn("561/1395 ***Failed 1.10 sec", whole)
            self.assertIn("562/1395 Passed 0.2 sec  conformance.two_heaps<conformance/crw", whole)
            self.assertNotIn("TypeParam", whole)
            self.assertNotIn("Start", whole)

    def test_no_line_of_a_note_is_longer_than_the_terminal(self) -> None:
        sentences = ["left out: " + "mutants, headers alone, " * 6 + "and fuzzers", "short"]
        script = f"logs=/; source {PROJECT}/tools/shell/steps.sh; note {shlex.join(sentences)}"
        for columns in (60, 120):
            shown = subprocess.run(
                ["bash", "-euc", script],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "COLUMNS": str(columns)},
            )
            lines = shown.stderr.splitlines()
            self.assertLessEqual(max(map(len, lines)), columns)
            self.assertEqual("".join(lines), "".join(f"dev: {text}" for text in sentences))
            self.assertEqual(lines[-1], "dev: short")

    def test_arguments_that_nothing_would_read_are_refused(self) -> None:
        for command in ("test", "docs", "coverage", "nightly", "gpu-test"):
            with self.subTest(command=command):
                self.assertEqual(dev(command, "--fast").returncode, 2)

    def test_only_the_option_adds_mutants_and_sanitizers_and_ci_asks_for_them(self) -> None:
        self.assertEqual(dev("test", "--without-sanitizers").returncode, 2)
        self.assertEqual(dev("test", "--all", "more").returncode, 2)
        # Every stage is named and none is run.
        script = (
            f"root={PROJECT} venv=/ logs=/; source $root/tools/shell/steps.sh;"
            "source $root/tools/shell/test.sh; stage() { echo $1; };"
            "need_system_packages() { :; }; need_python_packages() { :; }; begin_stages() { :; };"
            "end_stages() { :; }; report_cost() { :; }; find_nvcc() { :; }; have_gpu() { false; };"
            "command_test"
        )
        stages = [
            subprocess.run(
                ["bash", "-euc", f"{script} {option}"], capture_output=True, text=True, check=True
            ).stdout.split()
            for option in ("", "--all")
        ]
        usual = ["cpu-release", "python", "cuda-compile"]
        self.assertEqual(stages, [usual, [*usual[:2], "cpu-asan", "cpu-tsan", usual[2]]])
        self.assertIn("./dev test --all\n", (PROJECT / ".ci/run").read_text())

    def nightly(self, stage: str, script_of: str = "") -> subprocess.CompletedProcess[str]:
        """One stage of the night, in a folder whose explorer and conformance suite are a script."""
        root = Path(self.folder_with())
        reports = root / "build/reports"
        reports.mkdir(parents=True)
        for name in ("bench/warpheap-verify", "tests/conformance/warpheap-conformance"):
            program = root / "build/cpu-release" / name
            program.parent.mkdir(parents=True)
            program.write_text(f"#!/bin/sh\n{script_of}\n")
            program.chmod(0o755)
        script = (
            f"root={root} reports={reports}; source {PROJECT}/tools/shell/nightly.sh;"
            f"_base_python() {{ echo {sys.executable}; }}; jobs() {{ echo 3; }};"
            "date() { [ $1 = +%Y%m%d ] && echo 20301224; };"
            "note() { echo $1 >&2; }; command_mutation() { echo $@; return 1; };"
            "run_tool() { echo $@; exit 5; };"
            f"code=0; {stage} || code=$?; exit $code"
        )
        return subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=False)

    def test_by_night_every_subject_is_explored_once_from_seeds_of_the_date(self) -> None:
        known = '{"managers": ["rw", "warpheap", "warpheap_a"], "structures": ["warpheap_b", "x"]}'
        explored = {}
        for kind in ("default", "other"):
            shown = self.nightly(f"explore {kind} 500", f"[ $1 = list ] && echo '{known}'")
            arguments = shown.stderr.partition("verify ")[2].split()
            options = list(pairwise(arguments))
            self.assertLessEqual({("--schedules", "500"), ("--jobs", "3")}, set(options))
            self.assertEqual(shown.returncode, 5, "the tool's")
            self.assertIn(("--seed", "20301224000000"), options)
            self.assertIn("the first seed is 20301224000000\n", shown.stderr)
            explored[kind] = [value for option, value in options if option == "--subject"]
        of_default = ["warpheap", "warpheap_a", "warpheap_b"]
        self.assertEqual(explored, {"default": of_default, "other": ["rw", "x"]})
        nothing = '{"managers": [], "structures": []}'
        self.assertEqual(self.nightly("explore other 500", f"echo '{nothing}'").returncode, 1)

    def test_by_night_a_case_has_as_many_schedules_as_its_stage_says(self) -> None:
        script = (
            f"root=/ reports=/; source {PROJECT}/tools/shell/nightly.sh;"
            'stage() { echo "$2: ${*:3}"; }; need_system_packages() { :; };'
            "need_python_packages() { :; }; begin_stages() { :; }; end_stages() { :; };"
            "command_nightly"
        )
        shown = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=True)
        stages = re.findall(
            r"([0-9,]+) schedules of each case: explore (\w+) (\d+)\n", shown.stdout
        )
        self.assertEqual([subjects for _, subjects, _ in stages], ["other", "default"])
        strategies_and_memories = 3 * 2
        for of_case, _, of_combination in stages:
            explored = int(of_combination) * strategies_and_memories
            self.assertGreaterEqual(explored, int(of_case.replace(",", "")))
            self.assertLess(int(of_combination), 10**6, "the next night's seeds")

    def test_by_night_sanitizers_have_what_they_lack_by_day(self) -> None:
        presets = json.loads((PROJECT / "CMakePresets.json").read_text())
        built = {one["name"]: one for one in presets["configurePresets"]}
        settings = {name: one.get("cacheVariables", {}) for name, one in built.items()}
        self.assertEqual(settings["cpu-asan"]["WARPHEAP_DAMAGE_TIMES"], "4")
        self.assertEqual(settings["cpu-tsan"]["WARPHEAP_TEST_SUITES"], "OFF")
        by_night = {
            "asan": {"WARPHEAP_TEST_VARIANTS": "ON", "WARPHEAP_DAMAGE_TIMES": "8"},
            "tsan": {"WARPHEAP_TEST_VARIANTS": "ON", "WARPHEAP_TEST_SUITES": "ON"},
        }
        nightly = (PROJECT / "tools/shell/nightly.sh").read_text()
        for which, needed in by_night.items():
            name = f"nightly-{which}"
            self.assertEqual(built[name]["inherits"], f"cpu-{which}")
            self.assertLessEqual(needed.items(), settings[name].items())
            self.assertRegex(nightly, rf"(?m)^  stage {name} .* build_and_ctest {name}$")

    def test_by_night_heaps_run_out_more_than_two_to_the_sixteenth_times(self) -> None:
        def suite(report: str) -> str:
            write = f"echo '{report}' > ${{a#*:}}"
            return f"for a; do case $a in --gtest_output=*) {write};; esac; done"

        case = '<testcase name="a" result="completed">\n'
        laps = '<property name="laps_of_16_bytes" value="66000"/>\n'
        skipped = '<testcase name="b" result="skipped">\n'
        all_laps = suite(case + laps + laps + skipped + case + laps)
        self.assertEqual(self.nightly("lap_all", all_laps).returncode, 0)
        self.assertNotEqual(self.nightly("lap_all", all_laps + "; exit 1").returncode, 0)
        too_few = laps.replace("66000", "65400")
        for report, said in (
            (case + too_few, "0 of 1 "),
            (case + laps + case + too_few, "1 of 2 "),
            (case + laps + too_few + case + laps, "1 of 2 "),
            (case + case + laps + laps, "1 of 2 "),
            (skipped, "0 of 0 "),
        ):
            shown = self.nightly("lap_all", suite(report))
            self.assertNotEqual(shown.returncode, 0, report)
            self.assertIn(f"{said}cases that ran", shown.stderr)

    def test_by_night_mutants_are_drawn_by_the_date(self) -> None:
        for stage, which, name in (
            ("run_fresh_mutants", "--without-equivalent", "mutation"),
            ("doubt_equivalents", "--only-equivalent", "equivalents"),
        ):
            shown = self.nightly(stage)
            options = rf"(?m)^--sample \d+ --minutes \d+ {which} --seed 20301224 "
            self.assertRegex(shown.stderr, options)
            self.assertIn(f"/build/reports/{name}.jsonl\n", shown.stderr)
            self.assertEqual(shown.returncode, 1)

    def test_what_may_not_be_installed_is_named_with_the_command_that_installs_it(self) -> None:
        programs = ("bash", "env", "dirname", "mkdir", "cat", "grep", "apt-get", "dpkg-query")
        shown = dev("survey", PATH=self.folder_with(*programs), WARPHEAP_INSTALL="no", CXX="")
        self.assertEqual(shown.returncode, 1)
        self.assertRegex(shown.stderr, r"apt-get install .*\bg\+\+ cmake ninja-build\b")
        self.assertNotIn("unbound", shown.stderr)

    def test_a_machine_without_apt_is_told_what_it_lacks(self) -> None:
        programs = ("bash", "env", "dirname", "mkdir", "cat", "grep")
        shown = dev("survey", PATH=self.folder_with(*programs), CXX="")
        self.assertEqual(shown.returncode, 1)
        self.assertIn("these are missing (by their Debian names): g++ cmake ninja", shown.stderr)
        self.assertNotIn("apt-get", shown.stderr)


if __name__ == "__main__":
    unittest.main()
