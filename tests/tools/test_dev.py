# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""./dev says clearly what is wrong, with an exit code that a script can trust."""

import os
import subprocess
import sys
import tempfile
import unittest
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
            "note() { echo $1 >&2; }; command_mutation() { echo $@; return 1; };"
            f"code=0; {stage} || code=$?; exit $code"
        )
        return subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=False)

    def test_by_night_every_subject_of_the_default_manager_is_explored_in_depth(self) -> None:
        known = '{"managers": ["rw", "warpheap", "warpheap_a"], "structures": ["warpheap_b", "x"]}'
        explorer = f"[ $1 = list ] && echo '{known}' || {{ echo $@; [ $3 != warpheap ]; }}"
        shown = self.nightly("explore_default_manager", explorer)
        explored = [line.split()[1:5] for line in shown.stderr.splitlines()]
        depth = ["--schedules", "1000000"]
        names = ["warpheap", "warpheap_a", "warpheap_b"]
        self.assertEqual(explored, [["--subject", name, *depth] for name in names])
        self.assertEqual(shown.returncode, 1)
        nothing = '{"managers": [], "structures": []}'
        self.assertEqual(self.nightly("explore_default_manager", f"echo '{nothing}'").returncode, 1)

    def test_by_night_heaps_run_out_more_than_two_to_the_sixteenth_times(self) -> None:
        def suite(report: str) -> str:
            write = f"echo '{report}' > ${{a#*:}}"
            return f"for a; do case $a in --gtest_output=*) {write};; esac; done"

        all_laps = suite('<property name="laps_of_16_bytes" value="66000"/>')
        self.assertEqual(self.nightly("lap_all", all_laps).returncode, 0)
        self.assertNotEqual(self.nightly("lap_all", all_laps + "; exit 1").returncode, 0)
        too_few = all_laps.replace("66000", "65400")
        self.assertNotEqual(self.nightly("lap_all", too_few).returncode, 0)
        self.assertNotEqual(self.nightly("lap_all", suite("no test ran")).returncode, 0)

    def test_by_night_mutants_are_drawn_by_the_date(self) -> None:
        shown = self.nightly("run_fresh_mutants")
        self.assertRegex(shown.stderr, r"(?m)^--sample \d+ --seed 20\d{6} --minutes \d+ ")
        self.assertIn("/build/reports/mutation.jsonl\n", shown.stderr)
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
