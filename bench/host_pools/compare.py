# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the pools and their peers on the same traces, and writes rows of the case host_pools.

usage: compare.py PROGRAM ROWS [--traces DIR] [--repeats N] [--subjects NAME...]

PROGRAM is warpheap-bench-host-pools, ROWS a file to which rows are appended. The traces are those
of DIR (logs in RMM's format) and benchmarks with 1,000, 200,000 and 2,000,000 slots. Subjects run
in turn, and the time is the thread's processor time, so that other programs on the machine disturb
little; callgrind counts the instructions of the first calls of a trace.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from warpheap import programs
from warpheap.traces import log, synthetic
from warpheap.traces.model import Trace

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


def instructions(program: Path, trace: Trace, subject: str, folder: Path) -> float | None:
    """Count the instructions of a call with callgrind; None if valgrind is missing."""
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
                *(str(file), "0", "1", "0", subject),
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
        command = [str(program), str(file), str(warm_up), str(repeats), str(int(smallest))]
        run = subprocess.run([*command, *subjects], capture_output=True, text=True, check=True)
        rows = [json.loads(line) for line in run.stdout.splitlines()]
        for row in rows:
            row["instructions"] = instructions(program, trace, row["manager"], Path(name))
            if row.get("smallest_range_bytes"):
                over_peak = row["smallest_range_bytes"] / row["peak_bytes"]
                row["smallest_over_peak"] = round(over_peak, 4)
    return [
        {"schema": 1, "case": "host_pools", "backend": "cpu", "trace": trace.name, "status": "ok"}
        | {"reason": None, "command": COMMAND}
        | row
        for row in rows
    ]


def main() -> int:
    """Measure every trace, and append the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--subjects", nargs="+")
    options = parser.parse_args()
    known = subprocess.run(
        [str(options.program), "list"], capture_output=True, text=True, check=True
    ).stdout.split()
    subjects = options.subjects or [name for name in DEFAULT if name in known]
    if unknown := set(subjects) - set(known):
        print(f"unknown subjects {sorted(unknown)}; known: {' '.join(known)}", file=sys.stderr)
        return 2
    logs = sorted(options.traces.glob("*.csv*")) if options.traces else []
    stamp = {
        "commit": programs.revision(options.program),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    for trace in [*map(log.read, logs), *benchmarks()]:
        print(trace.name, flush=True)
        rows = measure(options.program, trace, subjects, options.repeats)
        with options.rows.open("a", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(row | stamp) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
