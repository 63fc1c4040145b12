# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a plan: one process per measurement, every row on disk before the next one starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warpheap import process, programs
from warpheap.console import steps
from warpheap.errors import EXIT_INTERRUPTED, UserError
from warpheap.measure import Measurement, measure
from warpheap.results import GOOD, Store


@dataclass(frozen=True)
class Done:
    """What a survey did: the rows of the plan in its order, and how many of them are new."""

    rows: list[dict[str, Any]]
    measured: int

    def statuses(self) -> Counter[str]:
        """Count the rows of each status."""
        return Counter(row["status"] for row in self.rows)


def run(plan: Sequence[Measurement], store: Store, time_limit_s: float, retry: bool) -> Done:
    """Measure what the store does not have yet for the current commit.

    An interrupt ends the running child, keeps all finished rows and raises UserError that says how
    to go on.
    """
    finished = {row for row in store.finished(retry) if programs.is_known(row[1])}
    todo = [wanted for wanted in plan if _identity(wanted) not in finished]
    measured = 0
    try:
        with process.terminate_as_interrupt(), steps("measuring", len(todo)) as progress:
            if len(todo) < len(plan):
                there = len(plan) - len(todo)
                progress.note(f"{there} of {len(plan)} measurements exist already")
            for wanted in todo:
                progress.now(wanted.label())
                row = measure(wanted, time_limit_s)
                store.append(row)
                measured += 1
                if row["status"] not in GOOD:
                    progress.note(f"{row['status']}: {wanted.label()}: {row['reason']}")
                progress.advance(wanted.label())
    except KeyboardInterrupt:
        raise UserError(
            f"interrupted after {measured} of {len(todo)} measurements; all of them are in "
            f"{store.path}. The same command continues where this one stopped.",
            EXIT_INTERRUPTED,
        ) from None
    last = {(row.get("key"), row.get("commit")): row for row in store.rows}
    return Done([last[_identity(wanted)] for wanted in plan], measured)


def _identity(wanted: Measurement) -> tuple[str, str]:
    return wanted.key(), wanted.catalog.commit
