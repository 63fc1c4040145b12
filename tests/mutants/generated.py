# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mutants that faults.py finds in the headers that a profile names, and their sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import mutate
import rules
from equivalents import EQUIVALENT, Reason, read_equivalents
from faults import Fault, faults
from includes import ROOT, Includes
from workshop import Verdict

INCLUDE = ROOT / "include/warpheap"
_UNSEEN = "host/"  # no other thread of its tests sees what is between two statements
# Headers that nothing judges, by how their paths begin, and why.
NOT_JUDGED = {
    "simt/": "The explorer and the tests run on it, and are linked with a library that has it as "
    "it is; its litmus tests have planted bugs of their own.",
    "host/cuda/": "Its tests have an imitation of CUDA's driver that only knows errors.",
    "managers/cuda/": "It calls CUDA's own heap.",
    "workloads/group_by/kernels.hpp": "Only the benchmarks run these kernels.",
    "workloads/group_by/short_groups.hpp": "Only the benchmarks run these kernels.",
}

Key = tuple[str, str, str, str, int]


@dataclass
class Mutant:
    """A fault of a header, the profiles that can show it, and what became of it.

    One without a profile meets unit tests alone.
    """

    name: str
    header: str
    fault: Fault
    profiles: list[str]
    verdict: Verdict | None = None
    why_equivalent: str = ""
    costs_time: bool = False  # the one thing that an equivalent may change
    tried: list[str] = field(default_factory=list)
    which: int = 0  # of equal mistakes in equal lines, from 1 on; 0 if it has no equal
    killed_before: tuple[str, str] = (
        "",
        "",
    )  # what it had been through last in another run, and by

    @property
    def key(self) -> Key:
        """Say what it is whatever happens to other headers; its name is only a number."""
        return self.header, self.fault.kind, self.fault.line, self.fault.about, self.which

    @property
    def lives(self) -> bool:
        """Tell whether nothing has rejected it so far."""
        return self.verdict is None or self.verdict.status in ("survived", "undecided")

    @property
    def killer(self) -> str:
        """Name what rejected it: where it was tried last."""
        return self.tried[-1].split(":")[0] if self.tried else ""

    def changed_body(self) -> tuple[str, str]:
        """Return its header's whole text and what is in the namespace, with the fault in both."""
        text = (INCLUDE / self.header).read_text()
        body = body_of(self.header)
        changed = self.fault.apply(body)
        return text.replace(body, changed), changed

    def __str__(self) -> str:
        return f"{self.header}: {self.fault.line} ({self.fault.kind}: {self.fault.about})"


def all_mutants(table: dict[str, Any]) -> list[Mutant]:
    """Find the mutants of all headers, in a fixed order."""
    profiles: dict[str, list[str]] = {}
    for name, how in table["profile"].items():
        for header in how["headers"]:
            profiles.setdefault(header, []).append(name)
    for header in tested_headers():
        profiles.setdefault(header, [])  # if no profile names it, unit tests alone judge it
    known = read_equivalents()
    unused = set(known)
    mutants: list[Mutant] = []
    for header in sorted(profiles):
        offers = _most_telling_first(profiles[header], table)
        body = body_of(header)
        for fault, which in numbered(faults(body)):
            mutant = Mutant(f"g{len(mutants):04}", header, fault, offers, which=which)
            key = (header, fault.line, fault.about, which)
            by_rule = rules.why_equivalent(body, fault, unseen=header.startswith(_UNSEEN))
            reason = known.get(key, Reason(by_rule))
            mutant.why_equivalent, mutant.costs_time = reason.why, reason.costs_time
            unused.discard(key)
            mutants.append(mutant)
    for header, line, about, which in sorted(unused):
        raise mutate.TableError(
            f"{EQUIVALENT}: no such mutant, or `which` is missing: "
            f"{header}: {line} ({about}, which = {which})"
        )
    return mutants


@cache
def tested_headers() -> frozenset[str]:
    """Find the headers of which unit tests have the code, but for those that nothing judges.

    Those of the C interface declare what src/ defines.
    """
    includes = Includes()
    found = {
        header for test in (ROOT / "tests").rglob("*_test.cpp") for header in includes.reached(test)
    }
    return frozenset(one for one in found if one.endswith(".hpp") and not why_not_judged(one))


def why_not_judged(header: str) -> str:
    """Return why no mutants of a header are made; empty if they are."""
    return next((why for start, why in NOT_JUDGED.items() if header.startswith(start)), "")


def body_of(header: str) -> str:
    """Return what is in a header's namespace, or all of it if no macro says where that begins."""
    text = (INCLUDE / header).read_text()
    return mutate.split_header(text, header)[1] if mutate.BEGIN in text else text


def numbered(found: Iterable[Fault]) -> Iterator[tuple[Fault, int]]:
    """Number equal faults of equal lines from 1 on; 0 for one that has no equal."""
    faults_of_all = list(found)
    total = Counter((fault.line, fault.about) for fault in faults_of_all)
    before: Counter[tuple[str, str]] = Counter()
    for fault in faults_of_all:
        key = fault.line, fault.about
        before[key] += 1
        yield fault, before[key] if total[key] > 1 else 0


def _most_telling_first(names: list[str], table: dict[str, Any]) -> list[str]:
    """Order the profiles of a header: those with few headers are made for what they have.

    One that has the same headers as another one comes late: other code around a header shows more
    than the same code in other cases, and a mutant may not live to see the last of its profiles.
    """
    seen: list[tuple[str, ...]] = []
    keys: dict[str, tuple[int, int]] = {}
    for name in names:
        headers = tuple(table["profile"][name]["headers"])
        keys[name] = seen.count(headers), len(headers)
        seen.append(headers)
    return sorted(names, key=lambda name: keys[name])


def control(profile: str, how: dict[str, Any]) -> Mutant:
    """Return a mutant of a profile with nothing wrong."""
    nothing = Fault("control", 0, 0, "", "", "nothing is wrong")
    return Mutant("control", how["headers"][0], nothing, [profile])


def source_of(mutants: list[Mutant], how: dict[str, Any]) -> str:
    """Return the translation unit of mutants of one profile."""
    copies = []
    for mutant in mutants:
        changed = {mutant.header: mutant.changed_body()[1]}
        includes, text = mutate.joined(how["headers"], INCLUDE, changed)
        about = f"{mutant.fault.kind}: {mutant.fault.about}"
        copies.append((mutant.name, about, mutate.in_namespace(mutant.name, includes, text)))
    return mutate.translation_unit(how, copies)
