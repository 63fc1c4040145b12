# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report must count each mutant once, and fail for one that nothing rejects."""

import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import generated
import report
from example_mutant import mutant
from workshop import Verdict


class TheReport(unittest.TestCase):
    def report(self, *mutants: generated.Mutant, left: int = 0) -> tuple[int, str]:
        """Report mutants, of which the last ones are left to go on with."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            status = report.report(list(mutants), list(mutants[len(mutants) - left :]), 1)
        return status, printed.getvalue()

    def test_open_mutants_count_as_not_killed(self) -> None:
        dead, alive, still_open = (mutant(name=f"g{i}") for i in range(3))
        dead.verdict, dead.tried = Verdict("killed", "x"), ["tests"]
        alive.verdict = Verdict("survived", "")
        status, said = self.report(dead, alive, still_open, left=1)
        self.assertEqual(status, 1)
        self.assertIn("3 mutants: 1 killed, 1 survived, 1 open", said)
        self.assertIn("33.3 % of those that matter", said)
        self.assertEqual(self.report(dead, still_open, left=1)[0], 0)

    def test_those_that_cost_time_only_are_counted_apart(self) -> None:
        same, slow, dead = (mutant(name=f"g{i}") for i in range(3))
        same.why_equivalent = slow.why_equivalent = "for this test"
        slow.costs_time = True
        for one in (same, slow):
            one.verdict = Verdict("survived", "")
        dead.verdict, dead.tried = Verdict("killed", "x"), ["tests"]
        status, said = self.report(same, slow, dead)
        self.assertEqual(status, 0)
        self.assertIn("0 open at the end, 1 equivalent, 1 cost time only, 0 do not", said)
        self.assertIn("100.0 % of those that matter", said)
        counts = next(line.split()[1:] for line in said.splitlines() if line.startswith("lost"))
        self.assertEqual(counts, ["3", "1", "0", "0", "1", "1", "0"])

    def test_one_that_is_killed_is_not_equivalent_and_costs_more_than_time(self) -> None:
        for costs_time in (False, True):
            one = mutant(name="g1")
            one.why_equivalent, one.costs_time = "for this test", costs_time
            one.verdict, one.tried = Verdict("killed", "x"), ["tests"]
            status, said = self.report(one)
            self.assertEqual(status, 1)
            self.assertIn("NOT EQUIVALENT, whatever equivalent.toml says: one.hpp", said)


if __name__ == "__main__":
    unittest.main()
