# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print what became of the mutants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from equivalents import EQUIVALENT
from generated import Mutant

_FATES = ("killed", "survived", "open", "equivalent", "time only", "stillborn")


def _summary(mutants: list[tuple[Mutant, str]], title: str, key: Callable[[Mutant], str]) -> str:
    """Return a table of what became of the mutants."""
    lines = [f"{title:44} made  killed  survived  open  equivalent  time only  do not compile"]
    for name in sorted({key(mutant) for mutant, _ in mutants}):
        fates = [fate for mutant, fate in mutants if key(mutant) == name]
        killed, survived, left, equivalent, time_only, stillborn = map(fates.count, _FATES)
        lines.append(
            f"{name:44} {len(fates):4} {killed:7} {survived:9} {left:5} {equivalent:11} "
            f"{time_only:10} {stillborn:15}"
        )
    return "\n".join(lines) + "\n"


def _fate(mutant: Mutant, is_open: bool) -> str:
    if mutant.verdict and not mutant.lives:
        return mutant.verdict.status
    if mutant.why_equivalent:
        return "time only" if mutant.costs_time else "equivalent"
    return "open" if is_open else "survived"


def report(mutants: list[Mutant], left: list[Mutant], minutes: float) -> int:
    """Print what became of the mutants, of which some are left to go on with; the exit status."""
    unfinished = {mutant.name for mutant in left}
    fates = [(mutant, _fate(mutant, mutant.name in unfinished)) for mutant in mutants]
    refuted = [mutant for mutant, fate in fates if fate == "killed" and mutant.why_equivalent]
    counts = Counter(fate for _, fate in fates)
    by = Counter(mutant.killer for mutant, fate in fates if fate == "killed")
    print("\n" + _summary(fates, "kind", lambda mutant: mutant.fault.kind))
    print(_summary(fates, "header", lambda mutant: mutant.header))
    print("killed by: " + ", ".join(f"{who} {count}" for who, count in by.most_common()))
    print(
        f"{len(mutants)} mutants: {counts['killed']} killed, {counts['survived']} survived, "
        f"{counts['open']} open at the end, {counts['equivalent']} equivalent, "
        f"{counts['time only']} cost time only, {counts['stillborn']} do not compile"
    )
    matter = counts["killed"] + counts["survived"] + counts["open"]
    if matter:
        print(
            f"{100 * counts['killed'] / matter:.1f} % of those that matter are killed; "
            f"{100 * minutes / len(mutants):.1f} minutes a hundred in this run"
        )
    for wanted in ("survived", "open"):
        for mutant in (mutant for mutant, fate in fates if fate == wanted):
            print(f"{wanted.upper():8}  {mutant}  tried: {', '.join(mutant.tried)}")
    for mutant in refuted:
        print(f"NOT EQUIVALENT, whatever {EQUIVALENT.name} says: {mutant}")
    return 1 if counts["survived"] or refuted else 0
