# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a mutant goes through until something rejects it: cheap and selective stages first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generated import Mutant
from workshop import PLAIN, RACES, Flavour


@dataclass(frozen=True)
class Stage:
    """The explorer in one of a mutant's profiles for a share of the full time, or the tests."""

    flavour: Flavour | None = None  # none: the tests
    attempt: int = 0
    share: float = 1

    def label(self, mutant: Mutant, seconds: float) -> str:
        """Say what is tried, so that another run knows that it need not be."""
        if self.flavour is None:
            return "tests"
        return f"{self.flavour.name}:{mutant.profiles[self.attempt]}:{self.share * seconds:g}s"


TESTS = Stage()
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
    what, *how = mutant.killed_before[0].split(":")
    if what == "tests":
        return [TESTS]
    if what not in _FLAVOURS or len(how) != 2 or how[0] not in mutant.profiles:
        return []
    share = float(how[1].removesuffix("s")) / seconds
    return [Stage(_FLAVOURS[what], mutant.profiles.index(how[0]), share)]


def stages_of(mutant: Mutant, seconds: float, without: Sequence[str] = ()) -> list[Stage]:
    """Return the stages of a mutant, without those of the names given.

    What killed it before comes first, then those of the lists, then what these leave out: a
    survivor has met all profiles that reach it, with and without the sanitizer.
    """
    if not mutant.profiles:
        return [] if "tests" in without else [TESTS]
    listed = _OF_ORDERS if mutant.fault.kind == "order" else _OF_OTHERS
    listed = (*before(mutant, seconds), *listed)
    met = {(stage.flavour, stage.attempt) for stage in listed}
    others = [
        Stage(flavour, attempt, 0.2)
        for attempt in range(1, len(mutant.profiles))
        for flavour in (RACES, PLAIN)
        if (flavour, attempt) not in met
    ]
    return [
        stage
        for stage in (*listed, *others)
        if stage.attempt < len(mutant.profiles)
        and (stage.flavour.name if stage.flavour else "tests") not in without
    ]


def next_stage(mutant: Mutant, seconds: float, without: Sequence[str] = ()) -> Stage | None:
    """Return what a mutant has not been through; none if it is dead or has been through all."""
    if not mutant.lives:
        return None
    stages = stages_of(mutant, seconds, without)
    left = (stage for stage in stages if stage.label(mutant, seconds) not in mutant.tried)
    return next(left, None)
