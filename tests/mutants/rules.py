# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of mutants that are equivalent wherever they are made, each with the argument."""

from __future__ import annotations

import re

from faults import Fault, without_comments

_OPEN, _CLOSE = "([{", ")]}"
_BEFORE = re.compile(r"(?:\breturn|&&|\|\||[=?:,;]|(?<![<>=!])=)\s*$")
# An assignment to a member or variable; in its value, nothing calls or reads through anything.
_ASSIGNMENT = re.compile(
    r"\s*(?P<base>(?:\w+(?:\[\w+\])*(?:\.|->))*)(?P<name>[a-zA-Z_]\w*)"
    r" [-+|&]?= (?P<value>[^;]+);\s*"
)
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')
_NO_VALUE = re.compile(r"[\w)\]>]\s*\(|[{\[.&]|->|\+\+|--|(?<![\w)] )\*|(?<![<>=!])=(?!=)")
# As clang-format writes them; those of structured bindings, too.
_REFERENCE = r"(?<=[\w>])&&?\s*(?:\[[^\]]*)?\b"
_CAST = re.compile(r"static_cast<[\w:]+(?:<[\w:]+>)?>|std::\w+(?=\{)|\bint(?=\()|\bword(?=\{)")
# What only names or computes a value, of calls that have their own parentheses.
_PURE = re.compile(r"(?:static_cast|reinterpret_cast)<[\w:* ]+>|std::(?:min|max)|(?<=\btable)\(\)")
_STEP = re.compile(r"^(?:\+\+|--)(.+)")
_SETS = re.compile(r"([^=]+?) (?:[|&^*+-]|<<|>>)?= (.+)")
# What does more than that: a call, a second change, a change of what a pointer has.
_MORE = re.compile(r"[\w>\]]\(|\+\+|--| = |^\*")


def why_equivalent(body: str, fault: Fault, unseen: bool = False) -> str:
    """Return why no caller can tell a mutant from the text; empty if no rule says so.

    `unseen` says that no other thread can see what is between two statements.
    """
    if fault.kind == "lost" and fault.line.startswith("WARPHEAP_ASSERT("):
        return (
            "It states a precondition, which every caller keeps. In release builds it evaluates "
            "nothing."
        )
    if fault.kind == "lost" and fault.line.endswith("__builtin_unreachable();"):
        return "It tells the compiler what never happens. Without it, the code is only slower."
    if fault.kind == "boundary" and fault.replacement and _same_if_equal(body, fault):
        return "If both operands are equal, so are both branches."
    if fault.kind == "swapped" and _apart(body, fault):
        return (
            "Each assigns a value that is not read from memory which the other writes; no lane can "
            "look between two stores that are not atomic."
        )
    if fault.kind == "swapped" and unseen:
        first, second = _set_in(fault.about.removeprefix("comes before: ")), _set_in(fault.line)
        if first and second and first[0] not in second[1] and second[0] not in first[1]:
            return (
                "Neither statement sets what the other one uses, and nobody sees what is between."
            )
    return ""


def _apart(body: str, fault: Fault) -> bool:
    """Tell whether two assignments to members of one object, or to variables, are independent.

    A name that the header declares as a reference could be another name of something else. A test
    checks that headers have no unions, atomic members and assignments with side effects.
    """
    before = without_comments(body[: fault.start]).rstrip()
    found = [_ASSIGNMENT.fullmatch(line) for line in fault.replacement.splitlines()]
    if before[-1:] not in (";", "{", "}") or len(found) != 2 or None in found:
        return False
    one, other = (match for match in found if match)
    values = [_CAST.sub("", _LITERAL.sub("0", match["value"])) for match in (one, other)]
    names = {one["name"], other["name"]}
    where = "" if re.fullmatch(r"\w+\.", one["base"]) else one["base"]
    read = set(re.findall(r"[a-zA-Z_]\w*", " ".join((where, *values))))
    return (
        one["base"] == other["base"]
        and len(names) == 2
        and not any(_NO_VALUE.search(value) for value in values)
        and not names & read
        and not any(re.search(_REFERENCE + rf"{name}\b", body) for name in names | read)
    )


def _set_in(statement: str) -> tuple[str, set[str]] | None:
    """Return the name of what a statement sets and all names in it; none if it does more.

    Elements and members count by the names of their arrays and their own, whatever object has them.
    """
    text = _PURE.sub("", " ".join(statement.split()).rstrip(";"))
    text = _STEP.sub(r"\1 += 1", text)
    found = _SETS.fullmatch(text)
    if found is None or _MORE.search(found[1]) or _MORE.search(found[2]):
        return None
    names = re.findall(r"[a-zA-Z_]\w*", re.sub(r"\[[^]]*\]", "", found[1]))
    return names[-1], set(re.findall(r"[a-zA-Z_]\w*", text))


def _same_if_equal(body: str, fault: Fault) -> bool:
    """Tell whether the comparison chooses between values that are equal if its operands are."""
    left = _backwards(body, fault.start)
    right, end = _forwards(body, fault.end, "?")
    if not body.startswith("?", end):
        return False
    one, end = _forwards(body, end + 1, ":")
    if not body.startswith(":", end):
        return False
    other, _ = _forwards(body, end + 1, "?:")
    a, b, one, other = (_plain(text) for text in (left, right, one, other))
    return "" not in (a, b) and _replaced(one, a, b) == _replaced(other, a, b)


def _replaced(text: str, a: str, b: str) -> str:
    """Return the text with `b` for `a`; a difference of equals is 0."""
    part = re.compile(rf"(?<![\w.>]){re.escape(a)}(?![\w(.])")
    changed = part.sub(lambda _: b, text)
    return "0" if changed == f"{b}-{b}" else changed


def _plain(text: str) -> str:
    """Return an expression without blanks, casts, suffixes and parentheses around it."""
    text = re.sub(r"\s+", "", _CAST.sub("", text))
    text = re.sub(r"\b(\d+)u(?:ll)?\b", r"\1", text)
    text = re.sub(r"(?<![\w>])[({](\w+)[)}]", r"\1", text)
    while text[:1] == "(" and _forwards(text, 1, "")[1] == len(text) - 1:
        text = text[1:-1]
    return text


def _forwards(text: str, start: int, ends: str) -> tuple[str, int]:
    """Return the operand that starts here, and where one of `ends`, or what it is in, ends it."""
    depth = 0
    for i in range(start, len(text)):
        is_scope = "::" in text[i - 1 : i + 2]
        if depth == 0 and (text[i] in ",;" or (text[i] in ends and not is_scope)):
            return text[start:i], i
        if text[i] in _OPEN:
            depth += 1
        elif text[i] in _CLOSE:
            if depth == 0:
                return text[start:i], i
            depth -= 1
    return text[start:], len(text)


def _backwards(text: str, end: int) -> str:
    """Return the operand that ends here."""
    depth = 0
    for i in range(end - 1, -1, -1):
        if text[i] in _CLOSE:
            depth += 1
        elif text[i] in _OPEN:
            if depth == 0:
                return text[i + 1 : end]
            depth -= 1
        elif depth == 0 and _BEFORE.search(text[: i + 1]) and "::" not in text[i - 1 : i + 2]:
            return text[i + 1 : end]
    return text[:end]
