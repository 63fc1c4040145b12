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
0\t7000\t1\ttests/host/CMakeFiles/h.dir/pool_interface_test.cpp.o\tx
0\t7000\t1\tbench/CMakeFiles/b.dir/host/json.cpp.o\tx
"""
REPORT = """<testsuite>
<testcase name="conformance/rw.aligned" time="1.5"/><testcase name="explore" time="6"/>
<testcase name="conformance.fills&lt;conformance/rw_bm_64.  # TypeParam = x&gt;" time="4"/>
<testcase name="conformance/page_slots.aligned" time="0.5"/>
<testcase name="fits.first" time="9"/><testcase name="explore.subjects" time="9"/>
<testcase name="lists.merge" time="2"/>
</testsuite>"""
LISTED = """{"tests": [
{"name": "lists.merge", "command": ["/build/tests/managers/kma-test", "--gtest_filter=x"]},
{"name": "conformance/rw.aligned", "command": ["/build/tests/conformance/c"]},
{"name": "conformance.fills<conformance/rw_bm_64.  # TypeParam = x>",
 "command": ["/build/tests/conformance/c"]},
{"name": "conformance/page_slots.aligned", "command": ["/build/tests/conformance/c"]},
{"name": "fits.first", "command": ["/build/tests/host/host-test"]}, {"name": "not_built"}
]}"""
FOLDERS = {"kma": "kma", "rw": "random_walk", "rw_bm": "random_walk", "r": "r"}


class CostTest(unittest.TestCase):
    def test_only_the_last_build_of_managers_objects_counts(self) -> None:
        self.assertEqual(cost.compile_seconds(LOG), 4.0 + 3.0 + 2.5)

    def test_only_tests_of_managers_count_each_for_its_folder(self) -> None:
        programs = cost.programs(LISTED, Path("/build"))
        self.assertEqual(programs["lists.merge"], "kma-test")
        self.assertNotIn("fits.first", programs)
        found = cost.test_seconds(ElementTree.fromstring(REPORT), programs, FOLDERS)
        self.assertEqual(found.folders, {"kma": 2.0, "random_walk": 5.5})
        self.assertEqual(found.shared, 6.5)
        self.assertEqual(found.total(), 14.0)

    def test_a_configuration_belongs_to_the_manager_with_whose_name_it_begins(self) -> None:
        for name, folder in (("rw_bm", "random_walk"), ("rwx", None), ("r_64", "r"), ("s", None)):
            test = f"conformance/{name}.aligned"
            self.assertEqual(cost.folder_of(test, "warpheap-conformance", FOLDERS), folder, name)
        self.assertEqual(cost.folder_of("any.name", "kma-test", FOLDERS), "kma")

    def test_a_limit_that_is_passed_on_average_is_reported(self) -> None:
        managers = {f"m{i}": "m" for i in range(10)}
        self.assertEqual(len(cost.verdict(managers, 10.0, cost.TestSeconds(shared=10.0))), 1)
        compiled = 10 * cost.COMPILE_LIMIT_S + 10
        within, over = cost.verdict(managers, compiled, cost.TestSeconds(shared=10.0))
        self.assertIn("10 managers", within)
        self.assertEqual(over, "OVER: compile takes 16.0 s per manager, the limit is 15 s")

    def test_each_folder_above_the_limit_is_named(self) -> None:
        tested = cost.TestSeconds(shared=4.0)
        tested.folders.update({"kma": 14.5, "random_walk": 27.9})
        _, only = cost.verdict(FOLDERS, 0.0, tested)
        self.assertEqual(
            only,
            "OVER: the tests of kma take 15.5 s per manager (14.5 s in all for what is "
            "theirs alone), the limit is 15 s",
        )
        tested.folders["random_walk"] = 28.2
        lines = cost.verdict(FOLDERS, 0.0, tested)
        self.assertIn("the 2 managers in random_walk take 15.1 s", lines[-1])


if __name__ == "__main__":
    unittest.main()
