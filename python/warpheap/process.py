# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one child program under a time limit, in a process group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

MAX_OUTPUT_BYTES = 4 * 1024 * 1024  # kept of each stream; a child that runs wild fills no memory
_POLL_S = 0.05
_GRACE_S = 0.5


@dataclass(frozen=True)
class Outcome:
    """How a child ended. ``returncode`` is negative when a signal ended it, as in subprocess."""

    stdout: str
    stderr: str
    returncode: int
    timed_out: bool
    wall_s: float

    def last_error_line(self) -> str:
        """Return the last line that the child wrote to standard error, or an empty string."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        return lines[-1] if lines else ""

    def death(self) -> str:
        """Describe an abnormal end: the signal or exit status, then the last line of stderr."""
        if self.returncode < 0:
            try:
                how = signal.Signals(-self.returncode).name
            except ValueError:
                how = f"signal {-self.returncode}"
        else:
            how = f"exit status {self.returncode}"
        return ": ".join(part for part in (how, self.last_error_line()) if part)


class CancelledError(Exception):
    """The run was aborted because the caller's cancel event was set."""


def run(
    command: Sequence[str | Path], time_limit_s: float, cancel: threading.Event | None = None
) -> Outcome:
    """Run a command until it ends and collect what it printed.

    After ``time_limit_s`` seconds the whole process group is killed. An interrupt kills it too, and
    so does ``cancel``, set by another thread, which raises CancelledError. Raises OSError if the
    program cannot be started.
    """
    start = time.monotonic()
    timed_out = False
    with subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        try:
            stdout, stderr = _Reader(child.stdout), _Reader(child.stderr)
            while True:
                left = start + time_limit_s - time.monotonic()
                try:
                    child.wait(timeout=max(0.0, min(left, _POLL_S) if cancel else left))
                    break
                except subprocess.TimeoutExpired:
                    if cancel is not None and cancel.is_set():
                        raise CancelledError from None
                    if time.monotonic() - start >= time_limit_s:
                        timed_out = True
                        _kill_group(child)
                        break
        except BaseException:
            _kill_group(child)
            raise
        wall = time.monotonic() - start
        if not (stdout.finish(_GRACE_S) and stderr.finish(_GRACE_S)):
            _signal_group(child, signal.SIGKILL)  # a grandchild still holds the pipe
            stdout.finish(_GRACE_S)
            stderr.finish(_GRACE_S)
        return Outcome(stdout.text(), stderr.text(), child.returncode, timed_out, wall)


@contextmanager
def terminate_as_interrupt() -> Iterator[None]:
    """Make SIGTERM and SIGHUP behave like Ctrl-C, so that children are ended before we are."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    # start_new_session made the child the leader, so its pid names the group.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Ask first, so that a program can release its device; kill it after the grace time."""
    _signal_group(child, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        child.wait(timeout=_GRACE_S)
    _signal_group(child, signal.SIGKILL)
    child.wait()


class _Reader:
    """Drains one pipe on a thread and keeps the first MAX_OUTPUT_BYTES of it."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        try:
            while data := os.read(self._pipe.fileno(), 65536):
                room = MAX_OUTPUT_BYTES - len(self._kept)
                self._kept += data[:room]
        except (OSError, ValueError):
            return  # run() has closed the pipe

    def finish(self, timeout_s: float) -> bool:
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def text(self) -> str:
        return self._kept.decode("utf-8", errors="replace")
