# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``bench/host_pools``: the program, where it is built, and what compare.py makes of its lines."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpheap import results, row_fields
from warpheap.row_fields import Description

ROOT = Path(__file__).resolve().parents[2]
COMPARE = ROOT / "bench/host_pools/compare.py"

# Says as a subject's time to be made on which processors it ran.
FAKE = """#!{python} -S
import json, os, sys
if sys.argv[1] == "list":
    print("tlsf tlsf_pool divided_pool offset_range")
else:
    for name in sys.argv[2:sys.argv.index("--repeats" if "--repeats" in sys.argv else "--threads")]:
        if name.endswith(".bin"):
            continue
        row = dict(manager=name)
        if sys.argv[1] == "making":
            row |= dict(make_ns=sorted(os.sched_getaffinity(0)))
        else:
            row |= dict(calls_per_second=1.0, cpu_ns=1.0, fairness=1.0)
            row |= dict(single_call_ns={{"p50": 1.0, "p99.9": 1.0, "max": 1.0}})
        print(json.dumps(row))
"""


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    program = tmp_path / "program"
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    return program


def compare(program: Path, *arguments: str) -> tuple[str, list[dict[str, Any]]]:
    rows = program.parent / "rows.jsonl"
    rows.unlink(missing_ok=True)
    command = [sys.executable, "-B", COMPARE, program, rows, "--commit", "c0ffee", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0 or not rows.exists()
    written = rows.read_text().splitlines() if rows.exists() else []
    return done.stderr, [json.loads(line) for line in written]


def test_runs_are_pinned_to_as_many_processors_as_the_row_says(fake: Path) -> None:
    usable = sorted(os.sched_getaffinity(0))
    for arguments, processors in (
        ((), usable[-1:]),
        (("--processors", str(len(usable))), usable),
        (("--processors", "0"), usable),
    ):
        said, rows = compare(fake, "--making", "--repeats", "1", *arguments)
        assert said == ""
        assert [row["make_ns"] for row in rows] == [processors] * 4
        asked = arguments[1] if arguments else "1"
        assert {row["command"] for row in rows} == {
            f"bench/host_pools/compare.py PROGRAM ROWS --traces DIR --making --processors {asked}"
        }


def told(known: Description, case: str) -> set[str]:
    """Return the fields that the rows of a case may have."""
    anywhere = {n for n, field in known.fields.items() if field.always or field.role == "identity"}
    return {*anywhere, *known.cases[case].fields, *known.cases[case].parameters}


def test_rows_are_described_beside_them(fake: Path) -> None:
    for which in ("--making", "--threads"):
        _, rows = compare(fake, which, "--repeats", "1", "--processors", "1")
        known = row_fields.describe(fake.parent / "rows.jsonl")
        assert rows
        for row in rows:
            assert set(row) <= told(known, row["case"])


def test_published_rows_are_described_as_the_script_says(fake: Path) -> None:
    compare(fake, "--making")
    said = row_fields.find(fake.parent / "rows.jsonl")
    published = row_fields.of_published_rows()
    again = "publish rows of this commit"
    assert said.fields.items() <= published.fields.items(), again
    assert said.cases.items() <= published.cases.items(), again
    for case in said.cases:
        files = [*(ROOT / "results/cpu" / case).glob("*.jsonl")]
        assert files
        for row in (row for file in files for row in results.read(file)):
            assert set(row) <= told(published, case)


def test_more_processors_than_there_are_is_an_error(fake: Path) -> None:
    usable = len(os.sched_getaffinity(0))
    for wrong in (usable + 1, -1):
        said, rows = compare(fake, "--making", "--processors", str(wrong))
        assert said == f"--processors {wrong}: this process may use {usable}\n"
        assert rows == []


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_threads_that_share_a_pool_have_two_processors(fake: Path) -> None:
    said, rows = compare(fake, "--threads", "--repeats", "1")
    assert said == ""
    assert {row["command"].partition("--traces DIR ")[2] for row in rows} == {
        "--threads --processors 2"
    }


def test_the_program_runs_a_short_trace_on_every_subject(tmp_path: Path) -> None:
    built = [*ROOT.glob("build/*/bench/host_pools/warpheap-bench-host-pools")]
    if not built:
        pytest.skip("warpheap-bench-host-pools is not built")
    trace = tmp_path / "trace.bin"
    np.array([1000, 2000, -1, 500, -2, -3], dtype=np.int64).tofile(trace)

    def lines(*arguments: str | Path) -> list[str]:
        command = [built[0], *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    subjects = lines("list")
    assert {"tlsf", "tlsf_pool", "divided_pool", "offset_range", "range_c"} <= set(subjects)
    known = row_fields.of_published_rows()
    rows = [*map(json.loads, lines("calls", trace, *subjects, "--repeats", "1", "--smallest"))]
    assert [row["manager"] for row in rows] == subjects
    for row in rows:
        assert (row["events"], row["peak_bytes"]) == (6, 3072)
        assert row["smallest_range_bytes"] >= 3072
        assert row["call_cpu_ns"]["median"] > 0
        assert set(row) <= told(known, "host_pools")
    (row,) = map(json.loads, lines("making", "tlsf", "--repeats", "1"))
    assert set(row) <= told(known, "host_pools_making")
    assert row["bookkeeping_bytes"] > 0
    (row,) = map(json.loads, lines("replay", trace, "--repeats", "1"))
    assert row["replay_cpu_ns"] > 0
    assert row["loop_cpu_ns"] > 0
    assert set(row) <= told(known, "host_pools_replay")
    sharing = ("--threads", "2", "--milliseconds", "5")
    (row,) = map(json.loads, lines("threads", trace, "tlsf_pool", *sharing))
    assert row["calls_per_second"] > 0
    assert set(row) <= told(known, "host_pools_threads")
