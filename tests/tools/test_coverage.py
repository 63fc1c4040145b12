# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The coverage report unites the instantiations of a template and names what never ran."""

import unittest
from collections import defaultdict

import coverage


def counts(**files: dict[int, int]) -> coverage.Counts:
    """Counts of headers whose names have '/' for '__'."""
    return {f"{name.replace('__', '/')}.hpp": lines for name, lines in files.items()}


class CoverageTest(unittest.TestCase):
    def test_device_code_is_told_from_the_rest(self) -> None:
        folder = str(coverage.HEADERS)
        self.assertEqual(coverage.device_header(f"{folder}/sync/a.hpp"), "sync/a.hpp")
        for other in ("host/a.hpp", "simt/cuda/a.hpp"):
            self.assertIsNone(coverage.device_header(f"{folder}/{other}"))
        self.assertIsNone(coverage.device_header("/usr/include/c++/12/vector"))

    def test_a_line_ran_if_any_instantiation_ran_it(self) -> None:
        found: coverage.Counts = defaultdict(lambda: defaultdict(int))
        file = str(coverage.HEADERS / "core/a.hpp")
        lines = [{"line_number": n, "count": c} for n, c in ((3, 0), (3, 5), (4, 0))]
        coverage.add(found, {"files": [{"file": file, "lines": lines}]})
        self.assertEqual(found, {"core/a.hpp": {3: 5, 4: 0}})

    def test_ranges(self) -> None:
        self.assertEqual(list(coverage.ranges([9, 3, 5, 4])), ["3-5", "9"])
        self.assertEqual(list(coverage.ranges([7])), ["7"])
        self.assertEqual(list(coverage.ranges([])), [])

    def test_the_worst_header_is_first_and_the_sum_last(self) -> None:
        lines = list(coverage.table(counts(core__a={1: 1}, sync__b={1: 0, 2: 3, 3: 0})))
        self.assertEqual(lines[1].split(), ["1", "3", "33%", "sync/b.hpp:", "1,", "3"])
        self.assertEqual(lines[2].split(), ["1", "1", "100%", "core/a.hpp"])
        self.assertEqual(lines[3].split(), ["2", "4", "50.0%", "all"])


if __name__ == "__main__":
    unittest.main()
