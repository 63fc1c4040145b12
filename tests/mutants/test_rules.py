# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A rule may call equivalent only what is."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from faults import faults
from generated import INCLUDE
from mutate import read_table, table_files
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

    def test_a_hint_for_the_compiler_is_not_there(self) -> None:
        body = "void f() {\n    if (a == 0) __builtin_unreachable();\n    if (a == 0) stop();\n}\n"
        found = [bool(why_equivalent(body, fault)) for fault in faults(body)]
        self.assertEqual(found, [True, False])

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
            ("++count", "sum += bytes"),
            ("last = key", "--x.calls"),
        ):
            self.assertTrue(both(first, second), first)
        first, second = "table()[at].free = false", "table()[at].vacant = true"
        self.assertFalse(both(first, second, unseen=False), "another lane may look between")
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
            ("++count", "a[count] = 1"),
            ("log()", "b = c"),
        ):
            self.assertFalse(both(first, second), first)


def swapped(*statements: str, before: str = "void f() {") -> list[bool]:
    """Tell for each swap of neighbouring statements whether a rule lets it go."""
    lines = "".join(f"    {statement}\n" for statement in statements)
    body = f"{before}\n{lines}}}\n"
    found = [fault for fault in faults(body) if fault.kind == "swapped"]
    return [bool(why_equivalent(body, fault)) for fault in found]


class Independent(unittest.TestCase):
    def test_assignments_that_have_nothing_to_do_with_each_other(self) -> None:
        for statements in (
            ("token_ = 0;", "longest_ = ~0u;"),
            ("own->fresh = in_use;", "own->hint = 0;"),
            ("lines_[i].requests = first;", "lines_[i].head = slabs::none;"),
            ('inner.name = "a(b)";', "inner.frees = false;"),
            ("first += here;", "left -= here;"),
            ("pages = static_cast<int>(n) * (m - 1);", "room = n < m ? n : m;"),
        ):
            self.assertEqual(swapped(*statements), [True], statements)
        self.assertEqual(
            swapped("list.head = 1;", "list.lock = 0;", before="g& list = h; {"), [True]
        )

    def test_one_that_reads_or_writes_what_the_other_writes(self) -> None:
        for statements in (
            ("index = base * 64;", "base = 1;"),
            ("base = 1;", "index = base * 64;"),
            ("end = 1;", "end = 2;"),
            ("at->next = 0;", "at = 0;"),
            ("lines[i].head = 0;", "i = 1;"),
            ("one.next = 0;", "other.next = 1;"),
            ("one.next = 0;", "other.prev = 1;"),
            ("one.state.kind = 0;", "one.state = idle;"),
            ("nexts[i] = 0;", "previous[i] = 0;"),
            ("*at = 0;", "count = 1;"),
            ("count = *at;", "left = 1;"),
            ("count = at->next;", "left = 1;"),
            ("count = at[0];", "left = 1;"),
            ("count = n = 1;", "left = 1;"),
            ("count = n++;", "left = 1;"),
        ):
            self.assertEqual(swapped(*statements), [False], statements)

    def test_a_reference_may_name_anything(self) -> None:
        for declared in ("int& end", "auto&& end", "auto& [begin, end]"):
            before = f"void f() {{ {declared} = other;"
            self.assertEqual(swapped("end = 1;", "other = 2;", before=before), [False], declared)
            self.assertEqual(swapped("a = end;", "other = 2;", before=before), [False], declared)

    def test_calls_and_atomics_keep_their_places(self) -> None:
        for statements in (
            ("x = f();", "y = 1;"),
            ("x = 1;", "y = g<int>(2);"),
            ("x = tree{at};", "y = 1;"),
            ("simt::atomic_ref(x).store(1, simt::order::relaxed);", "y = 1;"),
            ("at(i).next = 0;", "at(i).prev = 1;"),
            ("lock();", "x = 1;"),
        ):
            self.assertEqual(swapped(*statements), [False], statements)

    def test_the_first_is_a_statement_of_its_own(self) -> None:
        self.assertEqual(swapped("x = 1;", "y = 2;", before="void f() {\n  if (a)"), [False])
        # Nothing is made of the end of a statement.
        self.assertEqual(swapped("x = 1;", "y = 2;", before="void f() {\n  z ="), [])

    def test_no_header_assigns_with_a_side_effect(self) -> None:
        headers = {
            h for how in read_table(*table_files())["profile"].values() for h in how["headers"]
        }
        for header in headers:
            text = (INCLUDE / header).read_text()
            unsafe = (
                r"std::atomic<|std::atomic_ref|\bvolatile (?!std::byte\*)|\bunion\b|operator=\("
            )
            self.assertNotRegex(text.replace("operator=(const", ""), unsafe, header)


if __name__ == "__main__":
    unittest.main()
