# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts that hold many faults at once, of which a program makes the one that it is told to.

To compile a program for each mutant takes longer than to run it. So most faults, except those of
memory orders, become a branch on a number that the program reads from the environment when it
starts: with none it is the text as it was. What the compiler evaluates cannot branch so, and a
weaker order has to be seen by the compiler; such faults are compiled one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from faults import Fault, without_comments

VARIABLE = "WARPHEAP_MUTANT"
HEADER = "warpheap_switches.hpp"
TEXT = f"""#pragma once
#include <cstdlib>
namespace warpheap_switches {{
inline const char* const told = std::getenv("{VARIABLE}");
inline const int number = told != nullptr ? std::atoi(told) : -1;
inline bool on(int mutant) {{ return mutant == number; }}
inline int one(int mutant) {{ return on(mutant) ? 0 : 1; }}
// `a < at<7>{{}} < b` is `a < b`, and `a <= b` in mutant 7.
template <int Mutant> struct at {{}};
template <int Mutant, class T> struct left {{ T value; }};
#define WARPHEAP_SWITCH(op, other) \\
  template <int Mutant, class T> left<Mutant, T> operator op(const T& a, at<Mutant>) {{ \\
    return {{a}}; \\
  }} \\
  template <int Mutant, class T, class U> \\
  bool operator op(const left<Mutant, T>& a, const U& b) {{ \\
    return on(Mutant) ? a.value other b : a.value op b; \\
  }}
WARPHEAP_SWITCH(<, <=)
WARPHEAP_SWITCH(<=, <)
WARPHEAP_SWITCH(>, >=)
WARPHEAP_SWITCH(>=, >)
#undef WARPHEAP_SWITCH
}}  // namespace warpheap_switches
"""
_COMPILED = re.compile(r"constexpr|consteval|static_assert|requires")
_A_SCOPE = re.compile(r"\b(?:class|struct|namespace|enum|union)\b")


def can_switch(body: str, fault: Fault) -> bool:
    """Tell whether a fault can be a branch."""
    if fault.kind == "order":
        return False
    code = without_comments(body)
    for head in _heads(code, fault.start):
        if _COMPILED.search(head):
            return False
    before, after = code[: fault.start].rstrip(), code[fault.end :].lstrip()
    if fault.kind == "boundary":
        return fault.replacement != "" or after[:1] not in ("*", "/", "%")
    # A whole statement, and not the only one of an `if` without braces.
    return before[-1:] in (";", "{", "}")


def _heads(code: str, place: int) -> Iterator[str]:
    """Yield the statement up to the place, and what is before each `{` around it, but scopes."""
    yield _since(code, place)
    depth = 0
    for i in range(place - 1, -1, -1):
        if code[i] == "}":
            depth += 1
        elif code[i] == "{" and depth > 0:
            depth -= 1
        elif code[i] == "{":
            head = _since(code, i)
            if _A_SCOPE.search(head):
                return
            yield head


def _since(code: str, place: int) -> str:
    return code[max(code.rfind(mark, 0, place) for mark in ";{}") + 1 : place]


def switched(fault: Fault, text: str, number: int) -> str:
    """Return what stands in place of what a fault changes."""
    ours = "::warpheap_switches::"
    if fault.kind == "boundary" and fault.replacement == "":
        return f" {text.strip()[0]} {ours}one({number})"
    if fault.kind == "boundary":
        return f"{text}{ours}at<{number}>{{}}{text}"
    return f"{{ if ({ours}on({number})) {{\n{fault.replacement}}} else {{\n{text}}} }}\n"


def blamed(errors: str) -> set[int]:
    """Find the numbers of the switches that a compiler complains about."""
    return {int(n) for n in re.findall(r"warpheap_switches::\w+[<(](\d+)[>)]", errors)}


def layers(faults: list[Fault]) -> list[int]:
    """Number the faults of a text so that overlapping ones differ; most have the same number."""
    ends: list[int] = []
    found = {}
    for i, fault in sorted(enumerate(faults), key=lambda each: each[1].start):
        free = next((n for n, end in enumerate(ends) if end <= fault.start), len(ends))
        ends[free:] = [fault.end, *ends[free + 1 :]]
        found[i] = free
    return [found[i] for i in range(len(faults))]


def with_switches(body: str, faults: Iterable[tuple[int, Fault]]) -> str:
    """Return a text with a branch for each of the numbered faults, which do not overlap."""
    for number, fault in sorted(faults, key=lambda each: each[1].start, reverse=True):
        changed = switched(fault, body[fault.start : fault.end], number)
        body = body[: fault.start] + changed + body[fault.end :]
    return body
