# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``bench/pools/gpu_check.py``: which runs of a framework's program it counts, and what it says."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from warpheap import results, row_fields
from warpheap.process import Outcome
from warpheap.traces import replay

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "numba_program"
Row = dict[str, Any]
Measure = Callable[..., list[Row]]


class Machine:
    """Programs whose runs take the given seconds, or end as given."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.seconds: dict[str, list[float]] = {}
        self.digests: dict[str, str] = {}
        self.broken = ""

    def run(self, command: Sequence[str | Path], _limit: float) -> Outcome:
        """Run the import of the framework, or one program."""
        if "-c" in command:
            return Outcome("", "", 0, False, 0.0)
        name = str(command[2])
        self.ran.append(name)
        if name == self.broken:
            return Outcome("", "no memory\n", 1, False, 0.0)
        row = {"seconds": self.seconds[name].pop(0), "digest": self.digests.get(name, "same")}
        return Outcome(json.dumps(row) + "\n", "", 0, False, 0.0)


@pytest.fixture
def machine() -> Machine:
    """Make a machine on which nothing has run."""
    return Machine()


@pytest.fixture
def script() -> ModuleType:
    """Load the script."""
    spec = importlib.util.spec_from_file_location("gpu_check", ROOT / "bench/pools/gpu_check.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def measure(
    script: ModuleType, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Measure:
    """Return the function that measures the program and returns the rows."""
    monkeypatch.setattr(script.process, "run", machine.run)
    monkeypatch.setenv("PYTHONPATH", "")

    def run(rounds: int, seconds: float = 60.0) -> list[Row]:
        check = script.Check(tmp_path, seconds, {"commit": "abc", "device": "a GPU"})
        script.programs(check, None, [PROGRAM], rounds)
        return [json.loads(line) for line in (tmp_path / "pools.jsonl").read_text().splitlines()]

    return run


def test_published_rows_are_described_as_the_script_says(script: ModuleType) -> None:
    """What it measures, and the replays, which any program describes as the tool does."""
    file = ROOT / "results" / row_fields.FILE_NAME
    written = row_fields.find(file)
    for said in (script.DESCRIBED, replay.DESCRIBED):
        for name, field in said.fields.items():
            assert written.fields[name] == field, f"{file}: publish rows of this commit"
        for name, case in said.cases.items():
            assert written.cases[name] == case, f"{file}: publish rows of this commit"
    # What says where a row is from is of no case.
    anywhere = {
        n for n, field in written.fields.items() if field.always or field.role == "identity"
    }
    for name in ("program", "framework", replay.CASE):
        case = written.cases[name]
        told = {*anywhere, *case.fields, *case.parameters}
        files = list((ROOT / "results").glob(f"*/{name}/*.jsonl"))
        assert files
        for rows in files:
            for row in results.read(rows):
                assert not set(row) - told, rows


def test_rows_are_described_beside_them(script: ModuleType, tmp_path: Path) -> None:
    library = tmp_path / "src/libwarpheap_c.so"
    library.parent.mkdir()
    library.touch()
    words = [str(tmp_path / "out"), "--build", str(tmp_path), "--seconds", "0"]
    command = [sys.executable, script.__file__, *words, "--parts", "latencies"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # The time is up.
    assert done.returncode == 1
    assert done.stdout.endswith("s] nothing was measured\n")
    known = row_fields.find(tmp_path / "out/pools.jsonl")
    assert set(known.cases) == {"program", "framework", replay.CASE}


def of(rows: list[Row], case: str, manager: str) -> Row:
    """Find the one row of a case and a manager."""
    (row,) = [row for row in rows if (row["case"], row.get("manager")) == (case, manager)]
    return row


def test_the_first_native_run_does_not_count(machine: Machine, measure: Measure) -> None:
    # It fills the caches: 50 s must show nowhere.
    machine.seconds = {"native": [50.0, 2.0], "tlsf": [1.0], "segregated_fit": [3.0]}
    rows = measure(rounds=1)
    assert machine.ran == ["native", "native", "tlsf", "segregated_fit"]
    assert all(row["device"] == "a GPU" and row["commit"] == "abc" for row in rows)
    assert of(rows, "program", "native")["seconds_of_runs"] == [2.0]
    assert of(rows, "framework", "tlsf")["seconds_over_native"] == 0.5
    assert of(rows, "framework", "segregated_fit")["seconds_over_native"] == 1.5


def test_rounds_take_turns_and_the_medians_are_told(machine: Machine, measure: Measure) -> None:
    machine.seconds = {
        "native": [9.0, 1.0, 2.0, 4.0],
        "tlsf": [1.0, 1.0, 8.0],
        "segregated_fit": [1.0] * 3,
    }
    rows = measure(rounds=3)
    assert machine.ran[1:] == ["native", "tlsf", "segregated_fit"] * 3
    assert of(rows, "program", "native")["seconds"] == 2.0
    # Of the ratios within rounds, not of the medians (1.0 / 2.0).
    compared = of(rows, "framework", "tlsf")
    assert compared["ratios_of_rounds"] == [1.0, 0.5, 2.0]
    assert compared["seconds_over_native"] == 1.0


def test_other_numbers_in_any_round_are_a_failure(machine: Machine, measure: Measure) -> None:
    machine.seconds = {"native": [1.0] * 2, "tlsf": [1.0], "segregated_fit": [1.0]}
    machine.digests = {"tlsf": "other"}
    rows = measure(rounds=1)
    assert of(rows, "framework", "tlsf")["status"] == "failed"
    assert of(rows, "framework", "segregated_fit")["status"] == "ok"


def test_a_crash_is_a_row_and_no_ratio(machine: Machine, measure: Measure) -> None:
    machine.seconds = {"native": [1.0] * 3, "segregated_fit": [1.0] * 2}
    machine.broken = "tlsf"
    rows = measure(rounds=2)
    assert of(rows, "program", "tlsf")["reason"] == "exit status 1: no memory"
    compared = of(rows, "framework", "tlsf")
    assert compared["status"] == "crashed"
    assert "seconds_over_native" not in compared


def test_without_time_nothing_runs(machine: Machine, measure: Measure) -> None:
    (row, _) = measure(rounds=1, seconds=0.0)
    assert machine.ran == []
    assert (row["status"], row["reason"]) == ("skipped", "no time left")


def test_threads_replay_last_and_on_a_pool_in_parts_too(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    replays: list[tuple[str, int]] = []

    def replay(_check: Any, _trace: Any, name: str, *, threads: int, **_: Any) -> None:
        replays.append((name, threads))

    monkeypatch.setattr(script, "replay", replay)
    script.latencies(None, quick=True)
    threads = [count for _, count in replays]
    assert threads == sorted(threads)
    assert ("tlsf_in_4_parts", 4) in replays
