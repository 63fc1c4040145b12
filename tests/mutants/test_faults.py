# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generator must see every place of its kinds, and make the mistake there alone."""

import sys
import unittest
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from faults import faults

LOST = "is not there"
UNGUARDED = "what it guards is not there"


BEGIN = "void f() {\n"


def body_of(statements: Iterable[str]) -> str:
    """Return a function of these statements, without its end."""
    return BEGIN + "".join(f"    {statement}\n" for statement in statements)


def made(*statements: str, kind: str) -> list[tuple[str, str]]:
    """Return the line and the mistake of each fault of a kind in these statements."""
    return [
        (found.line, found.about) for found in faults(body_of(statements)) if found.kind == kind
    ]


def changed(*statements: str, kind: str) -> list[str]:
    """Return what each fault of a kind makes of the statements."""
    body = body_of(statements)
    found = [one.apply(body) for one in faults(body) if one.kind == kind]
    return [text.removeprefix(BEGIN) for text in found]


class Statements(unittest.TestCase):
    def test_calls_and_changes_are_lost(self) -> None:
        for statement in ("team.sync();", "count += 2;", "++count;", "--at.left;", "*at = b;"):
            self.assertEqual(made(statement, kind="lost"), [(statement, LOST)])

    def test_a_remark_behind_a_statement_hides_nothing(self) -> None:
        one, two = "team.sync();  // why; as in f()", "simt::fence(order);  /* here */"
        self.assertEqual(made(one, two, kind="lost"), [(one, LOST), (two, LOST)])
        self.assertEqual(made(one, two, kind="swapped"), [(two, f"comes before: {one}")])
        self.assertEqual(changed(one, two, kind="swapped"), [f"    {two}\n    {one}\n"])

    def test_what_a_remark_says_does_not_matter(self) -> None:
        one = "team.sync();  // a note(x), a backoff"
        self.assertEqual(made(one, kind="lost"), [(one, LOST)])

    def test_only_neighbours_at_one_depth_are_swapped(self) -> None:
        self.assertEqual(made("a = 1;", "", "b = 2;", kind="swapped"), [])
        self.assertEqual(made("a = 1;", "  b = 2;", kind="swapped"), [])
        self.assertEqual(made("a = 1;", "const int c = 3;", "b = 2;", kind="swapped"), [])

    def test_declarations_jumps_and_reports_are_not_lost(self) -> None:
        for statement in (
            "const int a = 1;",
            "int a = 1;",
            "word left(a);",
            "return f();",
            "static_assert(a == 1);",
            "note(reason, 1);",
            "wait.backoff();",
            "// team.sync();",
        ):
            self.assertEqual(made(statement, kind="lost"), [], statement)

    def test_statements_of_several_lines_are_not_lost(self) -> None:
        self.assertEqual(made("team.call(a,", "          b);", kind="lost"), [])
        self.assertEqual(made("a =", "  b + f();", "c();", kind="swapped"), [])


class BehindAnIf(unittest.TestCase):
    def test_what_an_if_guards_in_its_line_is_lost_and_its_condition_stays(self) -> None:
        for guarded in ("give_back(a);", "got = {a, b};", "++count;  // why", "*at = f(a) + g(b);"):
            line = f"if (f(a, (b)) && take(c)) {guarded}"
            self.assertEqual(made(line, kind="lost"), [(line, UNGUARDED)])
            self.assertIn(
                "    a = 1;\n    if (f(a, (b)) && take(c)) {\n}\n    b();\n",
                changed("a = 1;", line, "b();", kind="lost"),
            )

    def test_jumps_and_reports_stay(self) -> None:
        for guarded in ("return;", "return f();", "break;", "continue;", "throw a;", "note(a);"):
            self.assertEqual(made(f"if (a) {guarded}", kind="lost"), [], guarded)

    def test_an_else_keeps_its_if(self) -> None:
        self.assertEqual(made("if (a) b = 1;", "else if (c) b = 2;", kind="lost"), [])

    def test_one_with_braces_or_of_several_lines_stays(self) -> None:
        self.assertEqual(made("if (a) {", kind="lost"), [])
        self.assertEqual(made("if (a &&", "    b) c();", kind="lost"), [])
        self.assertEqual(made("if constexpr (a) c();", kind="lost"), [])


class Orders(unittest.TestCase):
    def test_each_is_weakened_by_one_step(self) -> None:
        for order, weaker in (
            ("seq_cst", ["acq_rel"]),
            ("acq_rel", ["acquire", "release"]),
            ("acquire", ["relaxed"]),
            ("release", ["relaxed"]),
            ("relaxed", []),
        ):
            self.assertEqual(
                changed(f"return word.load(simt::order::{order});", kind="order"),
                [f"    return word.load(simt::order::{one});\n" for one in weaker],
            )

    def test_those_with_a_name_of_their_own_become_relaxed(self) -> None:
        for name in ("acquire_to_write", "release_by_fence"):
            line = f"word.store(1, simt::{name});"
            self.assertEqual(made(line, kind="order"), [(line, f"{name} becomes relaxed")])
            self.assertEqual(
                changed(line, kind="order"), ["    word.store(1, simt::order::relaxed);\n"]
            )


class Boundaries(unittest.TestCase):
    def test_each_moves_by_one(self) -> None:
        for old, new in (("a < b", "a <= b"), ("a >= b", "a > b"), ("a + 1", "a"), ("a - 1", "a")):
            self.assertEqual(changed(f"return {old};", kind="boundary"), [f"    return {new};\n"])

    def test_not_in_remarks_texts_and_templates(self) -> None:
        for line in ("f();  // a < b", 'f("a < b");', "    template <int A = 2 < 3>"):
            self.assertEqual(changed(line, kind="boundary"), [], line)
        self.assertEqual(list(faults("#if A < B\n")), [])


if __name__ == "__main__":
    unittest.main()
