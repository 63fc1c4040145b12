# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a manager costs is summed over its objects and tests alone, and held against the limits."""

import unittest
from pathlib import Path
from xml.etree import ElementTree

import cost

LOG = """# ninja log v5
0\t4000\t1\ttests/conformance/CMakeFiles/c.dir/c-1.cpp.o\tx
0\t9000\t1\ttests/verify/CMakeFiles/v.dir/mutants_of_rw.cpp.o\tx
0\t3000\t2\ttests/verify/CMakeFiles/v.dir/mutants_of_rw.cpp.o\ty
0\t2500\t1\tbench/CMakeFiles/b.dir/cpu_shard_0.cpp.o\tx
0\t7000\t1\ttests/host/CMakeFiles/h.dir/pools_test.cpp.o\tx
0\t7000\t1\tbench/CMakeFiles/b.dir/host/json.cpp.o\tx
"""
REPORT = """<testsuite>
<testcase name="conformance/rw.aligned" time="1.5"/><testcase name="explore" time="6"/>
<testcase name="fits.first" time="9"/><testcase name="explore.subjects" time="9"/>
<testcase name="lists.merge" time="2"/>
</testsuite>"""
LISTED = """{"tests": [
{"name": "lists.merge", "command": ["/build/tests/managers/kma-test", "--gtest_filter=x"]},
{"name": "fits.first", "command": ["/build/tests/host/host-test"]}, {"name": "not_built"}
]}"""


class CostTest(unittest.TestCase):
    def test_only_the_last_build_of_managers_objects_counts(self) -> None:
        self.assertEqual(cost.compile_seconds(LOG), 4.0 + 3.0 + 2.5)

    def test_only_tests_of_managers_count(self) -> None:
        units = cost.unit_tests(LISTED, Path("/build"))
        self.assertEqual(units, {"lists.merge"})
        self.assertEqual(cost.test_seconds(ElementTree.fromstring(REPORT), units), 9.5)

    def test_a_limit_that_is_passed_is_reported(self) -> None:
        self.assertEqual(len(cost.verdict(10, 10.0, 10.0)), 1)
        within, over = cost.verdict(10, 10 * cost.COMPILE_LIMIT_S + 10, 10.0)
        self.assertIn("10 managers", within)
        self.assertEqual(over, "OVER: compile takes 16.0 s per manager, the limit is 15 s")


if __name__ == "__main__":
    unittest.main()
