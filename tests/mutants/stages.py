# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a mutant goes through until something rejects it: cheap and selective stages first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generated import Mutant
from workshop import MEMORY, PLAIN, RACES, Flavour


@dataclass(frozen=True)
class Stage:
    """The explorer in one of a mutant's profiles for a share of the full time, or the tests."""

    flavour: Flavour
    attempt: int = 0
    share: float = 1
    tests: bool = False

    @property
    def name(self) -> str:
        """Name what it asks, which a campaign may leave out."""
        return "tests" if self.tests and self.flavour == PLAIN else self.flavour.name

    def label(self, mutant: Mutant, seconds: float) -> str:
        """Say what is tried, so that another run knows that it need not be."""
        if self.tests:
            return self.flavour.tests
        return f"{self.flavour.name}:{mutant.profiles[self.attempt]}:{self.share * seconds:g}s"


TESTS = Stage(PLAIN, tests=True)
TESTS_OF_MEMORY = Stage(MEMORY, tests=True)  # what they compile is slow: survivors alone
_FLAVOURS = {flavour.name: flavour for flavour in (PLAIN, RACES)}
# A weaker order shows as a race, or in weak memory. Tests know neither.
_OF_ORDERS = (
    Stage(RACES, 0, 0.2),
    Stage(PLAIN, 0, 0.2),
    Stage(RACES, 1, 0.2),
    Stage(PLAIN, 1, 0.2),
    Stage(RACES, 0),
    Stage(PLAIN, 2, 0.4),
    Stage(PLAIN, 0),
)
_OF_OTHERS = (
    Stage(PLAIN, 0, 0.15),
    TESTS,
    Stage(RACES, 0, 0.2),
    Stage(PLAIN, 1, 0.4),
    Stage(PLAIN, 2, 0.4),
    Stage(PLAIN, 0),
    Stage(RACES, 0),
)


def before(mutant: Mutant, seconds: float = 1) -> list[Stage]:
    """Return the stage that killed a mutant in an earlier run, if there is such a one."""
    label = mutant.killed_before[0]
    for stage in (TESTS, TESTS_OF_MEMORY):
        if label == stage.label(mutant, seconds):
            return [stage]
    what, *how = label.split(":")
    if what not in _FLAVOURS or len(how) != 2 or how[0] not in mutant.profiles:
        return []
    share = float(how[1].removesuffix("s")) / seconds
    return [Stage(_FLAVOURS[what], mutant.profiles.index(how[0]), share)]


def stages_of(mutant: Mutant, seconds: float, without: Sequence[str] = ()) -> list[Stage]:
    """Return the stages of a mutant, without those of the names given.

    What killed it before comes first, then those of the lists, then what these leave out: a
    survivor has met all profiles that reach it, with and without ThreadSanitizer. Only a survivor
    of all that meets its tests under AddressSanitizer.
    """
    is_order = mutant.fault.kind == "order"
    listed = _OF_ORDERS if is_order else _OF_OTHERS
    listed = (*before(mutant, seconds), *(listed if mutant.profiles else [TESTS]))
    met = {(stage.flavour, stage.attempt) for stage in listed}
    others = [
        Stage(flavour, attempt, 0.2)
        for attempt in range(1, len(mutant.profiles))
        for flavour in (RACES, PLAIN)
        if (flavour, attempt) not in met
    ]
    return [
        stage
        for stage in (*listed, *others, *([] if is_order else [TESTS_OF_MEMORY]))
        if (stage.tests or stage.attempt < len(mutant.profiles)) and stage.name not in without
    ]


def next_stage(mutant: Mutant, seconds: float, without: Sequence[str] = ()) -> Stage | None:
    """Return what a mutant has not been through; none if it is dead or has been through all."""
    if not mutant.lives:
        return None
    stages = stages_of(mutant, seconds, without)
    left = (stage for stage in stages if stage.label(mutant, seconds) not in mutant.tried)
    return next(left, None)
