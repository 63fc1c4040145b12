# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the pools and their peers on the same traces, and writes rows of the case host_pools.

usage: compare.py PROGRAM ROWS [--traces DIR] [--repeats N] [--subjects NAME...] [--threads]
       [--making] [--replay] [--processors N] [--counted ROWS] [--machine TEXT] [--commit HASH]

With --threads, one, two and four threads share each subject instead, and the rows are of the case
host_pools_threads: the median of the repeats, and the most calls a second. More threads have more
live blocks between them or as many as one has: a row for each. With --making, each subject is made
for a range of 1 GiB, and the rows are of the case host_pools_making: the processor time of that
and the bytes of the heap that the bookkeeping takes with one block. With --replay, the calls are
made by `warpheap replay` and by a bare loop over the same pool, in turn, and the rows are of the
case host_pools_replay: the processor time of a call in each, and the median of the turns' ratios.
Each run is a process of its own: what an earlier one has freed would change how the tables of the
next one's pool grow. `fields.json` beside ROWS says what their fields mean.

PROGRAM is warpheap-bench-host-pools, ROWS a file to which rows are appended. The traces are those
of DIR (logs in RMM's format) and benchmarks with 20 to 2,000,000 slots; those of more than two
million events are measured a third as often as N says. Subjects run in turn, and the time is the
thread's processor time, so that other programs on the machine disturb little; callgrind counts the
instructions of the first calls of a trace. All runs are pinned to the same N processors, the last
ones that this process may use: to two with --threads, to one otherwise; 0 pins nothing.

What is counted and not timed is the same on every machine. With --repeats 0 nothing is timed; a
machine that is quiet but has no callgrind takes the counts of such a run of the same program by
--counted. TEXT says in every row what the machine is, HASH what was measured if that is not the
checkout of this program.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from row_description import DESCRIBED

from warpheap import programs
from warpheap.traces import rmm_log, synthetic
from warpheap.traces.trace import Trace

SHARED = ("tlsf_pool", "divided_pool", "offset_range", "offset_allocator")
MADE = (*SHARED, "tlsf", "segregated_fit", "vma_time")
SHARED_MILLISECONDS = 300
# The slots of all threads together and the threads that share them.
SHARES = ((1000, 1), (2000, 1), (2000, 2), (4000, 1), (4000, 2), (4000, 4))
DEFAULT = (
    *("tlsf", "offset_range", "range_c", "segregated_fit", "slabs_over_tlsf", "tlsf_pool"),
    *("offset_allocator", "offset_allocator_map", "vma_time", "vma_memory"),
)
COUNTED_EVENTS = 200_000
LONG = 2_000_000
COUNTS = ("smallest_range_bytes", "smallest_over_peak", "instructions")
REPLAY_COUNTS = ("replay_instructions", "loop_instructions")
COMMAND = "bench/host_pools/compare.py PROGRAM ROWS --traces DIR"
# With more blocks the sizes are smaller: OffsetAllocator knows at most 2^32 granules.
SMALL = synthetic.Recipe(1 << 8, 1 << 20, logarithmic=True)


def pin(processors: int) -> None:
    """Let this process, and all that it starts, run on so many processors; 0 changes nothing."""
    usable = sorted(os.sched_getaffinity(0))
    if not 0 <= processors <= len(usable):
        raise ValueError(f"--processors {processors}: this process may use {len(usable)}")
    if processors:
        os.sched_setaffinity(0, usable[-processors:])


# The counts of an earlier run: what they are of, and their values.
Counted = dict[tuple[str, str, str], dict]


def benchmarks() -> Iterator[Trace]:
    """Make the traces with 20 to 2,000,000 slots, of which half are live."""
    synthetic.RECIPES["small-log"] = SMALL
    for name, slots, events in (
        ("malloc-large", 1000, 1_000_000),
        ("malloc-large-log", 1000, 1_000_000),
        ("small-log", 20, 1_000_000),
        ("small-log", 2000, 1_000_000),
        ("small-log", 200_000, 2_000_000),
        ("small-log", 2_000_000, 6_000_000),
    ):
        yield synthetic.make(name, slots, events, seed=1)


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


def measure(
    program: Path, trace: Trace, subjects: list[str], repeats: int, counted: Counted | None
) -> list[dict]:
    """Run all subjects on one trace; returns a row for each."""
    # Half of the slots are filled after about as many calls as there are slots.
    slots = re.search(r"-(\d+)$", trace.name)
    warm_up = min(3 * int(slots.group(1)), trace.events * 2 // 3) if slots else 0
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "operations.bin"
        trace.operations.astype(np.int64).tofile(file)
        # The search for the smallest range takes some dozen replays: for short traces only.
        smallest = counted is None and trace.events <= LONG
        command = [str(program), "calls", str(file), *subjects, "--repeats", str(repeats)]
        command += ["--warm-up", str(warm_up), *(["--smallest"] if smallest else [])]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = [json.loads(line) for line in run.stdout.splitlines()]
        for row in rows:
            if counted is not None:
                row |= counts(counted, "host_pools", trace, row["manager"], COUNTS)
                continue
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


def counts(counted: Counted, case: str, trace: Trace, manager: str, names: tuple) -> dict:
    """Return what an earlier run counted of a row."""
    row = counted.get((case, trace.name, manager), {})
    return {name: row[name] for name in names if name in row}


def measure_threads(program: Path, subjects: list[str], repeats: int) -> list[dict]:
    """Let threads share each subject; returns a row for each number of slots and of threads."""
    turns: dict[tuple[str, int, int], list[dict]] = {}
    with tempfile.TemporaryDirectory() as name:
        traces = {}
        for slots in {total // threads for total, threads in SHARES}:
            traces[slots] = Path(name) / f"{slots}.bin"
            made = synthetic.make("malloc-large-log", slots, 200 * slots, seed=1)
            made.operations.astype(np.int64).tofile(traces[slots])
        # All in turn: a slow minute of the machine hits all of them.
        for _ in range(repeats):
            for total, threads in SHARES:
                command = [str(program), "threads", str(traces[total // threads]), *subjects]
                command += ["--threads", str(threads), "--milliseconds", str(SHARED_MILLISECONDS)]
                run = subprocess.run(command, capture_output=True, text=True, check=True)
                for line in map(json.loads, run.stdout.splitlines()):
                    turns.setdefault((line["manager"], total, threads), []).append(line)
    rows = []
    for (manager, total, threads), all_turns in turns.items():
        values = {name: [turn[name] for turn in all_turns] for name in all_turns[0]}
        rates = values["calls_per_second"]
        rows.append(
            {"schema": 1, "case": "host_pools_threads", "backend": "cpu"}
            | {"trace": f"malloc-large-log-{total // threads}", "slots": total}
            | {"status": "ok", "reason": None, "command": f"{COMMAND} --threads"}
            | {"manager": manager, "threads": threads, "repeats": len(rates)}
            | {"calls_per_second": statistics.median(rates), "most_calls_per_second": max(rates)}
            | {"cpu_ns": round(statistics.median(values["cpu_ns"]), 2)}
            | {"fairness": round(statistics.median(values["fairness"]), 3)}
            | {
                "single_call_ns": {
                    name: round(
                        statistics.median(turn[name] for turn in values["single_call_ns"]), 1
                    )
                    for name in ("p50", "p99.9", "max")
                }
            }
        )
    return rows


def measure_making(program: Path, subjects: list[str], repeats: int) -> list[dict]:
    """Make each subject, in turn; returns a row for each."""
    command = [str(program), "making", *subjects, "--repeats", str(repeats)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return [
        {"schema": 1, "case": "host_pools_making", "backend": "cpu", "status": "ok"}
        | {"reason": None, "command": f"{COMMAND} --making", "repeats": repeats}
        | json.loads(line)
        for line in run.stdout.splitlines()
    ]


def measure_replay(program: Path, trace: Trace, repeats: int, counted: Counted | None) -> dict:
    """Replay the trace and make its calls in a bare loop, in turn; returns the row."""
    row = {"schema": 1, "case": "host_pools_replay", "backend": "cpu", "trace": trace.name}
    row |= {"status": "ok", "reason": None, "command": f"{COMMAND} --replay"}
    row |= {"manager": "tlsf", "events": trace.events, "repeats": repeats}
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "operations.bin"
        trace.operations.astype(np.int64).tofile(file)
        times: dict[str, list[float]] = {"replay": [], "loop": []}
        for turn in range(repeats):
            # Each as often the first of a turn.
            for how in ("replay", "loop") if turn % 2 == 0 else ("loop", "replay"):
                command = [str(program), "replay", str(file), "--repeats", "1", "--only", how]
                run = subprocess.run(command, capture_output=True, text=True, check=True)
                times[how].append(json.loads(run.stdout)[f"{how}_cpu_ns"])
        if counted is not None:
            row |= counts(counted, "host_pools_replay", trace, "tlsf", REPLAY_COUNTS)
        else:
            for how in ("replay", "loop"):
                arguments = ["replay", "TRACE", "--repeats", "1", "--only", how]
                row[f"{how}_instructions"] = instructions(program, trace, arguments, Path(name))
    if repeats:
        for how, all_turns in times.items():
            row[f"{how}_cpu_ns"] = {
                "median": round(statistics.median(all_turns), 2),
                "min": min(all_turns),
            }
        ratios = [ours / bare for ours, bare in zip(times["replay"], times["loop"], strict=True)]
        row["over_loop"] = round(statistics.median(ratios), 3)
    return row


def read_counted(file: Path) -> Counted:
    """Read the rows of a run with --repeats 0."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {(row["case"], row["trace"], row["manager"]): row for row in rows}


def this_machine() -> str:
    """Name the processor, and how many this process sees."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", info, re.MULTILINE)
    return f"{model.group(1) if model else 'unknown processor'}, {os.cpu_count()} processors"


def append(file: Path, rows: list[dict], stamp: dict, processors: int) -> None:
    """Append rows to a file, each with what they have in common."""
    with file.open("a", encoding="utf-8") as out:
        for row in rows:
            command = f"{row['command']} --processors {processors}"
            out.write(json.dumps(row | stamp | {"command": command}) + "\n")


def main() -> int:
    """Measure every trace, and append the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--subjects", nargs="+")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--making", action="store_true")
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--processors", type=int)
    parser.add_argument("--counted", type=Path)
    parser.add_argument("--machine", default=this_machine())
    parser.add_argument("--commit")
    options = parser.parse_args()
    known = subprocess.run(
        [str(options.program), "list"], capture_output=True, text=True, check=True
    ).stdout.split()
    usual = SHARED if options.threads else MADE if options.making else DEFAULT
    subjects = options.subjects or [name for name in usual if name in known]
    if unknown := set(subjects) - set(known):
        print(f"unknown subjects {sorted(unknown)}; known: {' '.join(known)}", file=sys.stderr)
        return 2
    processors = options.processors
    if processors is None:
        processors = 2 if options.threads else 1
    try:
        pin(processors)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    DESCRIBED.write(options.rows.parent)
    load = os.getloadavg()[0]
    logs = sorted(options.traces.glob("*.csv*")) if options.traces else []
    stamp = {
        "commit": options.commit or programs.revision(options.program),
        "machine": options.machine,
        "load": round(load, 1),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    if options.threads:
        rows = measure_threads(options.program, subjects, options.repeats)
        append(options.rows, rows, stamp, processors)
        return 0
    if options.making:
        rows = measure_making(options.program, subjects, options.repeats)
        append(options.rows, rows, stamp, processors)
        return 0
    counted = read_counted(options.counted) if options.counted else None
    for trace in itertools.chain(map(rmm_log.read, logs), benchmarks()):
        print(trace.name, flush=True)
        is_long = trace.events > LONG
        repeats = -(-options.repeats // 3) if is_long else options.repeats
        rows = (
            [measure_replay(options.program, trace, repeats, counted)]
            if options.replay
            else measure(options.program, trace, subjects, repeats, counted)
        )
        append(options.rows, rows, stamp, processors)
    return 0


if __name__ == "__main__":
    sys.exit(main())
