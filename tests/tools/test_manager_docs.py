# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the program that writes what the docs say about the managers."""

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import header_comments
import manager_docs

HEADER = """#pragma once

/// \\file
/// What it is. The layout matters.
///
/// Memory layout (defaults):
///
///     [ words ]
///
///       [ block ]
///
/// Invariants: none.
///
/// Null: no page was free, or
/// others took it.
///
/// Steady load: lanes wait for
/// each other.
///
/// Others: none.

inline int layout() { return 1; }
"""


def manager(name: str, **fields: Any) -> dict[str, Any]:
    """Return a manager as the program lists it."""
    return {
        "name": name,
        "description": f"what {name} is",
        "folder": "pages",
        "title": "On Pages",
        "authors": "A. One, B. Two",
        "venue": "CONF",
        "year": 2024,
        "doi": "10.1/2",
        "deviations": [],
        "available": True,
        "capabilities": {
            "largest_block": 8192,
            "frees": True,
            "reuse": "all",
            "scope": "thread",
        },
    } | fields


class Texts(unittest.TestCase):
    def test_a_publication_in_a_few_words(self) -> None:
        self.assertEqual(manager_docs.short_source(manager("a")), "One, Two, 2024")
        three = manager("a", authors="A. One, B. Two, C. Three")
        self.assertEqual(manager_docs.short_source(three), "One et al., 2024")
        self.assertEqual(manager_docs.short_source(manager("a", year=None)), "")

    def test_a_row_of_the_table(self) -> None:
        table = manager_docs.readme_table([manager("a", available=False)])
        row = "| [`a`](docs/managers/pages.md) | what a is | One, Two, 2024 | CUDA |\n"
        self.assertEqual(table.splitlines(keepends=True)[2], row)

    def test_deviations_say_whose_they_are_if_not_everybodys(self) -> None:
        both = [manager("a", deviations=["X.", "Y."]), manager("b", deviations=["X."])]
        text = manager_docs.deviations(both)
        self.assertIn("- X.\n", text)
        self.assertIn("- Y (`a`).\n", text)
        self.assertEqual(manager_docs.deviations([manager("a")]), "")


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        patch = mock.patch.object(manager_docs, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)
        self.headers = self.root / "include/warpheap/managers/pages"
        self.headers.mkdir(parents=True)
        (self.headers / "pages.hpp").write_text(HEADER)
        readme = f"before\n{manager_docs.BEGIN}{manager_docs.END}after\n"
        (self.root / "README.md").write_text(readme)
        self.null_page = self.root / "docs/null.md"
        self.null_page.parent.mkdir()
        self.null_page.write_text(readme)

    def test_the_drawing_is_the_headers(self) -> None:
        drawn = list(header_comments.layouts(self.headers / "pages.hpp"))
        self.assertEqual(drawn, [("Memory layout (defaults)", "[ words ]\n\n  [ block ]")])

    def test_the_page_says_what_each_part_has(self) -> None:
        self.assertNotIn("## Parts", manager_docs.page("pages", [manager("a")]))
        (self.headers / "inspection.hpp").write_text("/// \\file\n/// Not a part.\n\n")
        (self.headers / "says_nothing.hpp").write_text("#pragma once\n")
        (self.headers / "heads.hpp").write_text(
            "/// \\file\n/// The head (see halloc.hpp) of\n/// each size. More of it.\n\nint x;\n"
        )
        (self.headers / "word.hpp").write_text(
            "/// No number.\nint none;\n\n/// All in one word:\n///\n///     [ a ]\nstruct word {\n"
        )
        rows = "| `heads.hpp` | The head (see halloc.hpp) of each size. |\n"
        rows += "| `word.hpp` | All in one word. |\n\n## Memory\n"
        text = manager_docs.page("pages", [manager("a")])
        self.assertTrue("\n## Parts\n| header | what it has |\n|---|---|\n" + rows in text, text)

    def test_the_page_says_how_long_launches_take_and_why(self) -> None:
        checks = self.root / manager_docs.STEADY
        checks.parent.mkdir(parents=True)
        both = [manager("a"), manager("b")]
        reason = "## Under steady load\nLanes wait for each other.\n"
        unmeasured = manager_docs.page("pages", both)
        self.assertIn(reason, unmeasured)
        self.assertNotIn("The longest launch", unmeasured)
        checks.write_text(
            "a  3 launches, longest  9.000 ms,  1 served,  1 null, 0 wrong, 0 lost: ok\n"
            "b  3 launches, longest  9.000 ms,  1 served,  1 null, 1 wrong, 0 lost: contents\n"
            "a  6 launches, longest  1234.567 ms,  1 served,  1 null, 0 wrong, 0 lost: slow;\n"
        )
        text = manager_docs.page("pages", both)
        self.assertIn(reason + "\nThe longest launch", text)
        self.assertTrue("\n| `a` |\n|---|\n| 1,235 |\n" in text, text)
        rows = self.root / manager_docs.STEADY_ROWS
        rows.mkdir(parents=True)
        row: dict[str, Any] = {"manager": "b", "status": "ok", "longest_ms": 1440.6}
        row |= {"size_min": 64, "size_max": 64, "distribution": "uniform"}
        other = row | {"size_min": 16, "size_max": 4096, "longest_ms": 99.4}
        skipped = row | {"status": "skipped", "longest_ms": None}
        (rows / "b.jsonl").write_text("".join(json.dumps(r) + "\n" for r in (row, other, skipped)))
        text = manager_docs.page("pages", both)
        table = "| `b` | 64 B | 1.44 s |\n| `b` | any size, 16 to 4,096 B | 99 ms |\n"
        self.assertTrue(f"|---|---|---|\n{table}" in text, text)
        (rows / "b.jsonl").unlink()
        (self.headers / "pages.hpp").write_text("")
        checks.write_text("")
        self.assertNotIn("Under steady load", manager_docs.page("pages", both))

    def test_the_page_says_why_rows_were_not_finished(self) -> None:
        title = "## Rows that were not finished\n"
        self.assertNotIn(title, manager_docs.page("pages", [manager("a")]))
        header = self.headers / "pages.hpp"
        header.write_text(HEADER + "///\n/// Not finished (`churn`): lanes\n/// wait.\n")
        self.assertIn(
            f"\n{title}`churn`: lanes wait.\n", manager_docs.page("pages", [manager("a")])
        )

    def test_what_was_written_does_not_differ(self) -> None:
        wanted = manager_docs.documents([manager("a")])
        changed = ["docs/managers/pages.md", "README.md", "docs/null.md"]
        self.assertEqual(manager_docs.update(wanted, check=True), changed)
        self.assertEqual(manager_docs.update(wanted, check=False), changed)
        again = manager_docs.documents([manager("a")])
        self.assertEqual(manager_docs.update(again, check=True), [])
        self.assertTrue((self.root / "README.md").read_text().endswith("after\n"))

    def test_a_page_that_nobody_has_any_more_differs(self) -> None:
        manager_docs.update(manager_docs.documents([manager("a")]), check=False)
        stale = self.root / "docs/managers/old.md"
        stale.write_text("old")
        wanted = manager_docs.documents([manager("a")])
        self.assertEqual(manager_docs.update(wanted, check=True), ["docs/managers/old.md"])
        manager_docs.update(wanted, check=False)
        self.assertFalse(stale.exists())

    def test_a_folder_that_is_not_there_is_refused(self) -> None:
        with self.assertRaisesRegex(manager_docs.DocsError, "'a' names the folder 'elsewhere'"):
            manager_docs.documents([manager("a", folder="elsewhere")])

    def test_a_readme_without_marks_is_refused(self) -> None:
        (self.root / "README.md").write_text("before\nafter\n")
        with self.assertRaisesRegex(manager_docs.DocsError, "README.md lacks the marks"):
            manager_docs.documents([manager("a")])

    def test_what_null_means_is_the_paragraph_of_the_folders_header(self) -> None:
        both = [manager("a"), manager("b")]
        (self.headers / "blocks.hpp").write_text("/// Blocks.\n///\n/// Null: a part.\n")
        manager_docs.update(manager_docs.documents(both), check=False)
        item = "- [`a`, `b`](managers/pages.md): no page was free, or others took it.\n"
        made = manager_docs.BEGIN + item + manager_docs.END
        self.assertEqual(self.null_page.read_text(), f"before\n{made}after\n")

    def test_a_header_that_does_not_say_what_null_means_is_refused(self) -> None:
        (self.headers / "pages.hpp").write_text(HEADER.replace("Null:", "None:"))
        with self.assertRaisesRegex(manager_docs.DocsError, "no paragraph '/// Null: ...' in"):
            manager_docs.documents([manager("a")])


if __name__ == "__main__":
    unittest.main()
