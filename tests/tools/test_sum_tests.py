# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run counts as passed only if tests ran and none failed."""

import contextlib
import io
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import sum_tests

PASSED = '<testcase classname="c" name="good"/>'
FAILED = '<testcase classname="c" name="bad"><failure>why</failure></testcase>'
BROKEN = '<testcase classname="c" name="broken"><error>why</error></testcase>'
NOT_RUN = '<testcase name="lost" status="notrun"><skipped message="Unable to find"/></testcase>'
CTEST_SKIPPED = (
    '<testcase name="not_here" status="notrun">'
    '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>'
)
SKIPPED = '<testcase classname="c" name="not_here"><skipped/></testcase>'


class SumTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def sum(self, stages: str, **reports: str) -> tuple[int, list[str]]:
        """Exit code and lines of a run with these stages and JUnit test cases."""
        (self.folder / "stages.tsv").write_text(stages, encoding="utf-8")
        for name, cases in reports.items():
            text = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
            (self.folder / f"{name}.xml").write_text(text, encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = sum_tests.main([str(self.folder)])
        return code, output.getvalue().splitlines()

    def test_all_passed(self) -> None:
        code, lines = self.sum("a\t0\t3\nb\t0\t4\n", a=PASSED * 3, b=PASSED)
        self.assertEqual(lines[-1], "4 passed, 0 failed")
        self.assertEqual(code, 0)

    def test_failures_are_named(self) -> None:
        code, lines = self.sum("a\t8\t3\n", a=PASSED + FAILED + BROKEN)
        self.assertEqual(lines[-1], "1 passed, 2 failed")
        self.assertIn("FAILED a: c.bad", lines)
        self.assertIn("FAILED a: c.broken", lines)
        self.assertEqual(code, 1)

    def test_skipped_is_not_passed(self) -> None:
        code, lines = self.sum("a\t0\t3\n", a=PASSED + SKIPPED)
        self.assertEqual(lines[-1], "1 passed, 0 failed, 1 skipped")
        self.assertEqual(code, 0)
        self.assertEqual(self.sum("a\t0\t3\n", a=SKIPPED)[0], 1)

    def test_a_test_that_could_not_start_is_a_failure(self) -> None:
        code, lines = self.sum("a\t8\t3\n", a=PASSED + NOT_RUN + CTEST_SKIPPED)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 1 skipped")
        self.assertIn("FAILED a: lost: Unable to find", lines)
        self.assertEqual(code, 1)

    def test_a_stage_that_failed_without_a_failed_test_counts(self) -> None:
        code, lines = self.sum("a\t0\t3\nbuild\t2\t1\n", a=PASSED)
        self.assertEqual(lines[-1], "1 passed, 1 failed")
        self.assertIn("FAILED build: the stage ended with exit code 2", lines)
        self.assertEqual(code, 1)
        self.assertEqual(self.sum("a\t134\t3\n", a=PASSED)[0], 1)

    def test_a_broken_report_counts_as_a_failure(self) -> None:
        (self.folder / "b.xml").write_text("<testsuites><testsu", encoding="utf-8")
        code, lines = self.sum("a\t0\t3\nb\t0\t1\n", a=PASSED)
        self.assertEqual(lines[-1], "1 passed, 1 failed")
        self.assertEqual(code, 1)

    def test_no_line_is_longer_than_the_terminal(self) -> None:
        long = FAILED.replace("bad", "a_name_of_many_words " * 12)
        with unittest.mock.patch.dict("os.environ", {"COLUMNS": "60"}):
            _, lines = self.sum("a\t8\t3\n", a=PASSED + long)
        self.assertLessEqual(max(map(len, lines)), 60)
        self.assertEqual(" ".join(lines).count("a_name_of_many_words"), 12)

    def test_nothing_ran(self) -> None:
        code, lines = self.sum("")
        self.assertEqual(lines[-1], "0 passed, 0 failed")
        self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
