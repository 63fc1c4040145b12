# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An entry of equivalent.toml that says what nobody reads must be refused, by file and key."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from equivalents import read_equivalents
from mutate import TableError

ENTRY = """
[[equivalent]]
header = "one.hpp"
line = "x = 1;"
about = "is not there"
why = "for this test"
"""
PLACE = "one.hpp", "x = 1;", "is not there"


class TheFile(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "equivalent.toml"

    def refuse(self, text: str, *said: str) -> None:
        self.path.write_text(text)
        with self.assertRaisesRegex(TableError, ".*".join(map(re.escape, [str(self.path), *said]))):
            read_equivalents(self.path)

    def test_an_entry_changes_nothing_or_costs_time(self) -> None:
        self.path.write_text(ENTRY + ENTRY + 'which = 2\nkind = "time"\n')
        found = read_equivalents(self.path)
        self.assertEqual({place: one.costs_time for place, one in found.items()},
                         {(*PLACE, 0): False, (*PLACE, 2): True})  # fmt: skip
        self.assertEqual({one.why for one in found.values()}, {"for this test"})

    def test_an_unknown_kind_is_refused(self) -> None:
        for kind in ("space", "", "Time"):
            self.refuse(ENTRY + f'kind = "{kind}"\n', "entry 1 (one.hpp)", f"has the kind '{kind}'")

    def test_unknown_keys_are_refused(self) -> None:
        self.refuse(ENTRY + 'sort = "time"\n', "entry 1 (one.hpp)", "unknown key 'sort'")
        self.refuse(ENTRY + "sources = 2\n", "unknown key 'sources'")
        self.refuse(ENTRY.replace("equivalent", "equal"), "unknown key 'equal'")

    def test_a_key_that_is_missing_or_no_text_is_refused(self) -> None:
        for line in ENTRY.splitlines()[2:]:
            key = line.split()[0]
            self.refuse(ENTRY + ENTRY.replace(line, ""), "entry 2", f"lacks '{key}'")
            self.refuse(ENTRY.replace(line, f"{key} = 1"), f"has a '{key}' that is not a str")
        self.refuse(ENTRY + 'which = "2"\n', "has a 'which' that is not a int")

    def test_a_second_entry_of_a_mutant_is_refused(self) -> None:
        self.refuse(ENTRY + ENTRY, "entry 2 (one.hpp)", "has an entry already")

    def test_the_one_that_is_there_has_both_kinds(self) -> None:
        kinds = [one.costs_time for one in read_equivalents().values()]
        self.assertTrue(0 < kinds.count(True) < kinds.count(False))


if __name__ == "__main__":
    unittest.main()
