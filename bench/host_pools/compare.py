# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the pools and their peers on the same traces, and writes rows of the case host_pools.

usage: compare.py PROGRAM ROWS [--traces DIR] [--repeats N] [--subjects NAME...] [--threads]
       [--replay]

With --threads, one, two and four threads share each subject instead, and the rows are of the case
host_pools_threads: the median of the repeats, and the most calls a second. With --replay, the calls
are made by `warpheap replay` and by a bare loop over the same pool, in turn, and the rows are of
the case host_pools_replay: what each says that a call takes on the wall clock, and the median of
the turns' ratios.

PROGRAM is warpheap-bench-host-pools, ROWS a file to which rows are appended. The traces are those
of DIR (logs in RMM's format) and benchmarks with 1,000, 200,000 and 2,000,000 slots. Subjects run
in turn, and the time is the thread's processor time, so that other programs on the machine disturb
little; callgrind counts the instructions of the first calls of a trace.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from warpheap import programs
from warpheap.traces import log, synthetic
from warpheap.traces.model import Trace

SHARED = ("tlsf_pool", "offset_range", "offset_allocator")
SHARED_MILLISECONDS = 300
DEFAULT = ("tlsf", "offset_range", "segregated_fit", "offset_allocator", "vma_time", "vma_memory")
COUNTED_EVENTS = 200_000
COMMAND = "bench/host_pools/compare.py PROGRAM ROWS --traces DIR"
# Of more blocks the sizes are smaller: OffsetAllocator knows at most 2^32 granules.
SMALL = synthetic.Recipe(1 << 8, 1 << 20, logarithmic=True)


def benchmarks() -> list[Trace]:
    """Make the traces with 1,000, 200,000 and 2,000,000 slots, of which half are live."""
    synthetic.RECIPES["small-log"] = SMALL
    return [
        synthetic.make("malloc-large", 1000, 1_000_000, seed=1),
        synthetic.make("malloc-large-log", 1000, 1_000_000, seed=1),
        synthetic.make("small-log", 200_000, 2_000_000, seed=1),
        synthetic.make("small-log", 2_000_000, 6_000_000, seed=1),
    ]


def instructions(program: Path, trace: Trace, how: list[str], folder: Path) -> float | None:
    """Count the instructions of a call with callgrind; None if valgrind is missing.

    ``how`` are the program's arguments, in which TRACE stands for the file.
    """
    file = folder / "counted.bin"
    counted = trace.operations[:COUNTED_EVENTS]
    counted.tofile(file)
    try:
        run = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--callgrind-out-file=/dev/null",
                "--toggle-collect=*make_calls*",
                str(program),
                *(str(file) if argument == "TRACE" else argument for argument in how),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    except FileNotFoundError:
        return None
    found = re.search(r"Collected : (\d+)", run.stderr)
    return round(int(found.group(1)) / len(counted), 1) if found else None


def measure(program: Path, trace: Trace, subjects: list[str], repeats: int) -> list[dict]:
    """Run all subjects on one trace; returns a row for each."""
    # Half of the slots are filled after about as many calls as there are slots.
    slots = re.search(r"-(\d+)$", trace.name)
    warm_up = min(3 * int(slots.group(1)), trace.events * 2 // 3) if slots else 0
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "operations.bin"
        trace.operations.astype(np.int64).tofile(file)
        # The search for the smallest range takes some dozen replays: for short traces only.
        smallest = trace.events <= 2_000_000
        command = [str(program), "calls", str(file), *subjects, "--repeats", str(repeats)]
        command += ["--warm-up", str(warm_up), *(["--smallest"] if smallest else [])]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = [json.loads(line) for line in run.stdout.splitlines()]
        for row in rows:
            row["instructions"] = instructions(
                program, trace, ["calls", "TRACE", row["manager"], "--repeats", "1"], Path(name)
            )
            if row.get("smallest_range_bytes"):
                over_peak = row["smallest_range_bytes"] / row["peak_bytes"]
                row["smallest_over_peak"] = round(over_peak, 4)
    return [
        {"schema": 1, "case": "host_pools", "backend": "cpu", "trace": trace.name, "status": "ok"}
        | {"reason": None, "command": COMMAND}
        | row
        for row in rows
    ]


def measure_threads(program: Path, subjects: list[str], repeats: int) -> list[dict]:
    """Let threads share each subject; returns a row for each number of threads."""
    trace = synthetic.make("malloc-large-log", 1000, 200_000, seed=1)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "operations.bin"
        trace.operations.astype(np.int64).tofile(file)
        command = [str(program), "threads", str(file), *subjects, "--repeats", str(repeats)]
        command += ["--milliseconds", str(SHARED_MILLISECONDS)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    turns: dict[tuple[str, int], list[dict]] = {}
    for line in map(json.loads, run.stdout.splitlines()):
        turns.setdefault((line["manager"], line["threads"]), []).append(line)
    rows = []
    for (manager, threads), all_turns in turns.items():
        values = {name: [turn[name] for turn in all_turns] for name in all_turns[0]}
        rates = values["calls_per_second"]
        rows.append(
            {"schema": 1, "case": "host_pools_threads", "backend": "cpu", "trace": trace.name}
            | {"status": "ok", "reason": None, "command": f"{COMMAND} --threads"}
            | {"manager": manager, "threads": threads, "repeats": len(rates)}
            | {"calls_per_second": statistics.median(rates), "most_calls_per_second": max(rates)}
            | {"cpu_ns": round(statistics.median(values["cpu_ns"]), 2)}
            | {"fairness": round(statistics.median(values["fairness"]), 3)}
            | {
                "call_ns": {
                    name: statistics.median(turn[name] for turn in values["call_ns"])
                    for name in ("p50", "p99.9", "max")
                }
            }
        )
    return rows


def measure_replay(program: Path, trace: Trace, repeats: int) -> dict:
    """Replay the trace and make its calls in a bare loop, in turn; returns the row."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "operations.bin"
        trace.operations.astype(np.int64).tofile(file)
        command = [str(program), "replay", str(file), "--repeats", str(repeats)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        turns = [json.loads(line) for line in run.stdout.splitlines()]
        counts = {
            f"{how}_instructions": instructions(
                program, trace, ["replay", "TRACE", "--repeats", "1", "--only", how], Path(name)
            )
            for how in ("replay", "loop")
        }
    row = {"schema": 1, "case": "host_pools_replay", "backend": "cpu", "trace": trace.name}
    row |= {"status": "ok", "reason": None, "command": f"{COMMAND} --replay"}
    row |= {"manager": "tlsf", "events": trace.events, "repeats": len(turns)}
    for how in ("replay_ns", "loop_ns"):
        times = [turn[how] for turn in turns]
        row[how] = {"median": round(statistics.median(times), 2), "min": min(times)}
    ratios = [turn["replay_ns"] / turn["loop_ns"] for turn in turns]
    return row | {"over_loop": round(statistics.median(ratios), 3)} | counts


def append(file: Path, rows: list[dict], stamp: dict) -> None:
    """Append rows to a file, each with what they have in common."""
    with file.open("a", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row | stamp) + "\n")


def main() -> int:
    """Measure every trace, and append the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--subjects", nargs="+")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--replay", action="store_true")
    options = parser.parse_args()
    known = subprocess.run(
        [str(options.program), "list"], capture_output=True, text=True, check=True
    ).stdout.split()
    usual = SHARED if options.threads else DEFAULT
    subjects = options.subjects or [name for name in usual if name in known]
    if unknown := set(subjects) - set(known):
        print(f"unknown subjects {sorted(unknown)}; known: {' '.join(known)}", file=sys.stderr)
        return 2
    load = os.getloadavg()[0]
    logs = sorted(options.traces.glob("*.csv*")) if options.traces else []
    stamp = {
        "commit": programs.revision(options.program),
        "load": round(load, 1),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    if options.threads:
        append(options.rows, measure_threads(options.program, subjects, options.repeats), stamp)
        return 0
    for trace in [*map(log.read, logs), *benchmarks()]:
        print(trace.name, flush=True)
        rows = (
            [measure_replay(options.program, trace, options.repeats)]
            if options.replay
            else measure(options.program, trace, subjects, options.repeats)
        )
        append(options.rows, rows, stamp)
    return 0


if __name__ == "__main__":
    sys.exit(main())
