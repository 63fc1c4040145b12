# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile generated mutants with the explorer or with test programs, and run these."""

from __future__ import annotations

import math
import os
import re
import shlex
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FLAGS = ["-std=c++20", "-DWARPHEAP_CPU", "-O1", "-g1", "-DNDEBUG", "-fstack-clash-protection"]
_FLAGS += ["-DWARPHEAP_TEST_SANITIZED=0"]
_INCLUDES = [
    f"-I{ROOT / folder}" for folder in ("include", "tests", "tests/verify", "tests/support")
]
# The explorer without its subjects.
HARNESS = sorted(
    source
    for source in (ROOT / "tests/verify").glob("*.cpp")
    if not source.name.endswith("_test.cpp")
)
_START_S = 60.0  # a program may take as long to start and to replay, beside its own time limit


@dataclass(frozen=True)
class Flavour:
    """How mutants are compiled: as they are, or with ThreadSanitizer."""

    name: str
    flags: tuple[str, ...]
    runtime: tuple[str, ...]


PLAIN = Flavour("plain", (), ("-DWARPHEAP_RUNTIME_TSAN=0",))
RACES = Flavour(
    "races", ("-fsanitize=thread", "-Wno-tsan"), ("-DWARPHEAP_RUNTIME_TSAN=1", "-fno-sanitize=all")
)


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant.

    Killed (by what), survived, stillborn (does not compile), or undecided: not ended in due time.
    """

    status: str
    by: str


def _limited(command: list[str], seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    """Run a program for so many seconds of one core; None if it has not had them in due time.

    Seconds of the clock would let a busy machine reject mutants.
    """
    limited = ["sh", "-c", f'ulimit -t {math.ceil(seconds)}; exec "$0" "$@"', *command]
    try:
        return subprocess.run(limited, capture_output=True, timeout=20 * seconds, check=False)
    except subprocess.TimeoutExpired:
        return None


class Workshop:
    """A folder in which mutants are compiled. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        """Make the folder; the explorer's own objects in it are kept from run to run."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._compiler = shlex.split(os.environ.get("CXX", "g++"))
        launcher = shlex.split(os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", ""))
        self._compile = [*launcher, *self._compiler]
        self._harness: dict[str, list[Path]] = {}
        self._runtimes: dict[str, list[Path]] = {}
        self._others: dict[tuple[str, str], Path] = {}
        self._lock = threading.Lock()

    def build(
        self, name: str, source: str, flavour: Flavour, others: list[str] | None = None
    ) -> Path | None:
        """Compile a translation unit of mutants and link it; None if it does not compile.

        It is linked with the explorer and with `others`, translation units of tests/.
        """
        text = self._folder / f"{name}.cpp"
        text.write_text(source)
        program = self._folder / f"{name}.{flavour.name}"
        thing = program.with_suffix(f".{flavour.name}.o")
        command = [*self._compile, *_FLAGS, *flavour.flags, "-w", *_INCLUDES, "-c", str(text)]
        made = subprocess.run([*command, "-o", str(thing)], capture_output=True, check=False)
        if made.returncode != 0:
            return None
        rest = self.harness(flavour) + [self._other(path, flavour) for path in others or []]
        link = [*self._compiler, *flavour.flags, str(thing), *map(str, rest)]
        subprocess.run([*link, "-lboost_context", "-lpthread", "-o", str(program)], check=True)
        thing.unlink()
        return program

    def harness(self, flavour: Flavour) -> list[Path]:
        """Compile what every program has, once."""
        with self._lock:
            if flavour.name not in self._harness:
                self._harness[flavour.name] = self._make_harness(flavour)
            return self._harness[flavour.name]

    def _make_harness(self, flavour: Flavour) -> list[Path]:
        own = [self._object(source, source.stem, ("-O0",), flavour) for source in HARNESS]
        return own + self._make_runtime(flavour)

    def _make_runtime(self, flavour: Flavour) -> list[Path]:
        flags = (*flavour.runtime, "-O2", "-DWARPHEAP_RUNTIME_ASAN=0")
        sources = sorted((ROOT / "src/simt/cpu").glob("*.cpp"))
        self._runtimes[flavour.name] = [
            self._object(source, source.stem, flags, flavour) for source in sources
        ]
        return self._runtimes[flavour.name]

    def _runtime(self, flavour: Flavour) -> list[Path]:
        self.harness(flavour)
        return self._runtimes[flavour.name]

    def _other(self, path: str, flavour: Flavour) -> Path:
        with self._lock:
            if (path, flavour.name) not in self._others:
                name = path.replace("/", "_")
                thing = self._object(ROOT / "tests" / path, name, (), flavour)
                self._others[path, flavour.name] = thing
            return self._others[path, flavour.name]

    def _object(self, source: Path, name: str, flags: tuple[str, ...], flavour: Flavour) -> Path:
        thing = self._folder / f"{name}.{flavour.name}.o"
        command = [*self._compile, *_FLAGS, *flavour.flags, *flags, *_INCLUDES]
        subprocess.run([*command, "-c", str(source), "-o", str(thing)], check=True)
        return thing

    def test_program(self, name: str, sources: list[Path], headers: Path) -> Path | None:
        """Compile and link tests; None if they do not compile.

        What `headers` has stands in place of the project's headers.
        """
        main = (
            [] if any(source.name == "conformance.cpp" for source in sources) else ["-lgtest_main"]
        )
        objects = []
        for source in sources:
            thing = self._folder / f"{name}_{source.stem}.o"
            command = [*self._compile, *_FLAGS, f"-I{headers}", *_INCLUDES]
            command += ["-w", "-c", str(source), "-o", str(thing)]
            if subprocess.run(command, capture_output=True, check=False).returncode != 0:
                return None
            objects.append(str(thing))
        if not main:
            objects.append(str(self._other("conformance/main.cpp", PLAIN)))
        program = self._folder / f"{name}_{sources[0].stem}"
        link = [*self._compiler, *objects, *map(str, self._runtime(PLAIN)), *main, "-lgtest"]
        subprocess.run([*link, "-lboost_context", "-lpthread", "-o", str(program)], check=True)
        for made in objects[: len(sources)]:
            Path(made).unlink()
        return program

    def includes(self, source: Path) -> set[str]:
        """Tell which headers of the project a source includes, as paths in include/warpheap."""
        command = [*self._compiler, *_FLAGS, *_INCLUDES, "-MM", str(source)]
        made = subprocess.run(command, capture_output=True, check=True, text=True)
        inside = str(ROOT / "include/warpheap") + "/"
        return {word.removeprefix(inside) for word in made.stdout.split() if inside in word}

    @staticmethod
    def run_tests(program: Path, seconds: float, *options: str) -> Verdict:
        """Run a test program: killed if a test fails, or if it crashes or has not finished."""
        command = [str(program), "--gtest_brief=1", "--gtest_fail_fast", *options]
        done = _limited(command, seconds)
        if done is None:
            return Verdict("undecided", "")
        if done.returncode == -signal.SIGXCPU:
            return Verdict("killed", f"tests: no end after {seconds:g} s of one core")
        if done.returncode == 0:
            return Verdict("survived", "")
        output = done.stdout.decode(errors="replace")
        failed = re.search(r"\[  FAILED  \] (\S+)", output)
        return Verdict("killed", f"tests: {failed[1] if failed else f'exit {done.returncode}'}")

    @staticmethod
    def explore(program: Path, mutant: str, schedules: int, seconds: float) -> Verdict:
        """Explore one mutant of a program in every case, strategy and memory."""
        command = [str(program), "mutants", "--subject", f"mutant:{mutant}"]
        command += ["--schedules", str(schedules), "--seconds", f"{seconds:g}"]
        done = _limited(command, seconds + _START_S)
        if done is None:
            return Verdict("undecided", "")
        output = done.stdout.decode(errors="replace")
        line = next((one for one in output.splitlines() if f"mutant:{mutant} " in one), "")
        if done.returncode == 0:
            return Verdict("killed", " ".join(line.split()[2:]))
        if done.returncode == 1 and line.startswith("NOT AGAIN"):
            return Verdict("killed", "not again in a replay: " + " ".join(line.split()[3:]))
        if done.returncode == 1 and line.startswith("SURVIVED"):
            return Verdict("survived", "")
        if done.returncode == -signal.SIGXCPU or f"signal {signal.SIGXCPU:d}" in line:
            return Verdict("killed", f"no end after {seconds + _START_S:g} s of one core")
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
        return Verdict("killed", f"exit code {done.returncode}: {last[0]}")
