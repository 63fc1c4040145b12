#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make mutants of the headers by itself, and report those that nothing rejects.

Every header that a profile of the mutants' tables names is searched for places where one mistake
can be made (faults.py). Each mistake becomes a mutant, compiled with others in one translation
unit, and is explored in the cases of the profiles that have its header: first in sequentially
consistent and weak memory, then, if it survives, under ThreadSanitizer. Survivors that
equivalent.toml knows to be equivalent, each with its argument, are counted apart.

Exit status: 0 unless a mutant survives that is not known to be equivalent.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mutate
from faults import Fault, faults
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
        return self.verdict is None or self.verdict.status == "survived"

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
    """Give the translation unit of mutants of one profile."""
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

    def __init__(self, table: dict[str, Any], workshop: Workshop, options: Any) -> None:
        """Take the limits from the command line."""
        self._profiles = table["profile"]
        self._workshop = workshop
        self._options = options

    def run(self, mutants: list[Mutant]) -> None:
        """Explore all mutants: profile after profile, then with ThreadSanitizer."""
        for attempt in range(_MOST_PROFILES):
            self._round(mutants, PLAIN, attempt)
        if not self._options.without_races:
            self._round(mutants, RACES, 0)

    def _round(self, mutants: list[Mutant], flavour: Flavour, attempt: int) -> None:
        batches = list(self._batches([m for m in mutants if m.lives], attempt))
        with ThreadPoolExecutor(self._options.jobs) as pool:
            for count, batch in enumerate(
                pool.map(lambda one: self._explore(one[0], one[1], flavour), batches), 1
            ):
                print(f"[{flavour.name} {attempt + 1}: {count}/{len(batches)}]", flush=True)
                for mutant in batch:
                    if mutant.verdict:
                        print(f"  {mutant.verdict.status:9} {mutant}  {mutant.verdict.by}")

    def _batches(self, mutants: list[Mutant], attempt: int) -> Iterator[tuple[str, list[Mutant]]]:
        by_profile: dict[str, list[Mutant]] = {}
        for mutant in mutants:
            if attempt < len(mutant.profiles):
                by_profile.setdefault(mutant.profiles[attempt], []).append(mutant)
        for profile, group in by_profile.items():
            for start in range(0, len(group), _TOGETHER):
                yield profile, group[start : start + _TOGETHER]

    def _explore(self, profile: str, batch: list[Mutant], flavour: Flavour) -> list[Mutant]:
        name = f"{profile}_{batch[0].name}_{len(batch)}"
        how = self._profiles[profile]
        program = self._workshop.build(name, source_of(batch, how), flavour, how.get("sources", []))
        if program is None:
            if len(batch) == 1:
                batch[0].verdict = Verdict("stillborn", "")
                return batch
            # One of them does not compile: halves find it.
            half = len(batch) // 2
            self._explore(profile, batch[:half], flavour)
            self._explore(profile, batch[half:], flavour)
            return batch
        for mutant in batch:
            mutant.tried.append(f"{flavour.name}:{profile}")
            mutant.verdict = self._workshop.explore(
                program, mutant.name, self._options.schedules, self._options.seconds
            )
        program.unlink()
        return batch


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
    print(
        f"\n{len(mutants)} mutants: {killed} killed, {len(survivors)} survived, "
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
        print(f"generate.py: {error}", file=sys.stderr)
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
    Hunt(table, Workshop(options.work), options).run(chosen)
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
