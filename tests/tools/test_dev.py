# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""./dev says clearly what is wrong, with an exit code that a script can trust."""

import os
import subprocess
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
        for command in ("survey", "test", "lint", "format", "warpheap", "nightly", "gpu-test"):
            self.assertIn(f"  {command}", shown.stdout)
        self.assertEqual(dev().stdout, shown.stdout)

    def test_an_unknown_command_is_a_usage_error(self) -> None:
        shown = dev("surwey")
        self.assertEqual(shown.returncode, 2)
        self.assertIn("unknown command 'surwey'", shown.stderr)
        self.assertIn("usage: ./dev", shown.stderr)
        self.assertEqual(shown.stdout, "")

    def test_arguments_that_nothing_would_read_are_refused(self) -> None:
        for command in ("test", "nightly", "gpu-test"):
            with self.subTest(command=command):
                self.assertEqual(dev(command, "--fast").returncode, 2)

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
