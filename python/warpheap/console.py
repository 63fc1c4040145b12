# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Consoles and progress: a live bar on a terminal, plain lines everywhere else.

A survey's runner shows its lines where rich is not installed, too: see bench/workloads/gpu_rows.py.
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text
except ModuleNotFoundError:
    HAS_RICH = False
else:
    HAS_RICH = True

# What is printed holds names of files and messages of programs: nothing in it is markup or an
# emoji, and no number in it is coloured. Styles are given as rich.text.Text or as ``style``.
_LITERAL: Any = {"markup": False, "emoji": False, "highlight": False}
if HAS_RICH:
    out = Console(**_LITERAL)
    err = Console(stderr=True, **_LITERAL)

PLAIN_INTERVAL_S = 2.0  # plain mode writes at most one line in it, none if all ends sooner
_BAR_COLUMNS = 24
_FIXED_COLUMNS = 76  # what the columns before the text of now() need


class Steps:
    """Counts finished steps and shows them; made by steps()."""

    def __init__(self, what: str, total: int, bar: Progress | None) -> None:
        self._what, self._total, self._bar = what, total, bar
        self._task = bar.add_task(what, total=total, now="") if bar else None
        self._done = 0
        self._last_line = time.monotonic()
        self._spoke = False

    def now(self, text: str) -> None:
        """Show the current action (terminal only)."""
        if self._bar is not None and self._task is not None:
            room = max(0, self._bar.console.width - _FIXED_COLUMNS)
            self._bar.update(self._task, now=text[:room])

    def advance(self, text: str = "") -> None:
        """Count one finished step; text says which."""
        self._done += 1
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)
            return
        due = time.monotonic() - self._last_line >= PLAIN_INTERVAL_S
        if due or (self._spoke and self._done == self._total):
            self._last_line, self._spoke = time.monotonic(), True
            self.note(f"{self._what} {self._done}/{self._total} {text}".rstrip())

    def note(self, text: str) -> None:
        """Print a line that stays."""
        if self._bar is not None:
            self._bar.console.print(text, soft_wrap=True)
        elif HAS_RICH:
            err.print(text, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)


@contextmanager
def steps(what: str, total: int) -> Iterator[Steps]:
    """Show the progress of ``total`` steps on standard error for as long as the context lasts."""
    if not (HAS_RICH and sys.stdout.isatty() and sys.stderr.isatty()):
        yield Steps(what, total, None)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(_BAR_COLUMNS),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[now]}", style="dim", markup=False),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        yield Steps(what, total, bar)


def complain(kind: str, message: str) -> None:
    """Print what is wrong, after the word for how bad it is, on standard error."""
    if HAS_RICH:
        err.print(Text.assemble((f"{kind}:", "bold red"), " ", message), soft_wrap=True)
    else:
        print(f"{kind}: {message}", file=sys.stderr, flush=True)


def warn(message: str) -> None:
    """Print what the user should know, while the work continues, on standard error."""
    complain("warning", message)


def print_any_text() -> None:
    """Let both streams take every string: what they cannot encode is printed as an escape.

    A file name that is not UTF-8 is such a string; its escapes are valid in JSON, too.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(value: Any) -> None:
    """Write one JSON document as one line to standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()
