# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drives ``warpheap-verify``: many seeded schedules of small cases, and mutants it must reject."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from warpheap import catalog, process, shell
from warpheap.console import Steps
from warpheap.errors import EXIT_FAILED, UserError

_MARGIN_S = 30.0  # a program that keeps its own limit needs no more than this to start and stop
_FIRST_SHARE = 1000  # schedules of each combination before a hunt goes deeper anywhere
_GROWTH = 9  # times as many as before in the next round
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Task:
    """One subject (manager, structure or mutant) in one case, under one strategy, in one memory."""

    subject: str
    case: str
    strategy: str
    memory: str

    def __str__(self) -> str:
        return f"{self.subject}/{self.case}/{self.strategy}/{self.memory}"


@dataclass(frozen=True)
class Budget:
    """How long one task explores: until the first of the two limits."""

    schedules: int
    seconds: float
    first_seed: int


@dataclass(frozen=True)
class Verdict:
    """What came out of a task. ``seed`` is None unless the status is failed with a finding."""

    task: Task
    status: str
    seed: int | None
    what: str
    schedules: int
    per_second: float
    wall_s: float

    @property
    def ok(self) -> bool:
        """Tell whether nothing was found."""
        return self.status == "ok"

    def replay(self) -> str:
        """Return what --replay takes."""
        return f"{self.task}/{self.seed}"


@dataclass(frozen=True)
class Mutant:
    """A deliberately broken variant of a manager or structure."""

    name: str
    original: str
    about: str


@dataclass(frozen=True)
class Kill:
    """How a mutant fared: ``verdict`` is None if it survived, ``wall_s`` is the whole hunt."""

    mutant: Mutant
    verdict: Verdict | None
    replayed: bool | None
    wall_s: float

    @property
    def ok(self) -> bool:
        """Tell whether the mutant was found and, where a seed names the finding, found again."""
        return self.verdict is not None and self.replayed is not False


@dataclass(frozen=True)
class Offer:
    """What the program can explore."""

    program: Path
    subjects: tuple[str, ...]
    mutants: tuple[Mutant, ...]
    strategies: tuple[str, ...]
    memories: tuple[str, ...]
    cases: dict[str, tuple[str, ...]]

    @property
    def lister(self) -> str:
        """Return the command that prints all names."""
        return shell.join([str(self.program), "list"])

    def cases_of(self, subject: str, original: str = "") -> tuple[str, ...]:
        """Return the cases of a subject; a mutant without its own has those of its original."""
        return self.cases.get(subject) or self.cases.get(original, ())


def load(program: Path) -> Offer:
    """Ask the program what it can explore."""
    document = catalog.ask(program, "list")
    try:
        mutants = tuple(
            Mutant(m["name"], m.get("manager") or "", m.get("about") or "")
            for m in document["mutants"]
        )
        return Offer(
            program,
            (*document["managers"], *document["structures"]),
            mutants,
            tuple(document["strategies"]),
            tuple(document["memories"]),
            {subject: tuple(cases) for subject, cases in document["cases"].items()},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise catalog.unusable(program, error) from error


def explore(
    program: Path, task: Task, budget: Budget, cancel: threading.Event | None = None
) -> Verdict:
    """Explore one task to the end of its budget or to its first finding."""
    command: list[str | Path] = [
        program,
        "run",
        *_flags(task),
        "--schedules",
        str(budget.schedules),
    ]
    command += ["--seed", str(budget.first_seed), "--seconds", f"{budget.seconds:g}"]
    outcome = process.run(command, budget.seconds + _MARGIN_S, cancel)
    if outcome.timed_out:
        return _broken(
            task, "timeout", f"had not finished after {budget.seconds + _MARGIN_S:g} s", outcome
        )
    if outcome.returncode == 2:
        raise _refusal(program, outcome)
    try:
        row = json.loads(outcome.stdout.strip())
        finding: dict[str, Any] = row["finding"] or {}
        return Verdict(
            task,
            str(row["status"]),
            int(finding["seed"]) if finding else None,
            str(finding.get("what", "")),
            int(row["schedules"]),
            float(row["schedules_per_second"]),
            outcome.wall_s,
        )
    except (ValueError, KeyError, TypeError):
        what = outcome.death() if outcome.returncode else "did not print a valid row"
        return _broken(task, "crashed", what, outcome)


def replay(
    program: Path, task: Task, seed: int, cancel: threading.Event | None = None
) -> tuple[bool, str]:
    """Run one schedule again; tells whether the finding occurs again, and gives the account."""
    command: list[str | Path] = [program, "replay", *_flags(task), "--seed", str(seed)]
    outcome = process.run(command, _MARGIN_S * 2, cancel)
    if outcome.timed_out:
        raise UserError(
            f"the replay of {task}/{seed} had not finished after {_MARGIN_S * 2:g} s", EXIT_FAILED
        )
    if outcome.returncode == 2:
        raise _refusal(program, outcome)
    if outcome.returncode not in (0, 1):
        return True, f"{outcome.stdout}{outcome.death()}\n"
    return outcome.returncode == 1, outcome.stdout


def hunt(
    offer: Offer,
    mutant: Mutant,
    strategies: Sequence[str],
    memories: Sequence[str],
    budget: Budget,
    cancel: threading.Event | None = None,
) -> Kill:
    """Explore a mutant until something rejects it, then replay the finding in another process.

    The budget is that of the whole hunt for the time, and of each combination of case, strategy and
    memory for the schedules. All combinations get a few schedules before any gets many.
    """
    tasks = [
        Task(mutant.name, case, strategy, memory)
        for case in offer.cases_of(mutant.name, mutant.original)
        for memory in memories
        for strategy in strategies
    ]
    start = time.monotonic()
    done, share = 0, min(_FIRST_SHARE, budget.schedules)
    while share > 0:
        for task in tasks:
            left = start + budget.seconds - time.monotonic()
            if left <= 0:
                return Kill(mutant, None, None, time.monotonic() - start)
            part = Budget(share, left, budget.first_seed + done)
            verdict = explore(offer.program, task, part, cancel)
            if not verdict.ok:
                seed = verdict.seed
                again = None
                if seed is not None:
                    again, _ = replay(offer.program, verdict.task, seed, cancel)
                return Kill(mutant, verdict, again, time.monotonic() - start)
        done += share
        share = min(done * _GROWTH, budget.schedules - done)
    return Kill(mutant, None, None, time.monotonic() - start)


def spread(
    work: Callable[[T, threading.Event], R], items: Iterable[T], jobs: int, progress: Steps
) -> Generator[R, None, None]:
    """Run work on every item, ``jobs`` at a time, and yield results as they come.

    An interrupt, or an error of one item, ends the running children before the caller sees it. So
    does closing the iterator, which a caller does whose own code may be interrupted.
    """
    cancel = threading.Event()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            # Children run from the first item on, so an interrupt may come between two of them.
            futures = {pool.submit(work, item, cancel): item for item in items}
            for future in as_completed(futures):
                progress.advance(str(futures[future]))
                yield future.result()
        except BaseException:
            cancel.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _flags(task: Task) -> list[str]:
    names = ["--subject", task.subject, "--case", task.case, "--strategy", task.strategy]
    return [*names, "--memory", task.memory]


def _refusal(program: Path, outcome: process.Outcome) -> UserError:
    """Make the error of a program that refused its arguments; its message begins with its name."""
    return UserError(outcome.last_error_line() or f"{program.name}: bad arguments")


def _broken(task: Task, status: str, what: str, outcome: process.Outcome) -> Verdict:
    return Verdict(task, status, None, what, 0, 0.0, outcome.wall_s)
