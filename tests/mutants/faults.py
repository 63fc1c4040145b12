# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Find the places of a text of C++ where one mistake can be made, and make it.

Four kinds: a memory order is weakened by one step, a boundary is moved by one, a statement is lost
(a rollback, a release, a count), be it alone in its line or behind the `if` of its line, and two
neighbouring statements are swapped. A statement or a condition of several lines stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WEAKER = {
    "seq_cst": ("acq_rel",),
    "acq_rel": ("acquire", "release"),
    "acquire": ("relaxed",),
    "release": ("relaxed",),
}
# Orders with a name of their own, which differ from a relaxed one in the CPU model alone.
_NAMED_ORDER = re.compile(r"(?<=simt::)(?:acquire_to_write|release_by_fence)\b")
_OPERATORS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " + 1": "", " - 1": ""}
_ORDER = re.compile(r"(?<=simt::order::)(seq_cst|acq_rel|acquire|release)\b")
_BOUNDARY = re.compile(r" <= | < | >= | > | [+-] 1\b(?!u?ll|\.)")
# A call or a change whose value nobody uses, to the end of its line.
_CHANGE = r"(?:[-+]{2}[\w.>\[\]-]+|[\w:>.*+-][^\n{}]*(?:\)|[-+]{2}\w+|[|&+-]?= [^\n;=]+)); *\n"
# One line, in a function.
_STATEMENT = re.compile(
    rf"^ {{4,}}(?!return|const|auto|using|throw|else|if|for|while|do|case|static){_CHANGE}",
    re.MULTILINE,
)
# What is before a statement; anything else is before the last line of one.
_ENDS = (";", "{", "}", ":", ")", " else", " do")
_IF = re.compile(r"^ {4,}if \(", re.MULTILINE)
# Not a jump, without which what follows would run as well; and not before an `else`.
_GUARDED = re.compile(
    rf" (?!return|const|auto|throw|if|for|while|do|break|continue){_CHANGE}(?! *else\b)"
)
_DECLARATION = re.compile(r"(?:[\w:]+(?:<[^;=]*>)?[*&]? )+[*&]?\w+(?: =|\(|;|\{)")
# Backoff only gives others a turn, and static assertions never run.
_IGNORED = re.compile(r"backoff|static_assert|note\(|refuse\(|limit\(")


@dataclass(frozen=True)
class Fault:
    """One change of a text: what stood from `start` to `end` becomes `replacement`."""

    kind: str
    start: int
    end: int
    replacement: str
    line: str
    about: str

    def apply(self, text: str) -> str:
        """Return the text with the fault."""
        return text[: self.start] + self.replacement + text[self.end :]


def faults(text: str) -> Iterator[Fault]:
    """Find all faults of a text, in the order of their places for each kind."""
    code = without_comments(text)
    yield from _weaker_orders(code, text)
    yield from _moved_boundaries(code, text)
    yield from _lost_and_swapped(code, text)
    yield from _lost_behind_if(code, text)


def without_comments(text: str) -> str:
    """Blank comments and literals out, so that every place stays where it is."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^#[^\n]*|template <[^\n]*'
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])  # noqa: E731
    return re.sub(pattern, blank, text, flags=re.DOTALL | re.MULTILINE)


def _line_at(text: str, place: int) -> str:
    start = text.rfind("\n", 0, place) + 1
    return text[start : text.find("\n", place)].strip()


def _weaker_orders(code: str, text: str) -> Iterator[Fault]:
    for found in _ORDER.finditer(code):
        for weaker in _WEAKER[found[0]]:
            about = f"{found[0]} becomes {weaker}"
            line = _line_at(text, found.start())
            yield Fault("order", found.start(), found.end(), weaker, line, about)
    for found in _NAMED_ORDER.finditer(code):
        line, about = _line_at(text, found.start()), f"{found[0]} becomes relaxed"
        yield Fault("order", found.start(), found.end(), "order::relaxed", line, about)


def _moved_boundaries(code: str, text: str) -> Iterator[Fault]:
    for found in _BOUNDARY.finditer(code):
        line = _line_at(text, found.start())
        if _IGNORED.search(line) or found[0] not in _OPERATORS:
            continue
        other = _OPERATORS[found[0]]
        about = f"'{found[0].strip()}' becomes '{other.strip()}'"
        yield Fault("boundary", found.start(), found.end(), other, line, about)


def _lost_and_swapped(code: str, text: str) -> Iterator[Fault]:
    before: re.Match[str] | None = None
    for found in _STATEMENT.finditer(code):
        line = text[found.start() : found.end()].strip()
        statement = found[0].strip()
        goes_on = not code[: found.start()].rstrip().endswith(_ENDS)
        if goes_on or _IGNORED.search(statement) or _DECLARATION.match(statement):
            before = None
            continue
        yield Fault("lost", found.start(), found.end(), "", line, "is not there")
        if before and before.end() == found.start() and _indent(before[0]) == _indent(found[0]):
            first, second = text[before.start() : before.end()], text[found.start() : found.end()]
            about = f"comes before: {first.strip()}"
            yield Fault("swapped", before.start(), found.end(), second + first, line, about)
        before = found


def _lost_behind_if(code: str, text: str) -> Iterator[Fault]:
    for found in _IF.finditer(code):
        end = _end_of_condition(code, found.end())
        guarded = _GUARDED.match(code, end)
        if guarded is None or _IGNORED.search(guarded[0]):
            continue
        line = text[found.start() : guarded.end()].strip()
        # What the condition does, it does still.
        empty = f"{text[found.start() : end]} {{\n}}\n"
        about = "what it guards is not there"
        yield Fault("lost", found.start(), guarded.end(), empty, line, about)


def _end_of_condition(code: str, start: int) -> int:
    """Return the place behind the parenthesis that closes what was open; the line's end if none."""
    depth = 1
    end = code.find("\n", start)
    for i in range(start, end):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i + 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
