# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A limit needs a reason and a measurement."""

import json
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
        """Return what is wrong with these limits, and with rows that were not finished."""
        found = check_limits.complaints(listed, self.root)
        return "\n".join([*found, *check_limits.unexplained(listed, self.root)])

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

    def publish(self, ms: float, name: str = "a", status: str = "ok") -> None:
        """Let the survey have a row of this manager."""
        rows = self.root / manager_docs.STEADY_ROWS
        rows.mkdir(parents=True)
        row = {"manager": name, "status": status, "longest_ms": ms}
        row |= {"size_min": 16, "size_max": 4096, "distribution": "powers"}
        (rows / f"{name}.jsonl").write_text(json.dumps(row) + "\n")

    def test_a_slow_row_of_the_survey_without_a_sentence(self) -> None:
        self.publish(412.4, name="b")
        self.assertEqual(
            self.check("a pages 400\nb pages 100"),
            "b: a row has 412 ms (powers of two, 16 to 4,096 B), and no header says why",
        )

    def test_a_row_of_the_survey_above_the_limit_is_quoted(self) -> None:
        self.publish(1441)
        self.assertIn("a: a row has 1.44 s", self.check("a pages 400"))
        self.header.write_text("/// Steady load (`a`): lanes wait, for up to 1.44 s.\n")
        self.assertEqual(self.check("a pages 400"), "")

    def test_rows_of_the_survey_that_need_no_words(self) -> None:
        self.publish(300)
        self.assertEqual(self.check("a pages 400"), "")
        self.header.write_text("")
        self.results.write_text("")
        (self.root / manager_docs.STEADY_ROWS / "a.jsonl").unlink()
        (self.root / manager_docs.STEADY_ROWS).rmdir()
        self.publish(99)
        self.assertEqual(self.check("a pages 100"), "")

    def test_a_row_of_the_survey_that_has_no_time(self) -> None:
        self.publish(0, name="b", status="skipped")
        self.assertEqual(self.check("a pages 400\nb pages 100"), "")

    def leave(self, name: str, case: str) -> None:
        """Let the survey have a row of this manager and case that was not finished."""
        file = self.root / "results/gpu" / case / f"{name}.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"manager": name, "case": case, "status": "timeout"}) + "\n")

    def test_a_row_that_was_not_finished(self) -> None:
        self.leave("b", "churn")
        listed = "a pages 400\nb pages 100"
        self.assertEqual(
            self.check(listed), "b: a row of `churn` was not finished, and no header says why"
        )
        said = self.header.read_text() + "///\n/// Not finished ({}): slow.\n"
        self.header.write_text(said.format("`a`, `churn`"))
        self.assertIn("b: a row of `churn`", self.check(listed))
        self.header.write_text(said.format("`b`, `churn`"))
        self.assertEqual(self.check(listed), "")
        self.leave("b", "holes")
        self.assertEqual(
            self.check(listed), "b: a row of `holes` was not finished, and no header says why"
        )

    def test_a_row_that_was_not_finished_of_a_manager_that_is_not_listed(self) -> None:
        self.leave("gpu_only", "churn")
        self.assertIn("gpu_only: a row of `churn`", self.check("a pages 400"))

    def test_a_launch_above_its_limit(self) -> None:
        self.assertIn("took 200 ms", self.check("a pages 100"))


if __name__ == "__main__":
    unittest.main()
