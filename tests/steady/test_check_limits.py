# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A limit needs a reason and a measurement."""

import tempfile
import unittest
from pathlib import Path

import check_limits

import manager_docs

LINE = "a  3 launches, longest  {}.000 ms,  1 served,  1 null, 0 wrong, 0 lost: ok\n"


class Limits(unittest.TestCase):
    """Managers `a` and `b` in a folder of one header."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.results = self.root / manager_docs.STEADY
        self.results.parent.mkdir(parents=True)
        self.header = self.root / "include/warpheap/managers/pages/pages.hpp"
        self.header.parent.mkdir(parents=True)
        self.header.write_text("/// Steady load (`a`): lanes wait.\n")
        self.results.write_text(LINE.format(200))

    def check(self, listed: str) -> str:
        """Return what is wrong with these limits."""
        return "\n".join(check_limits.complaints(listed, self.root))

    def test_a_limit_with_reason_and_measurement(self) -> None:
        self.assertEqual(self.check("a pages 400\nb pages 100"), "")

    def test_a_limit_without_a_sentence(self) -> None:
        self.header.write_text("/// Progress: lanes wait.\n")
        self.assertIn("no header says why", self.check("a pages 400"))

    def test_a_sentence_about_another_manager(self) -> None:
        self.results.write_text(LINE.format(200) + LINE.replace("a", "b", 1).format(200))
        self.assertIn("b: 400 ms, and no header says why", self.check("b pages 400"))

    def test_a_limit_that_nothing_measured_supports(self) -> None:
        self.results.write_text("")
        self.assertIn("no launch was measured", self.check("a pages 400"))
        self.results.write_text(LINE.format(20))
        self.assertIn("took 20 ms", self.check("a pages 400"))

    def test_a_launch_above_its_limit(self) -> None:
        self.assertIn("took 200 ms", self.check("a pages 100"))


if __name__ == "__main__":
    unittest.main()
