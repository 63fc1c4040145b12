# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap verify``: explore schedules, replay findings, try the mutants."""

import os
import shlex
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, List, Optional, TypeVar  # noqa: UP035

import typer

from warpheap import explorer, process, programs
from warpheap.commands import options
from warpheap.console import Steps, out, print_json, steps
from warpheap.errors import EXIT_FAILED, UserError, check_names, guarded
from warpheap.explorer import Budget, Kill, Mutant, Offer, Task, Verdict

T = TypeVar("T")
R = TypeVar("R")

LARGEST_SEED = 2**64 - 1
LIMITS = (
    "Limits: there is a switch at every atomic, collective and backoff, and at no plain access. "
    "Memory sc is sequentially consistent; in memory weak, loads may read older stores, but none "
    "that a later step makes. Schedules are drawn at random: no finding is evidence, not proof."
)


@guarded
def verify(
    manager: List[str] = typer.Option(  # noqa: UP006
        [], "--manager", "--subject", help="Only this manager or structure; may be repeated."
    ),
    case: List[str] = typer.Option([], "--case", help="Only this case; may be repeated."),  # noqa: UP006
    strategy: List[str] = typer.Option(  # noqa: UP006
        [], "--strategy", help="Only this strategy; may be repeated."
    ),
    memory: List[str] = typer.Option(  # noqa: UP006
        [], "--memory", help="Explore only sc (sequentially consistent) or only weak memory."
    ),
    schedules: Optional[int] = options.number(
        None, "--schedules", "Schedules per combination (10,000; with --mutants 1,000,000).", 1
    ),
    seconds: float = options.seconds(
        60.0, "--seconds", "Seconds per combination; with --mutants, per mutant."
    ),
    seed: int = options.number(1, "--seed", "The first seed.", 0, LARGEST_SEED),
    mutants: bool = typer.Option(False, "--mutants", help="Fail if a mutant survives."),
    replay: str = typer.Option(
        "", "--replay", metavar="SUBJECT/CASE/STRATEGY/MEMORY/SEED", help="Replay one schedule."
    ),
    jobs: int = options.number(os.cpu_count() or 1, "--jobs", "Number of processes at a time.", 1),
    build_dir: Optional[Path] = options.build_dir(),
    as_json: bool = options.json_output(),
) -> None:
    """Hunt for concurrency errors with seeded schedules on the CPU model; replay them by seed."""
    offer = explorer.load(programs.require(programs.VERIFY, build_dir))
    if replay:
        with process.terminate_as_interrupt():
            _replay(offer, replay)
        return
    strategies = list(dict.fromkeys(strategy or offer.strategies))
    check_names("strategy", strategies, offer.strategies)
    memories = list(dict.fromkeys(memory or offer.memories))
    check_names("memory", memories, offer.memories)
    budget = Budget(schedules or (1_000_000 if mutants else 10_000), seconds, seed)
    with process.terminate_as_interrupt():
        if mutants:
            good = _hunt_all(offer, manager, strategies, memories, budget, jobs, as_json)
        else:
            tasks = _tasks(offer, manager, case, strategies, memories)
            good = _explore_all(offer, tasks, budget, jobs, as_json)
    if not as_json:
        out.print(LIMITS, style="dim")
    if not good:
        raise typer.Exit(EXIT_FAILED)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("verify")(verify)


def _tasks(
    offer: Offer,
    names: list[str],
    cases: list[str],
    strategies: list[str],
    memories: list[str],
) -> list[Task]:
    check_names("subject", names, offer.subjects, offer.lister)
    subjects = dict.fromkeys(names or offer.subjects)
    known = dict.fromkeys(case for name in subjects for case in offer.cases_of(name))
    check_names("case", cases, known)
    return [
        Task(name, case, strategy, memory)
        for name in subjects
        for case in offer.cases_of(name)
        if not cases or case in cases
        for memory in memories
        for strategy in strategies
    ]


def _do_all(
    what: str,
    work: Callable[[T, threading.Event], R],
    items: Sequence[T],
    jobs: int,
    show: Callable[[R, Steps], None],
) -> list[R]:
    """Do the work on all items, and show each result as it comes."""
    done = []
    with (
        steps(what, len(items)) as progress,
        closing(explorer.spread(work, items, jobs, progress)) as results,
    ):
        for result in results:
            done.append(result)
            show(result, progress)
    return done


def _explore_all(offer: Offer, tasks: list[Task], budget: Budget, jobs: int, as_json: bool) -> bool:
    def explore(task: Task, cancel: threading.Event) -> Verdict:
        return explorer.explore(offer.program, task, budget, cancel)

    def show(verdict: Verdict, progress: Steps) -> None:
        if as_json:
            print_json({"schema": 1, **asdict(verdict.task), **_facts(verdict)})
        elif not verdict.ok:
            progress.note(_finding(verdict))

    verdicts = _do_all("exploring", explore, tasks, jobs, show)
    found = [verdict for verdict in verdicts if not verdict.ok]
    if not as_json:
        total = sum(verdict.schedules for verdict in verdicts)
        out.print(f"{len(tasks)} combinations, {total:,} schedules, {len(found)} findings")
        for verdict in sorted(found, key=lambda verdict: str(verdict.task)):
            out.print(_finding(verdict), soft_wrap=True)
    return not found


def _hunt_all(
    offer: Offer,
    names: list[str],
    strategies: list[str],
    memories: list[str],
    budget: Budget,
    jobs: int,
    as_json: bool,
) -> bool:
    if not offer.mutants:
        raise UserError(
            f"{offer.program} has no mutants in it; in a checkout './dev test --all' builds them",
            EXIT_FAILED,
        )
    originals = dict.fromkeys(mutant.original for mutant in offer.mutants)
    known = (*originals, *(m.name for m in offer.mutants))
    check_names("original or mutant", names, known, offer.lister)
    chosen = [m for m in offer.mutants if not names or m.original in names or m.name in names]

    def hunt(mutant: Mutant, cancel: threading.Event) -> Kill:
        return explorer.hunt(offer, mutant, strategies, memories, budget, cancel)

    def show(kill: Kill, _progress: Steps) -> None:
        if as_json:
            print_json({"schema": 1, **asdict(kill.mutant), **_kill_facts(kill)})

    kills = _do_all("hunting mutants", hunt, chosen, jobs, show)
    if not as_json:
        for kill in sorted(kills, key=lambda kill: kill.mutant.name):
            out.print(_kill(kill), soft_wrap=True)
        good = sum(kill.ok for kill in kills)
        out.print(f"{len(kills)} mutants, {good} rejected, {len(kills) - good} not")
    return all(kill.ok for kill in kills)


def _replay(offer: Offer, text: str) -> None:
    *names, seed = text.rsplit("/", 4)
    if len(names) != 4 or not (seed.isascii() and seed.isdigit()):
        raise UserError(f"--replay needs SUBJECT/CASE/STRATEGY/MEMORY/SEED, not '{text}'")
    # Compared by length first: Python refuses to read numbers of thousands of digits.
    digits = seed.lstrip("0") or "0"
    if len(digits) > len(str(LARGEST_SEED)) or int(digits) > LARGEST_SEED:
        raise UserError(f"--replay {text}: the seed {seed} is above {LARGEST_SEED}")
    known = (*offer.subjects, *(mutant.name for mutant in offer.mutants))
    check_names("subject", names[:1], known, offer.lister)
    again, account = explorer.replay(offer.program, Task(*names), int(digits))
    out.print(account.rstrip("\n"), soft_wrap=True)
    if again:
        raise typer.Exit(EXIT_FAILED)


def _finding(verdict: Verdict) -> str:
    task = verdict.task
    where = f"strategy={task.strategy} memory={task.memory} subject={task.subject} case={task.case}"
    if verdict.seed is None:
        return f"{verdict.status}: {where}: {verdict.what}"
    command = f"warpheap verify --replay {shlex.quote(verdict.replay())}"
    what = verdict.what.strip().replace("\n", "\n  ")
    return f"finding: seed={verdict.seed} {where}: {what}\n  replay: {command}"


def _facts(verdict: Verdict) -> dict[str, Any]:
    facts = {"status": verdict.status, "seed": verdict.seed, "what": verdict.what}
    counts = {"schedules": verdict.schedules, "schedules_per_second": verdict.per_second}
    return {**facts, **counts, "replay": verdict.replay() if verdict.seed is not None else None}


def _kill(kill: Kill) -> str:
    name = f"{kill.mutant.name} ({kill.mutant.about})"
    if kill.verdict is None:
        return f"SURVIVED  {name}: no case rejects it"
    what = (kill.verdict.what.splitlines() or [""])[0]
    how = f"{kill.verdict.task if kill.verdict.seed is None else kill.verdict.replay()}: {what}"
    if kill.replayed is False:
        return f"NOT AGAIN {name}: {how}; the replay does not find it"
    return f"rejected  {name} in {kill.wall_s:.1f} s by {how}"


def _kill_facts(kill: Kill) -> dict[str, Any]:
    found = _facts(kill.verdict) if kill.verdict else {"status": "survived"}
    return {"rejected": kill.ok, "replayed": kill.replayed, "hunt_s": kill.wall_s, **found}
