#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make mutants of the headers by itself, and report those that nothing rejects.

Every header that a profile of the mutants' tables names, or that a unit test has, is searched for
places where one mistake can be made (faults.py). Each mistake becomes a mutant, compiled with
others in one translation unit, and goes through stages (stages.py) until something rejects it: the
explorer in the profiles that have its header, in sequentially consistent and weak memory, plain and
under ThreadSanitizer, and the unit tests and the conformance suite beside the header's own tests
(suites.py); what survives all of that meets these once more under AddressSanitizer. Mutants of
headers without a profile meet the unit tests that have their code; generated.py says of which
headers none are made, and why. All mutants go through their first stage, then the living through
their second, and so on, in an order drawn by --seed; those that the run of --resume began come
before the others. What rejects a mutant is believed if it lets the headers as they are pass.
Survivors that equivalent.toml knows to be equivalent, each with its argument, are counted apart.

With --again, the mutants are those of an earlier run, on whatever headers that was, and each meets
first what killed it there.

Each verdict is in the file of --json at once. A mutant that the time of --minutes did not suffice
for is `open` there; a later run with --resume goes on with its next stage.

Exit status: 0 unless a mutant survives that is not known to be equivalent.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
import os
import random
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

import mutate
from generated import Mutant, all_mutants, control, source_of
from records import Controls, RecordError, Records, drawn_before, keys_in, read, row_of
from report import report
from stages import Stage, before, next_stage
from suites import Suites
from switchboard import Switchboard
from workshop import PLAIN, RACES, ROOT, Flavour, OutOfTimeError, Verdict, Workshop

_MOST_TOGETHER = 6  # mutants of a translation unit, which one thread judges one after the other
_GROUPS_A_JOB = 4  # so that no thread is left alone with many at the end


class Hunt:
    """Goes through the mutants with a budget for each."""

    def __init__(
        self, table: dict[str, Any], options: Any, records: Records, controls: Controls
    ) -> None:
        """Take the limits from the command line."""
        self._profiles = table["profile"]
        minutes = options.minutes or math.inf
        end = time.monotonic() + 60 * minutes
        self._workshop = Workshop(options.work, end, options.schedules)
        self._options = options
        self._control_seconds = 0.2 * options.seconds
        self._records = records
        self._controls = controls
        self._without = [
            name
            for name, off in (
                ("tests", options.without_tests),
                ("memory", options.without_tests or options.without_memory),
                ("races", options.without_races),
            )
            if off
        ]

    def run(self, mutants: list[Mutant]) -> None:
        """Judge the mutants until time is up."""
        due = [m for m in mutants if not self.done(m)]
        if self._options.without_equivalent:
            due = [m for m in due if not m.why_equivalent]
        # Fewer mutants, fewer layers: each is a program for each profile and flavour.
        self._switchboard = Switchboard(due, self._workshop, self._options.work)
        self._suites = Suites(
            self._workshop,
            self._options.work,
            self._options.test_seconds,
            self._controls,
            self._switchboard,
        )
        jobs = self._options.jobs
        copies = [m for m in due if self._gains_by_company(m)]
        together = min(_MOST_TOGETHER, max(1, len(copies) // (_GROUPS_A_JOB * jobs)))
        begun = [m for m in due if m.tried]
        fresh = [m for m in due if not m.tried]
        parts = [
            [[m] for m in part if not self._gains_by_company(m)]
            + list(_batches([m for m in part if self._gains_by_company(m)], 0, together))
            for part in (begun, fresh)
        ]
        for groups in parts:
            random.Random(self._options.seed).shuffle(groups)
        with ThreadPoolExecutor(jobs) as pool:
            try:
                prepared = self._prepare(pool, due)
                self._go_through(pool, jobs, parts)
                for one in prepared:
                    one.result()
            except OutOfTimeError:
                pass
            finally:
                self._workshop.stop()
                pool.shutdown(wait=True, cancel_futures=True)

    def _gains_by_company(self, mutant: Mutant) -> bool:
        """Tell whether the explorer meets it in a program of its own copy of the headers.

        Such copies share a program; switches do in any case.
        """
        return bool(mutant.profiles) and self._switchboard.layer(mutant) is None

    def _prepare(self, pool: ThreadPoolExecutor, mutants: list[Mutant]) -> list[Future[Any]]:
        """Let the pool compile what mutants meet next, so that few of them wait for one program."""
        used = {profile for mutant in mutants for profile in mutant.profiles}
        others = {path for name in used for path in self._profiles[name].get("sources", [])}
        flavours = [PLAIN] if "races" in self._without else [PLAIN, RACES]
        flavours = flavours if used else []  # nothing to explore
        work = self._workshop.prepare(pool, flavours, others)
        explorers: set[tuple[str, int, Flavour]] = set()
        tests: set[tuple[Path, int, Flavour]] = set()
        for mutant in mutants:
            layer, stage = self._switchboard.layer(mutant), self._next(mutant)
            if layer is None or stage is None:
                continue
            if not stage.tests:
                explorers.add((mutant.profiles[stage.attempt], layer, stage.flavour))
            else:
                found = self._suites.first_to_last(mutant)
                # What is likely to kill it is compiled now, the rest when it has not.
                found = found[: 1 if before(mutant) else None]
                tests.update((source, layer, stage.flavour) for source in found)
        for name, layer, flavour in explorers:
            how = self._profiles[name]
            work.append(pool.submit(self._switchboard.explorer, name, how, layer, flavour))
        return work + [pool.submit(self._suites.prepare, *which) for which in tests]

    def _go_through(
        self, pool: ThreadPoolExecutor, jobs: int, parts: list[list[list[Mutant]]]
    ) -> None:
        """Take the groups of each part through a stage, then through the next.

        A later part has the threads that the earlier ones leave.
        """
        turn = itertools.count()
        waiting = [(which, next(turn), group) for which, part in enumerate(parts) for group in part]
        running: dict[Future[list[Mutant]], int] = {}
        while waiting or running:
            while waiting and len(running) < jobs:
                which, _, group = heapq.heappop(waiting)
                running[pool.submit(self._step, group)] = which
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                which, group = running.pop(future), future.result()
                if group and not self._workshop.over:
                    heapq.heappush(waiting, (which, next(turn), group))

    def done(self, mutant: Mutant) -> bool:
        """Tell whether nothing is left to try."""
        return self._next(mutant) is None

    def _next(self, mutant: Mutant) -> Stage | None:
        return next_stage(mutant, self._options.seconds, self._without)

    def _step(self, group: list[Mutant]) -> list[Mutant]:
        """Take those of a group that are due through a stage; those with another one left."""
        if self._workshop.over:
            return []
        # Those that an earlier run did not come to are behind the others.
        due = min(group, key=lambda mutant: len(mutant.tried))
        stage = self._next(due)
        assert stage is not None
        same = [mutant for mutant in group if self._next(mutant) == stage]
        try:
            if stage.tests:
                self._test(same, stage)
            else:
                for batch in _batches(same, stage.attempt):
                    self._explore(batch[0].profiles[stage.attempt], batch, stage)
        except OutOfTimeError:
            return []
        return [mutant for mutant in group if not self.done(mutant)]

    def _judged(self, mutant: Mutant, stage: Stage, verdict: Verdict) -> None:
        mutant.tried.append(stage.label(mutant, self._options.seconds))
        mutant.verdict = verdict
        done = self.done(mutant)
        self._records.write(row_of(mutant, done))
        if done:
            print(f"{'survived' if mutant.lives else verdict.status:9} {mutant}  {verdict.by}")
            sys.stdout.flush()

    def _test(self, group: list[Mutant], stage: Stage) -> None:
        for mutant in group:
            self._judged(mutant, stage, self._suites.judge(mutant, stage.flavour))

    def _explore(self, profile: str, batch: list[Mutant], stage: Stage) -> None:
        alone, flavour = [], stage.flavour
        for mutant in batch:
            layer = self._switchboard.layer(mutant)
            how = self._profiles[profile]
            if layer is None:
                alone.append(mutant)
                continue
            program, subject = self._switchboard.explorer(profile, how, layer, flavour)
            if program is None:
                alone.append(mutant)
                continue
            switch = int(mutant.name[1:])
            seconds = stage.share * self._options.seconds
            verdict = self._workshop.explore(program, subject, seconds, switch)
            unchanged = partial(self._workshop.explore, program, subject, self._control_seconds)
            self._judged(mutant, stage, self._believed(verdict, profile, flavour, unchanged))
        if alone:
            self._explore_copies(profile, alone, stage)

    def _believed(
        self, verdict: Verdict, profile: str, flavour: Flavour, unchanged: Callable[[], Verdict]
    ) -> Verdict:
        """Return a verdict, but undecided if the headers as they are would be rejected, too."""
        if verdict.status not in ("killed", "stillborn"):
            return verdict
        passes = self._controls.passes(f"{flavour.name}:{profile}", unchanged)
        return verdict if passes else Verdict("undecided", "")

    def _explore_copies(self, profile: str, batch: list[Mutant], stage: Stage) -> None:
        flavour = stage.flavour
        name = f"{profile}_{batch[0].name}_{len(batch)}"
        unchanged = partial(self._explore_unchanged, profile, flavour)
        program = self._build(profile, name, batch, flavour)
        if program is None:
            if len(batch) == 1:
                verdict = self._believed(Verdict("stillborn", ""), profile, flavour, unchanged)
                self._judged(batch[0], stage, verdict)
                return
            # One of them does not compile: halves find it.
            half = len(batch) // 2
            self._explore_copies(profile, batch[:half], stage)
            self._explore_copies(profile, batch[half:], stage)
            return
        try:
            for mutant in batch:
                seconds = stage.share * self._options.seconds
                verdict = self._workshop.explore(program, mutant.name, seconds)
                self._judged(mutant, stage, self._believed(verdict, profile, flavour, unchanged))
        finally:
            program.unlink()

    def _build(self, profile: str, name: str, batch: list[Mutant], flavour: Flavour) -> Path | None:
        how = self._profiles[profile]
        return self._workshop.build(name, source_of(batch, how), flavour, how.get("sources", []))

    def _explore_unchanged(self, profile: str, flavour: Flavour) -> Verdict:
        unchanged = control(profile, self._profiles[profile])
        name = f"control_{flavour.name}_{profile}"
        program = self._build(profile, name, [unchanged], flavour)
        if program is None:
            return Verdict("stillborn", "")
        try:
            return self._workshop.explore(program, unchanged.name, self._control_seconds)
        finally:
            program.unlink()


def _batches(
    mutants: list[Mutant], attempt: int = 0, together: int = _MOST_TOGETHER
) -> Iterator[list[Mutant]]:
    """Cut mutants into those that one program can have and that have the same stages."""
    alike: dict[tuple[str, bool], list[Mutant]] = {}
    for mutant in mutants:
        key = mutant.profiles[attempt], mutant.fault.kind == "order"
        alike.setdefault(key, []).append(mutant)
    for group in alike.values():
        for start in range(0, len(group), together):
            yield group[start : start + together]


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--header", action="append", default=[], help="only paths with this text")
    parser.add_argument(
        "--kind", action="append", default=[], help="order, boundary, lost, swapped"
    )
    parser.add_argument("--sample", type=int, help="the number of mutants, drawn by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schedules", type=int, default=20_000, help="of each combination")
    parser.add_argument("--seconds", type=float, default=20, help="of a mutant's longest stages")
    parser.add_argument("--test-seconds", type=float, default=60, help="for a test program")
    parser.add_argument("--minutes", type=float, help="stop after this many minutes")
    parser.add_argument("--without-tests", action="store_true", help="only the explorer")
    parser.add_argument("--without-races", action="store_true", help="no ThreadSanitizer")
    parser.add_argument("--without-memory", action="store_true", help="no AddressSanitizer")
    known = parser.add_mutually_exclusive_group()
    known.add_argument(
        "--without-equivalent", action="store_true", help="believe equivalent.toml, run the others"
    )
    known.add_argument(
        "--only-equivalent", action="store_true", help="doubt equivalent.toml, run no others"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutation", help="for objects")
    parser.add_argument("--json", type=Path, help="where to write all verdicts")
    parser.add_argument("--resume", type=Path, help="such a file of an earlier run of the same")
    parser.add_argument(
        "--same", action="store_true", help="the mutants of the file of --resume, and no others"
    )
    parser.add_argument(
        "--again", type=Path, help="such a file: its mutants from the start, first what killed them"
    )
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    options = parser.parse_args()
    try:
        table = mutate.read_table(*mutate.table_files())
        mutants = all_mutants(table)
        if options.again:
            mutants = drawn_before(options.again, mutants)
    except (mutate.TableError, RecordError, OSError, KeyError, tomllib.TOMLDecodeError) as error:
        print(f"campaign.py: {error}", file=sys.stderr)
        return 2
    chosen = [
        m
        for m in mutants
        if (not options.header or any(text in m.header for text in options.header))
        and (not options.kind or m.fault.kind in options.kind)
        and (m.profiles or not options.without_tests)
        and (m.why_equivalent or not options.only_equivalent)
    ]
    if options.sample is not None and options.sample < len(chosen):
        drawn = random.Random(options.seed).sample(range(len(chosen)), options.sample)
        chosen = [chosen[i] for i in sorted(drawn)]
    try:
        if options.same and options.resume:
            known = keys_in(options.resume)
            chosen = [m for m in chosen if m.key in known]
    except (RecordError, OSError) as error:
        print(f"campaign.py: {error}", file=sys.stderr)
        return 2
    if options.list or not chosen:
        for mutant in chosen:
            print(f"{mutant.name} {mutant}")
        print(f"{len(chosen)} mutants")
        return 0 if chosen else 2
    start = time.monotonic()
    try:
        controls_known = read(options.resume, chosen) if options.resume else {}
        records = Records(options.json)
    except (RecordError, OSError) as error:
        print(f"campaign.py: {error}", file=sys.stderr)
        return 2
    controls = Controls(records, controls_known)
    hunt = Hunt(table, options, records, controls)
    for mutant in chosen:
        if mutant.tried:
            records.write(row_of(mutant, hunt.done(mutant)))
    # So that `timeout` ends what has been started as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    hunt.run(chosen)
    for name in controls.failed:
        print(f"NOT BELIEVED  {name}: it rejects the headers as they are")
    left = [mutant for mutant in chosen if not hunt.done(mutant)]
    return report(chosen, left, (time.monotonic() - start) / 60)


if __name__ == "__main__":
    sys.exit(main())
