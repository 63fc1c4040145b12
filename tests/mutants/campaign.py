#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make mutants of the headers by itself, and report those that nothing rejects.

Every header that a profile of the mutants' tables names is searched for places where one mistake
can be made (faults.py). Each mistake becomes a mutant, compiled with others in one translation
unit, and is explored in the cases of the profiles that have its header, in sequentially consistent
and weak memory. What survives the first profile meets the unit tests and the conformance suite
beside the header's own tests (suites.py), then the other profiles, and ThreadSanitizer last.
Survivors that equivalent.toml knows to be equivalent, each with its argument, are counted apart.

Groups of mutants go through all of that one after the other in an order drawn by --seed. So those
that a --minutes limit lets through are a fair sample of all.

Exit status: 0 unless a mutant survives that is not known to be equivalent.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mutate
from faults import Fault, faults
from suites import Suites
from workshop import PLAIN, RACES, ROOT, Flavour, Verdict, Workshop

INCLUDE = ROOT / "include/warpheap"
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
_TOGETHER = 6  # mutants of a translation unit
_MOST_PROFILES = 3  # in which a mutant is explored without ThreadSanitizer


@dataclass
class Mutant:
    """A fault of a header, the profiles that can show it, and what became of it."""

    name: str
    header: str
    fault: Fault
    profiles: list[str]
    verdict: Verdict | None = None
    why_equivalent: str = ""
    tried: list[str] = field(default_factory=list)

    @property
    def lives(self) -> bool:
        """Tell whether nothing has rejected it so far."""
        return self.verdict is None or self.verdict.status in ("survived", "undecided")

    @property
    def killer(self) -> str:
        """Name what rejected it: where it was tried last."""
        return self.tried[-1].split(":")[0] if self.tried else ""

    def __str__(self) -> str:
        return f"{self.header}: {self.fault.line} ({self.fault.kind}: {self.fault.about})"


def all_mutants(table: dict[str, Any]) -> list[Mutant]:
    """Find the mutants of all headers, in a fixed order."""
    profiles: dict[str, list[str]] = {}
    for name, how in table["profile"].items():
        for header in how["headers"]:
            profiles.setdefault(header, []).append(name)
    known = equivalents()
    unused = set(known)
    mutants: list[Mutant] = []
    for header in sorted(profiles):
        # Those with few headers first: they are made for what they have.
        offers = sorted(profiles[header], key=lambda name: len(table["profile"][name]["headers"]))
        _, body = mutate.split_header((INCLUDE / header).read_text(), header)
        for fault in faults(body):
            mutant = Mutant(f"g{len(mutants):04}", header, fault, offers)
            mutant.why_equivalent = known.get((header, fault.line, fault.about), "")
            unused.discard((header, fault.line, fault.about))
            mutants.append(mutant)
    for header, line, about in sorted(unused):
        raise mutate.TableError(f"{EQUIVALENT}: no such mutant: {header}: {line} ({about})")
    return mutants


def equivalents() -> dict[tuple[str, str, str], str]:
    """Read which mutants are known to be equivalent, and why."""
    entries = tomllib.loads(EQUIVALENT.read_text()).get("equivalent", [])
    return {(one["header"], one["line"], one["about"]): one["why"] for one in entries}


def source_of(mutants: list[Mutant], how: dict[str, Any]) -> str:
    """Return the translation unit of mutants of one profile."""
    copies = []
    for mutant in mutants:
        _, body = mutate.split_header((INCLUDE / mutant.header).read_text(), mutant.header)
        changed = {mutant.header: mutant.fault.apply(body)}
        includes, text = mutate.joined(how["headers"], INCLUDE, changed)
        about = f"{mutant.fault.kind}: {mutant.fault.about}"
        copies.append((mutant.name, about, mutate.in_namespace(mutant.name, includes, text)))
    return mutate.translation_unit(how, copies)


class Hunt:
    """Goes through the mutants with a budget for each."""

    def __init__(self, table: dict[str, Any], options: Any) -> None:
        """Take the limits from the command line."""
        self._profiles = table["profile"]
        self._workshop = Workshop(options.work)
        self._suites = Suites(self._workshop, options.work, options.test_seconds)
        self._options = options
        self._end = time.monotonic() + 60 * options.minutes if options.minutes else math.inf

    def run(self, mutants: list[Mutant]) -> list[Mutant]:
        """Judge the mutants, group by group; those that were reached before the time was over."""
        groups = [group for _, group in _batches(mutants, 0)]
        random.Random(self._options.seed).shuffle(groups)
        reached: list[Mutant] = []
        with ThreadPoolExecutor(self._options.jobs) as pool:
            for count, group in enumerate(pool.map(self._judge, groups), 1):
                reached += group
                print(f"[{count}/{len(groups)}]", flush=True)
                for mutant in group:
                    if mutant.verdict:
                        print(f"  {mutant.verdict.status:9} {mutant}  {mutant.verdict.by}")
        return reached

    def _judge(self, group: list[Mutant]) -> list[Mutant]:
        if time.monotonic() > self._end:
            return []
        self._round(group, PLAIN, 0)
        for mutant in group:
            if mutant.lives and not self._options.without_tests:
                mutant.tried.append("tests")
                original = (INCLUDE / mutant.header).read_text()
                _, body = mutate.split_header(original, mutant.header)
                changed = original.replace(body, mutant.fault.apply(body))
                mutant.verdict = self._suites.judge(mutant.name, mutant.header, changed)
        for attempt in range(1, _MOST_PROFILES):
            self._round(group, PLAIN, attempt)
        if not self._options.without_races:
            self._round(group, RACES, 0)
        return group

    def _round(self, group: list[Mutant], flavour: Flavour, attempt: int) -> None:
        for profile, batch in _batches([m for m in group if m.lives], attempt):
            self._explore(profile, batch, flavour)

    def _explore(self, profile: str, batch: list[Mutant], flavour: Flavour) -> None:
        name = f"{profile}_{batch[0].name}_{len(batch)}"
        how = self._profiles[profile]
        program = self._workshop.build(name, source_of(batch, how), flavour, how.get("sources", []))
        if program is None:
            if len(batch) == 1:
                batch[0].verdict = Verdict("stillborn", "")
                return
            # One of them does not compile: halves find it.
            half = len(batch) // 2
            self._explore(profile, batch[:half], flavour)
            self._explore(profile, batch[half:], flavour)
            return
        for mutant in batch:
            mutant.tried.append(f"{flavour.name}:{profile}")
            mutant.verdict = self._workshop.explore(
                program, mutant.name, self._options.schedules, self._options.seconds
            )
        program.unlink()


def _batches(mutants: list[Mutant], attempt: int) -> Iterator[tuple[str, list[Mutant]]]:
    by_profile: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        if attempt < len(mutant.profiles):
            by_profile.setdefault(mutant.profiles[attempt], []).append(mutant)
    for profile, group in by_profile.items():
        for start in range(0, len(group), _TOGETHER):
            yield profile, group[start : start + _TOGETHER]


def _summary(mutants: list[Mutant], title: str, key: Callable[[Mutant], str]) -> str:
    """Return a table of what became of the mutants."""
    lines = [f"{title:44} made  killed  survived  equivalent  do not compile"]
    for name in sorted({key(m) for m in mutants}):
        of = [m for m in mutants if key(m) == name]
        status = Counter(m.verdict.status if m.verdict else "survived" for m in of)
        equivalent = sum(1 for m in of if m.lives and m.why_equivalent)
        lines.append(
            f"{name:44} {len(of):4} {status['killed']:7} {status['survived'] - equivalent:9} "
            f"{equivalent:11} {status['stillborn']:15}"
        )
    return "\n".join(lines) + "\n"


def report(mutants: list[Mutant], minutes: float) -> int:
    """Print what became of the mutants; the exit status."""
    equivalent = [m for m in mutants if m.lives and m.why_equivalent]
    survivors = [m for m in mutants if m.lives and not m.why_equivalent]
    refuted = [
        m
        for m in mutants
        if not m.lives and m.why_equivalent and m.verdict and m.verdict.status == "killed"
    ]
    counts = Counter(m.verdict.status if m.verdict else "survived" for m in mutants)
    killed = counts["killed"]
    by = Counter(m.killer for m in mutants if m.verdict and m.verdict.status == "killed")
    print("\n" + _summary(mutants, "kind", lambda m: m.fault.kind))
    print(_summary(mutants, "header", lambda m: m.header))
    print("killed by: " + ", ".join(f"{who} {count}" for who, count in by.most_common()))
    print(
        f"{len(mutants)} mutants: {killed} killed, {len(survivors)} survived, "
        f"{len(equivalent)} equivalent, {counts['stillborn']} do not compile"
    )
    if killed + len(survivors):
        print(
            f"{100 * killed / (killed + len(survivors)):.1f} % of those that matter are killed; "
            f"{100 * minutes / len(mutants):.1f} minutes a hundred"
        )
    for mutant in survivors:
        print(f"SURVIVED  {mutant}  tried: {', '.join(mutant.tried)}")
    for mutant in refuted:
        print(f"NOT EQUIVALENT, whatever {EQUIVALENT.name} says: {mutant}")
    return 1 if survivors or refuted else 0


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--header", action="append", default=[], help="only paths with this text")
    parser.add_argument(
        "--kind", action="append", default=[], help="order, boundary, lost, swapped"
    )
    parser.add_argument("--sample", type=int, help="only so many, drawn by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schedules", type=int, default=20_000, help="of each combination")
    parser.add_argument("--seconds", type=float, default=20, help="for a mutant in a profile")
    parser.add_argument("--test-seconds", type=float, default=60, help="for a test program")
    parser.add_argument("--minutes", type=float, help="start no more groups after so many")
    parser.add_argument("--without-tests", action="store_true", help="only the explorer")
    parser.add_argument("--without-races", action="store_true", help="no ThreadSanitizer")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutation", help="for objects")
    parser.add_argument("--json", type=Path, help="where to write all verdicts")
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    options = parser.parse_args()
    try:
        table = mutate.read_table(*mutate.table_files())
        mutants = all_mutants(table)
    except (mutate.TableError, OSError, KeyError, tomllib.TOMLDecodeError) as error:
        print(f"campaign.py: {error}", file=sys.stderr)
        return 2
    chosen = [
        m
        for m in mutants
        if (not options.header or any(text in m.header for text in options.header))
        and (not options.kind or m.fault.kind in options.kind)
    ]
    if options.sample is not None and options.sample < len(chosen):
        drawn = random.Random(options.seed).sample(range(len(chosen)), options.sample)
        chosen = [chosen[i] for i in sorted(drawn)]
    if options.list or not chosen:
        for mutant in chosen:
            print(f"{mutant.name} {mutant}")
        print(f"{len(chosen)} mutants")
        return 0 if chosen else 2
    start = time.monotonic()
    drawn_count = len(chosen)
    chosen = Hunt(table, options).run(chosen)
    if len(chosen) < drawn_count:
        print(f"The time was over after {len(chosen)} of {drawn_count} mutants.")
    if options.json:
        rows = [
            {
                "name": m.name,
                "header": m.header,
                "kind": m.fault.kind,
                "line": m.fault.line,
                "about": m.fault.about,
                "status": m.verdict.status if m.verdict else "survived",
                "by": m.verdict.by if m.verdict else "",
                "equivalent": bool(m.why_equivalent),
            }
            for m in chosen
        ]
        options.json.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return report(chosen, (time.monotonic() - start) / 60)


if __name__ == "__main__":
    sys.exit(main())
