# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures: a folder of fake programs, and the command line in a process of its own."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FAKE_DIGITS = "c0ffee00"  # in the commit of the fakes
SOURCE = HERE.parent.parent / "python"

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., AbstractContextManager[subprocess.Popen[str]]]


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Let children be interrupted also when a shell runs the tests in the background.

    It makes them ignore SIGINT, and children inherit that, but not a handler.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def fake_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a build folder whose programs are the fakes."""
    folder = tmp_path_factory.mktemp("build")
    for name, source in (
        ("warpheap-bench-cpu", "fake_bench.py"),
        ("warpheap-bench-cuda", "fake_bench.py"),
        ("warpheap-verify", "fake_verify.py"),
    ):
        # The interpreter is named in full: PATH may hold none, or another one.
        text = (HERE / source).read_text().split("\n", 1)[1]
        (folder / name).write_text(f"#!{sys.executable} -S\n{text}")
        (folder / name).chmod(0o755)
        content = (folder / name).read_bytes()
        record = f"{hashlib.sha256(content).hexdigest()} v0.1.0.{FAKE_DIGITS}\n"
        (folder / f"{name}.revision").write_text(record)
    return folder


@pytest.fixture
def environment(fake_build: Path) -> dict[str, str]:
    """Return the environment in which the tool finds the fakes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FAKE_")}
    extra = {"WARPHEAP_BUILD": str(fake_build), "PYTHONPATH": str(SOURCE), "COLUMNS": "200"}
    # The checkout may belong to another user than the tests'.
    trust = {"GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    return kept | extra | trust | {"GIT_CONFIG_COUNT": "1"}


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Run the tool in an empty folder; keyword arguments are environment variables."""

    def call(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [sys.executable, "-m", "warpheap", *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            env=environment | variables,
            cwd=tmp_path,
            check=False,
        )
        assert "Traceback" not in result.stdout + result.stderr
        return result

    return call


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Start:
    """Start the tool as `run` does, to be interrupted; its output can be read in the end."""

    def call(*arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "warpheap", *arguments],
            env=environment | variables,
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    return call


@pytest.fixture
def graph_folder(tmp_path: Path) -> Path:
    """Copy the shipped graphs into a folder that a test may change."""
    folder = tmp_path / "graphs"
    folder.mkdir()
    for file in (SOURCE / "warpheap" / "data").glob("*.mtx"):
        shutil.copy(file, folder)
    return folder
