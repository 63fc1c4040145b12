# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile generated mutants with the explorer or with test programs, and run these."""

from __future__ import annotations

import math
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from includes import FOLDERS, ROOT
from switches import VARIABLE

_FLAGS = ["-std=c++20", "-DWARPHEAP_CPU", "-O1", "-g1", "-DNDEBUG", "-fstack-clash-protection"]
# An index behind an array ends the program: what lies there may not matter to any test.
_FLAGS += ["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"]
_FLAGS += ["-DWARPHEAP_TEST_SANITIZED=0", "-DWARPHEAP_TEST_VARIANTS=0"]
_INCLUDES = [f"-I{folder}" for folder in FOLDERS]
_TESTED = ("-UNDEBUG",)  # with preconditions, unlike the explorer: no request breaks them
# The explorer without its subjects.
HARNESS = sorted(
    source
    for source in (ROOT / "tests/verify").glob("*.cpp")
    if not source.name.endswith("_test.cpp")
)
RUNTIME = sorted((ROOT / "src/simt/cpu").glob("*.cpp"))
_TEST_KIB = 4 << 20  # a mutant may allocate without an end
_START_S = 60.0  # a program may take as long to start and to replay, beside its own time limit


@dataclass(frozen=True)
class Flavour:
    """How mutants are compiled: as they are, or with a sanitizer; and the limits of their tests."""

    name: str
    flags: tuple[str, ...]
    runtime: tuple[str, ...]
    limits: str = f" ulimit -d {_TEST_KIB};"
    slower: int = 1

    @property
    def tests(self) -> str:
        """Say what records call the tests that are compiled like this."""
        return "tests" if self.name == "plain" else f"{self.name}:tests"


_RUNTIME = ("-DWARPHEAP_RUNTIME_TSAN=0", "-DWARPHEAP_RUNTIME_ASAN=0")
PLAIN = Flavour("plain", (), _RUNTIME)
RACES = Flavour(
    "races",
    ("-fsanitize=thread", "-Wno-tsan"),
    ("-DWARPHEAP_RUNTIME_TSAN=1", "-DWARPHEAP_RUNTIME_ASAN=0", "-fno-sanitize=all"),
)
# As the preset cpu-asan has it. Its addresses are terabytes, so what counts is what is touched.
MEMORY = Flavour(
    "memory",
    (
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-fno-sanitize-undefined-trap-on-error",
        "-fno-omit-frame-pointer",
        "-O0",
        "-UWARPHEAP_TEST_SANITIZED",
        "-DWARPHEAP_TEST_SANITIZED=1",
    ),
    ("-DWARPHEAP_RUNTIME_TSAN=0", "-DWARPHEAP_RUNTIME_ASAN=1", "-fno-sanitize=all"),
    f" export ASAN_OPTIONS=hard_rss_limit_mb={_TEST_KIB >> 10};",
    5,
)


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant.

    Killed (by what), survived, stillborn (does not compile), or undecided: not ended in due time.
    """

    status: str
    by: str


class OutOfTimeError(Exception):
    """The time of the whole campaign is over."""


class Workshop:
    """A folder in which mutants are compiled. Threads may share it."""

    def __init__(self, folder: Path, end: float = math.inf, schedules: int = 1) -> None:
        """Make the folder.

        After `end` of the monotonic clock, every call raises OutOfTimeError. Explorations try up
        to `schedules` of each combination.
        """
        self._folder = folder
        self._end = end
        self._schedules = schedules
        folder.mkdir(parents=True, exist_ok=True)
        self._compiler = shlex.split(os.environ.get("CXX", "g++"))
        launcher = shlex.split(os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", ""))
        self._compile = [*launcher, *self._compiler]
        self._objects: dict[Path, threading.Lock] = {}
        self._made: set[Path] = set()
        self._lock = threading.Lock()

    @property
    def over(self) -> bool:
        """Tell whether time is up."""
        return time.monotonic() > self._end

    def stop(self) -> None:
        """Let the time be over now."""
        self._end = -math.inf

    def _run(
        self, command: list[str], seconds: float = math.inf, switch: int | None = None
    ) -> subprocess.CompletedProcess[bytes] | None:
        """Run a program; None if it takes longer than this many seconds."""
        if self.over:
            raise OutOfTimeError
        environment = {**os.environ, VARIABLE: str(switch)} if switch is not None else None
        latest = time.monotonic() + seconds
        # In a group of its own, to end what it has started as well.
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environment,
        ) as child:
            while True:
                try:
                    output, errors = child.communicate(timeout=0.5)
                    return subprocess.CompletedProcess(command, child.returncode, output, errors)
                except subprocess.TimeoutExpired:
                    if not self.over and time.monotonic() < latest:
                        continue
                    os.killpg(child.pid, signal.SIGKILL)
                if self.over:
                    raise OutOfTimeError
                return None

    def _limited(
        self, command: list[str], seconds: float, switch: int | None = None, limits: str = ""
    ) -> subprocess.CompletedProcess[bytes] | None:
        """Run a program for this many seconds of one core; None if it has not had them in due time.

        Seconds of the clock would let a busy machine reject mutants.
        """
        limited = ["sh", "-c", f'ulimit -t {math.ceil(seconds)};{limits} exec "$0" "$@"', *command]
        return self._run(limited, 20 * seconds, switch)

    def _must(self, command: list[str]) -> str:
        """Run a program that cannot fail unless something is broken here; its output."""
        done = self._run(command)
        assert done is not None
        if done.returncode != 0:
            sys.stderr.write(done.stderr.decode(errors="replace"))
            raise subprocess.CalledProcessError(done.returncode, command)
        return done.stdout.decode()

    def build(
        self,
        name: str,
        source: str,
        flavour: Flavour,
        others: list[str] | None = None,
        complain: Callable[[str], None] | None = None,
    ) -> Path | None:
        """Compile a translation unit of mutants and link it; None if it does not compile.

        It is linked with the explorer and with `others`, translation units of tests/. What the
        compiler says if it does not is given to `complain`.
        """
        text = self._folder / f"{name}.{flavour.name}.cpp"  # both flavours may be made at once
        text.write_text(source)
        program = self._folder / f"{name}.{flavour.name}"
        thing = program.with_suffix(f".{flavour.name}.o")
        command = [*self._compile, *_FLAGS, *flavour.flags, "-w", *_INCLUDES, "-c", str(text)]
        made = self._run([*command, "-o", str(thing)])
        text.unlink()
        if made is None or made.returncode != 0:
            if made is not None and complain:
                complain(made.stderr.decode(errors="replace"))
            return None
        rest = self.harness(flavour) + [self._other(path, flavour) for path in others or []]
        link = [*self._compiler, *flavour.flags, str(thing), *map(str, rest)]
        self._must([*link, "-lboost_context", "-lpthread", "-o", str(program)])
        thing.unlink()
        return program

    def prepare(
        self, pool: Executor, flavours: Iterable[Flavour], others: Iterable[str]
    ) -> list[Future[Any]]:
        """Let the pool compile all that mutants are linked with; what is to be waited for."""
        paths = sorted({"conformance/main.cpp", *others})
        work: list[Future[Any]] = []
        for flavour in flavours:
            work += [pool.submit(self._other, path, flavour) for path in paths]
            work += [pool.submit(self._own, source, flavour) for source in HARNESS]
            work += [pool.submit(self._runtime_part, source, flavour) for source in RUNTIME]
        return work

    def harness(self, flavour: Flavour) -> list[Path]:
        """Compile what every explorer has."""
        return [self._own(source, flavour) for source in HARNESS] + self._runtime(flavour)

    def _own(self, source: Path, flavour: Flavour) -> Path:
        return self._object(source, source.stem, ("-O0",), flavour)

    def _runtime(self, flavour: Flavour) -> list[Path]:
        return [self._runtime_part(source, flavour) for source in RUNTIME]

    def _runtime_part(self, source: Path, flavour: Flavour) -> Path:
        flags = (*flavour.runtime, "-O2")
        return self._object(source, source.stem, flags, flavour)

    def _other(self, path: str, flavour: Flavour) -> Path:
        return self._object(ROOT / "tests" / path, path.replace("/", "_"), (), flavour)

    def _object(self, source: Path, name: str, flags: tuple[str, ...], flavour: Flavour) -> Path:
        """Compile what does not change, once."""
        thing = self._folder / f"{name}.{flavour.name}.o"
        with self._lock:
            mine = self._objects.setdefault(thing, threading.Lock())
        with mine:
            if thing not in self._made:
                command = [*self._compile, *_FLAGS, *flavour.flags, *flags, *_INCLUDES]
                self._must([*command, "-c", str(source), "-o", str(thing)])
                self._made.add(thing)
        return thing

    def test_object(
        self,
        name: str,
        source: Path,
        headers: Path,
        complain: Callable[[str], None] | None = None,
        flavour: Flavour = PLAIN,
    ) -> Path | None:
        """Compile tests, or what they are linked with; None if it does not compile.

        What `headers` has stands in place of the project's headers.
        """
        thing = self._folder / f"{name}_{source.stem}.{flavour.name}.o"
        command = [*self._compile, *_FLAGS, *flavour.flags, *_TESTED, f"-I{headers}", *_INCLUDES]
        made = self._run([*command, "-w", "-c", str(source), "-o", str(thing)])
        if made is not None and made.returncode == 0:
            return thing
        if made is not None and complain:
            complain(made.stderr.decode(errors="replace"))
        return None

    def test_program(
        self,
        name: str,
        source: Path,
        headers: Path,
        complain: Callable[[str], None] | None = None,
        flavour: Flavour = PLAIN,
        parts: Iterable[Path] = (),
    ) -> Path | None:
        """Compile and link tests; None if they do not compile, or need more than these parts.

        What `headers` has stands in place of the project's headers.
        """
        thing = self.test_object(name, source, headers, complain, flavour)
        if thing is None:
            return None
        rest = [*parts, *self._runtime(flavour)]
        if source.name == "conformance.cpp":
            rest.append(self._other("conformance/main.cpp", flavour))
        main = [] if source.name == "conformance.cpp" else ["-lgtest_main"]
        program = self._folder / f"{name}_{source.stem}.{flavour.name}"
        link = [*self._compiler, *flavour.flags, str(thing), *map(str, rest), *main, "-lgtest"]
        linked = self._run([*link, "-lboost_context", "-lpthread", "-o", str(program)])
        thing.unlink()
        # A test that is made of more than that says nothing, and must not end everything.
        return program if linked is not None and linked.returncode == 0 else None

    def part(self, source: Path, flavour: Flavour) -> Path:
        """Compile what tests are linked with, once, with the project's headers."""
        name = "part_" + str(source.relative_to(ROOT)).replace("/", "_")
        return self._object(source, name, _TESTED, flavour)

    def run_tests(
        self,
        program: Path,
        seconds: float,
        *options: str,
        switch: int | None = None,
        flavour: Flavour = PLAIN,
    ) -> Verdict:
        """Run a test program: killed if a test fails, or if it crashes or has not finished."""
        seconds *= flavour.slower
        command = [str(program), "--gtest_brief=1", "--gtest_fail_fast", *options]
        done = self._limited(command, seconds, switch, flavour.limits)
        if done is None:
            return Verdict("undecided", "")
        if done.returncode == -signal.SIGXCPU:
            return Verdict("killed", f"tests: no end after {seconds:g} s of one core")
        if done.returncode == 0:
            return Verdict("survived", "")
        output = done.stdout.decode(errors="replace")
        failed = re.search(r"\[  FAILED  \] (\S+)", output)
        said = re.search(r"SUMMARY: (.*)", done.stderr.decode(errors="replace"))
        by = failed or said
        return self._killed(f"tests: {by[1] if by else f'exit {done.returncode}'}")

    def _killed(self, by: str) -> Verdict:
        """Say by what, with no path of this machine: records are read on others."""
        for folder in (self._folder.resolve(), self._folder.absolute(), ROOT):
            by = by.replace(f"{folder}/", "")
        return Verdict("killed", by)

    def explore(
        self, program: Path, mutant: str, seconds: float, switch: int | None = None
    ) -> Verdict:
        """Explore one mutant of a program in every case, strategy and memory."""
        command = [str(program), "mutants", "--subject", f"mutant:{mutant}"]
        command += ["--schedules", str(self._schedules), "--seconds", f"{seconds:g}"]
        done = self._limited(command, seconds + _START_S, switch)
        if done is None:
            return Verdict("undecided", "")
        output = done.stdout.decode(errors="replace")
        line = next((one for one in output.splitlines() if f"mutant:{mutant} " in one), "")
        if done.returncode == 0:
            return self._killed(" ".join(line.split()[2:]))
        if done.returncode == 1 and line.startswith("NOT AGAIN"):
            return self._killed("not again in a replay: " + " ".join(line.split()[3:]))
        if done.returncode == 1 and line.startswith("SURVIVED"):
            return Verdict("survived", "")
        if done.returncode == -signal.SIGXCPU or f"signal {signal.SIGXCPU:d}" in line:
            return self._killed(f"no end after {seconds + _START_S:g} s of one core")
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
        return self._killed(f"exit code {done.returncode}: {last[0]}")
