# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A rule may call equivalent only what is."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from faults import faults
from rules import why_equivalent


def moved(statement: str) -> list[bool]:
    """Tell for each comparison of a statement whether a rule lets it go."""
    body = f"void f() {{\n  {statement}\n}}\n"
    return [
        bool(why_equivalent(body, fault))
        for fault in faults(body)
        if fault.kind == "boundary" and fault.replacement
    ]


class Equal(unittest.TestCase):
    def test_a_choice_between_what_is_equal_at_the_boundary(self) -> None:
        for statement in (
            "const int few = left < most ? left : most;",
            "const int few = most < 1 ? 1u : static_cast<int>(most);",
            "return low_bits<std::uint64_t>(left < 64 ? static_cast<int>(left) : 64);",
            "return count < std::int64_t{units} ? static_cast<unsigned>(count) : units;",
            "longest = here > longest ? here : longest;",
            "const int room = before < most ? most - before : 0;",
            "call(a, end - first < room ? end - first : room, b);",
            "return a == b || pages() < x.most() ? pages() : x.most();",
        ):
            self.assertEqual(moved(statement), [True], statement)

    def test_any_other_choice_is_a_mutant(self) -> None:
        for statement in (
            "const int next = at < last ? at + 2 : 0;",
            "return word < words() ? leaf(word) : 0;",
            "const int few = left < most ? left : room;",
            "return rows - begin < slice ? rows : begin + slice;",
            "return a.size() < most ? size() : most;",
            "if (left < most) few = left;",
        ):
            self.assertEqual(moved(statement), [False], statement)
        self.assertEqual(moved("return room < 1 ? 2 : room < most ? room : most;"), [False, True])

    def test_a_precondition_is_not_there(self) -> None:
        body = "void f() {\n    WARPHEAP_ASSERT(a != 0);\n    reset(a);\n}\n"
        found = [bool(why_equivalent(body, fault)) for fault in faults(body)]
        self.assertEqual(found, [True, False, False])

    def test_two_statements_of_which_neither_sets_what_the_other_uses(self) -> None:
        def both(first: str, second: str, unseen: bool = True) -> bool:
            body = f"void f() {{\n    {first};\n    {second};\n}}\n"
            found = [fault for fault in faults(body) if fault.kind == "swapped"]
            self.assertEqual(len(found), 1)
            return bool(why_equivalent(body, found[0], unseen))

        for first, second in (
            ("a = 1", "b += 2"),
            ("x.left = none", "x.right = y.right"),
            ("count += 1", "a[counts].b = std::max(a[0].b, static_cast<int>(c))"),
            ("table()[at].free = false", "table()[at].vacant = true"),
        ):
            self.assertTrue(both(first, second), first)
            self.assertFalse(both(first, second, unseen=False), first)
        for first, second in (
            ("a = 1", "b = a"),
            ("b = a", "a = 1"),
            ("a = 1", "a = 2"),
            ("x.left = 1", "y.left = 2"),
            ("at = 1", "list[at] = 2"),
            ("count += 1", "a[count] = 1"),
            ("a = next()", "b = 1"),
            ("a = take(1)", "b = 1"),
            ("a = b", "c = ++b"),
            ("*link = a", "b = c"),
            ("log()", "b = c"),
        ):
            self.assertFalse(both(first, second), first)


if __name__ == "__main__":
    unittest.main()
