# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A mutant must meet all tests that have its header's code, in a sensible order."""

import sys
import tempfile
import unittest
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import generated
import mutate
import records
from example_mutant import mutant
from includes import ROOT, Includes
from suites import Suites
from switchboard import Switchboard
from workshop import PLAIN, Flavour, Workshop


class InAFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class IncludesAll(Includes):
    def __init__(self, header: str) -> None:
        super().__init__()
        self._header = header

    def of(self, source: Path) -> dict[str, int]:
        return {self._header: 1}


class Sources(InAFolder):
    def suites(self, header: str) -> Suites:
        """Judge by tests of which each includes this header."""
        controls = records.Controls(records.Records(None), {})
        workshop = Workshop(self.folder)
        switchboard = Switchboard([], workshop, self.folder)
        return Suites(workshop, self.folder, 1, controls, switchboard, IncludesAll(header))

    def test_tests_are_those_of_the_nearest_folder(self) -> None:
        for header, folder in (
            ("managers/halloc/heads.hpp", "managers/halloc"),
            ("workloads/join/kernels.hpp", "workloads/join"),
            ("sync/index_queue/static_queue.hpp", "sync"),
            ("sync/bitmap_tree.hpp", "sync"),
            ("heap/layers/checked/records.hpp", "heap"),
            ("host/stores/bit_array.hpp", "host"),
        ):
            found = self.suites(header).sources(header)
            self.assertEqual({source.parent for source in found}, {ROOT / "tests" / folder})

    def test_that_which_killed_a_mutant_before_is_the_first(self) -> None:
        one = mutant(header="sync/bitmap_tree.hpp")
        suites = self.suites(one.header)
        usual = suites.first_to_last(one)
        one.killed_before = "tests", f"tests: sync/{usual[-1].name}: one.test"
        self.assertEqual(suites.first_to_last(one), [usual[-1], *usual[:-1]])

    def test_a_header_that_another_one_includes_counts(self) -> None:
        source = self.folder / "a_test.cpp"
        source.write_text('#include "warpheap/sync/bulk_semaphore.hpp"\n#include <vector>\n')
        found = Includes().of(source)
        self.assertEqual(found["sync/bulk_semaphore.hpp"], 1)
        self.assertGreater(found["core/align.hpp"], 1)
        self.assertNotIn("sync/bitmap_tree.hpp", found)

    def test_a_test_is_linked_with_what_it_calls_and_what_that_calls(self) -> None:
        source = self.folder / "a_test.cpp"
        source.write_text('#include "warpheap/host/c/replay.h"\n')
        parts = {str(part.relative_to(ROOT / "src/host")) for part in Includes().parts(source)}
        self.assertLess({"c/replay.cpp", "c/status.cpp", "make_named.cpp", "make_pool.cpp"}, parts)
        self.assertNotIn("c/range.cpp", parts)
        source.write_text('#include "warpheap/host/policies/tlsf.hpp"\n')
        self.assertEqual(Includes().parts(source), [])

    def test_one_that_needs_a_driver_is_left_out(self) -> None:
        workshop = Workshop(self.folder)
        controls = records.Controls(records.Records(None), {})
        suites = Suites(workshop, self.folder, 1, controls, Switchboard([], workshop, self.folder))
        left_out = ROOT / "tests/host/driver_errors_test.cpp"
        for header in ("host/pools/stream_pool.hpp", "host/policies/tlsf.hpp"):
            self.assertIn(header, Includes().reached(left_out))
            self.assertNotIn(left_out, suites.sources(header))

    def test_the_nearest_is_the_first(self) -> None:
        workshop = Workshop(self.folder)
        controls = records.Controls(records.Records(None), {})
        suites = Suites(workshop, self.folder, 1, controls, Switchboard([], workshop, self.folder))
        self.assertEqual(suites.sources("host/stores/bit_array.hpp")[0].name, "stores_test.cpp")
        # What no test includes, but a part of one.
        found = [source.name for source in suites.sources("host/replay/replay.hpp")]
        self.assertIn("pool_c_api_test.cpp", found)
        self.assertNotIn("stores_test.cpp", found)


class CompilesNothing(Workshop):
    def test_program(
        self,
        name: str,
        source: Path,
        headers: Path,
        complain: Callable[[str], None] | None = None,
        flavour: Flavour = PLAIN,
        parts: Iterable[Path] = (),
    ) -> None:
        return None


class WhatDoesNotCompile(InAFolder):
    def test_is_rejected_by_a_test_only_if_the_explorer_has_it(self) -> None:
        workshop = CompilesNothing(self.folder)
        one = mutant(header="host/stores/bit_array.hpp")
        includes = IncludesAll(one.header)
        tests = (ROOT / "tests/host").glob("*_test.cpp")
        passing = {f"tests:host/{source.name}": True for source in tests}
        controls = records.Controls(records.Records(None), passing)
        switchboard = Switchboard([], workshop, self.folder)
        suites = Suites(workshop, self.folder, 1, controls, switchboard, includes)
        self.assertEqual(suites.judge(one, PLAIN).status, "killed")
        one.profiles = []
        self.assertEqual(suites.judge(one, PLAIN).status, "stillborn")
        self.assertEqual(list(self.folder.iterdir()), [])


class HeadersOfTests(unittest.TestCase):
    def test_have_mutants_without_a_profile(self) -> None:
        made = generated.all_mutants(mutate.read_table(*mutate.table_files()))
        host = [one for one in made if one.header.startswith("host/")]
        headers = {one.header for one in host}
        self.assertLess({"host/stores/bit_array.hpp", "host/replay/replay.hpp"}, headers)
        self.assertFalse(any("/cuda/" in header for header in headers), "no test has these")
        self.assertFalse(any(one.profiles for one in host))
        text, body = host[0].changed_body()
        self.assertNotEqual(text, (generated.INCLUDE / host[0].header).read_text())
        self.assertIn(body, text)


if __name__ == "__main__":
    unittest.main()
