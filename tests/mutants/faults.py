# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Find the places of a text of C++ where one mistake can be made, and make it.

Four kinds: a memory order is weakened by one step, a boundary is moved by one, a statement is lost
(a rollback, a release, a count), and two neighbouring statements are swapped.
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
_OPERATORS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " + 1": "", " - 1": ""}
_ORDER = re.compile(r"(?<=simt::order::)(seq_cst|acq_rel|acquire|release)\b")
_BOUNDARY = re.compile(r" <= | < | >= | > | [+-] 1\b(?!u?ll|\.)")
# One line, in a function: a call or a change whose value nobody uses.
_STATEMENT = re.compile(
    r"^ {4,}(?!return|const|auto|using|throw|else|if|for|while|do|case|static)"
    r"[\w:>.*+-][^\n{}]*(?:\)|[-+]{2}\w+|[|&+-]?= [^\n;=]+);\n",
    re.MULTILINE,
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
        if _IGNORED.search(line) or _DECLARATION.match(line):
            before = None
            continue
        yield Fault("lost", found.start(), found.end(), "", line, "is not there")
        if before and before.end() == found.start() and _indent(before[0]) == _indent(found[0]):
            first, second = text[before.start() : before.end()], text[found.start() : found.end()]
            about = f"comes before: {first.strip()}"
            yield Fault("swapped", before.start(), found.end(), second + first, line, about)
        before = found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
