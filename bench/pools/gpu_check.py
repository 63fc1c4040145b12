# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the pools on a machine with a GPU, in one call of a few minutes.

usage: gpu_check.py OUT --build DIR [--traces DIR] [--site DIR] [--seconds N] [--commit HASH]
                    [--quick] [--parts PART...] [--programs PROGRAM...] [--rounds N]

OUT gets `pools.jsonl`, one row per measurement, and `gpu_check.txt`, what was printed. Each row
says on which machine and when it was measured, so that `warpheap publish` can file it. DIR of
--build is a build folder with the targets warpheap_c and, for RMM's resources, warpheap_rmm_peers.
DIR of --traces has logs in RMM's format; DIR of --site is the folder of WARPHEAP_RMM_ROOT, with the
wheels of librmm-cu13, rapids-logger, rmm-cu13 and cuda-bindings unpacked side by side. Whatever is
missing is a row with the reason. No measurement is started after N seconds (420). The parts are
latencies, traces and programs, in any order. The exit status is 1 if a row is wrong, or if nothing
was measured.

A program runs once natively without being counted: it compiles kernels into a cache on the disk,
and reads libraries that later runs find in memory. Then come the rounds (3), in each of which it
runs natively and on every pool. The row of a program is that of its run of median time; the ratio
of the times is the median of those of the rounds.
"""

import argparse
import ctypes
import datetime
import json
import os
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from warpheap import process, results  # noqa: E402
from warpheap.row_fields import CaseFields, Description, Field  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
OURS = ("tlsf", "segregated_fit", "slabs_over_tlsf")
PEERS = ("cuda_malloc", "cuda_malloc_async", "rmm_pool", "rmm_arena")
# What each program imports; the one that takes longest comes last.
FRAMEWORKS = {
    "rmm_program": "rmm",
    "cupy_threads": "cupy",
    "torch_mempool": "torch",
    "numba_program": "numba.cuda",
    "waiting_program": "cupy",
    "cupy_program": "cupy",
    "torch_training": "torch",
}
PROGRAM_SECONDS = 120
# The pools that programs run on: policies, and for the program of several threads a pool in parts.
POOLS = ("tlsf", "segregated_fit")
IN_PARTS = {"cupy_threads": ("tlsf_in_4_parts",)}
PARTS = ("latencies", "traces", "programs")
NATIVE = "native"

_PROGRAM = Field("program", role="facet", about="which program of a framework")
_RUN = (
    Field("version", about="of the framework"),
    Field("seconds", "s", "number", "result", "of the run of median time", better="less"),
    Field("seconds_of_runs", "s", "list", about="of all runs, in turn"),
    Field("digest", about="of the numbers that the program computes"),
    Field("last", kind="number", about="the last of these numbers, of those with one at the end"),
    Field("stats", kind="summary", about="of the pool at the end"),
)
_COMPARED = (
    Field("equal_numbers", kind="flag", role="result", about="whether all runs compute the same"),
    Field("seconds_over_native", "ratio", "number", "result", "median of the rounds' ratios"),
    Field("ratios_of_rounds", "ratio", "list", about="of the times, round by round"),
    Field("held_over_native", "ratio", "number", "result", "of the memory that was held"),
)
_MACHINE = (
    Field("python", role="identity", about="version of Python"),
    Field("cpus", "processors", "integer", "identity", "of the machine"),
)
# Of the rows of programs; those of replays are described where they are made.
DESCRIBED = Description(
    {known.name: known for known in (_PROGRAM, *_RUN, *_COMPARED, *_MACHINE)},
    {
        "program": CaseFields(
            "program",
            "a program of a framework on its own allocator or on a pool",
            parameters={_PROGRAM.name: None},
            fields=(*(known.name for known in _RUN), "peak_bytes", "reserved_bytes"),
        ),
        "framework": CaseFields(
            "framework",
            "such a program on a pool, compared with it on the framework's own allocator",
            parameters={_PROGRAM.name: None},
            fields=tuple(known.name for known in _COMPARED),
        ),
    },
)

Row = dict[str, Any]


class Check:
    """The folder of results, the clock and the budget."""

    def __init__(self, out: Path, seconds: float, stamp: Row) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._rows = (out / "pools.jsonl").open("w", encoding="utf-8")
        self._text = (out / "gpu_check.txt").open("w", encoding="utf-8")
        self._start, self._seconds, self._stamp = time.monotonic(), seconds, stamp
        self.statuses: Counter[str] = Counter()

    def say(self, text: str) -> None:
        """Print a line with the time."""
        line = f"[{time.monotonic() - self._start:6.1f}s] {text}"
        print(line, flush=True)
        print(line, file=self._text, flush=True)

    def row(self, row: Row) -> None:
        """Write a row down at once."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self._rows.write(json.dumps(row | self._stamp | {"time": now}) + "\n")
        self._rows.flush()
        self.statuses[row["status"]] += 1

    def left(self) -> float:
        """Return the seconds that are left."""
        return self._start + self._seconds - time.monotonic()

    def has_time(self, what: str) -> bool:
        """Tell whether something may still be started."""
        if self.left() > 0:
            return True
        self.say(f"no time left for {what}")
        self.row({"schema": 1, "case": what, "status": "skipped", "reason": "no time left"})
        return False


def latencies(check: Check, quick: bool) -> None:
    """Measure the benchmark of the paper on our pools and their peers."""
    from warpheap.traces import synthetic  # noqa: PLC0415

    events = 5_000 if quick else 100_000
    kinds = (("malloc-large", 20), ("malloc-large", 1000), ("malloc-large-log", 1000))
    made = [synthetic.make(name, slots, events, seed=1) for name, slots in kinds]
    for trace in made:
        for resource in (*OURS, "best_fit", *PEERS):
            replay(check, trace, resource, smallest=False, threads=0)
        # From nothing, so that what a pool holds is what it came to need.
        for resource in OURS:
            replay(check, trace, resource, smallest=False, threads=0, upstream="virtual_memory")
    # After all of the others: what was measured next to four threads on the driver's pool took 1.4
    # times as long in both runs that had it in between.
    for trace in made[1:]:
        for resource in ("tlsf", "tlsf_in_4_parts", "rmm_pool", "cuda_malloc_async"):
            replay(check, trace, resource, smallest=False, threads=4)


def traces(check: Check, folder: Path | None) -> None:
    """Replay real traces on our pools and their peers, and search the smallest pools."""
    from warpheap.traces import rmm_log  # noqa: PLC0415

    for file in sorted(folder.glob("*.csv*")) if folder else []:
        trace = rmm_log.read(file)
        for resource in ("tlsf", "rmm_pool", "cuda_malloc_async", "cuda_malloc"):
            searched = resource in ("tlsf", "rmm_pool")
            replay(check, trace, resource, smallest=searched, threads=0)


def replay(
    check: Check, trace: Any, name: str, *, smallest: bool, threads: int, upstream: str = ""
) -> None:
    """Measure one trace on one resource: in twice the peak, or in a pool that grows in pages."""
    from warpheap.traces import replay, resources  # noqa: PLC0415

    if not check.has_time(f"{trace.name} on {name}"):
        return
    size = resources.Size(0 if upstream else replay.start_bytes(trace, name))
    repeats = 1 if name in resources.DRIVER else 3
    request = replay.Request(size, repeats, smallest, threads)
    source = resources.upstream(upstream)
    row = replay.measure(trace, resources.Resource(name, source, 0), request)
    check.row(row)
    if "malloc_ns" not in row:
        check.say(f"{trace.name} {name}: {row['status']}: {row['reason']}")
    else:
        parts = [
            f"{kind[:-3]} p50 {row[kind]['p50']:.0f} p99.9 {row[kind]['p99.9']:.0f} ns"
            for kind in ("malloc_ns", "free_ns")
        ]
        parts += [f"mean {row['call_ns']:.0f} ns, without a clock {row['replay_call_ns']:.1f} ns"]
        parts += [f"span/peak {row['span_over_peak']}", f"held/peak {row['reserved_over_peak']}"]
        parts += [f"smallest {row['smallest_pool_bytes']}"] if smallest else []
        parts += [f"{threads} threads {row['calls_per_second']} calls/s"] if threads else []
        check.say(f"{trace.name} {name}: {row['status']}, " + ", ".join(parts))


def programs(check: Check, site: Path | None, chosen: list[str], rounds: int) -> None:
    """Run each framework's program on its own allocator and on pools, and compare."""
    paths = [str(ROOT / "python"), str(PROGRAMS)]
    inherited = os.environ.get("PYTHONPATH", "")
    for program in chosen:
        # The wheels serve RMM alone: what is installed stays as it is for the others.
        extra = [str(site)] if site is not None and program == "rmm_program" else []
        os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *extra, inherited])
        if reason := why_not(FRAMEWORKS[program]):
            row = {"schema": 1, "case": "program", "backend": "cuda", "program": program}
            check.row({**row, "status": "skipped", "reason": reason})
            check.say(f"{program}: skipped: {reason}")
            continue
        managers = (NATIVE, *POOLS, *IN_PARTS.get(program, ()))
        runs: dict[str, list[Row]] = {manager: [] for manager in managers}
        if check.has_time(program):
            one_program(check, program, NATIVE)
        for _ in range(rounds):
            if not check.has_time(f"a round of {program}"):
                break
            of_round = {manager: one_program(check, program, manager) for manager in managers}
            if check.left() <= 0 and any(row["status"] == "timeout" for row in of_round.values()):
                check.say(f"no time left for the end of a round of {program}: not counted")
                break
            for manager, row in of_round.items():
                runs[manager].append(row)
        for manager, all_runs in runs.items():
            if all_runs:
                check.row(median_run(all_runs))
            if all_runs and manager != NATIVE:
                row = compare(program, manager, runs[NATIVE], all_runs)
                check.row(row)
                check.say(f"{program} {manager}: {json.dumps(row)}")


def row_of(case: str, program: str, manager: str) -> Row:
    """Begin a row of a program."""
    words = "bench/pools/gpu_check.py OUT --build DIR --site DIR --parts programs --programs"
    row: Row = {"schema": 1, "case": case, "backend": "cuda", "program": program}
    return row | {"manager": manager, "command": f"{words} {program}"}


def median_run(runs: list[Row]) -> Row:
    """Return the first run that failed, or else that of median time, with the times of all."""
    for run in runs:
        if run["status"] != "ok":
            return run
    ordered = sorted(runs, key=lambda run: run["seconds"])
    return ordered[(len(runs) - 1) // 2] | {"seconds_of_runs": [run["seconds"] for run in runs]}


def compare(program: str, manager: str, native: list[Row], pooled: list[Row]) -> Row:
    """Compare the runs on a pool with those without."""
    row = row_of("framework", program, manager)
    if broken := [run for run in [*native, *pooled] if run["status"] != "ok"]:
        status, reason = broken[0]["status"], f"{broken[0]['manager']}: {broken[0]['reason']}"
        return row | {"status": status, "reason": reason}
    same = len({run["digest"] for run in [*native, *pooled]}) == 1
    row |= {"status": "ok" if same else "failed", "equal_numbers": same}
    row["reason"] = None if same else "the numbers differ"
    if native[0].get("reserved_bytes"):
        held = [run["reserved_bytes"] for run in (median_run(pooled), median_run(native))]
        row["held_over_native"] = round(held[0] / held[1], 4)
    ratios = [ours["seconds"] / its["seconds"] for its, ours in zip(native, pooled, strict=True)]
    row["seconds_over_native"] = round(statistics.median(ratios), 3)
    row["ratios_of_rounds"] = [round(ratio, 3) for ratio in ratios]
    return row


def why_not(framework: str) -> str | None:
    """Say why a framework cannot be imported; None if it can."""
    outcome = process.run([sys.executable, "-c", f"import {framework}"], PROGRAM_SECONDS)
    return None if outcome.returncode == 0 else f"import {framework}: {outcome.death()}"


def one_program(check: Check, program: str, policy: str) -> Row:
    """Run one program on a pool, POLICY or POLICY_in_N_parts, and give its row."""
    from warpheap.traces.resources import in_parts  # noqa: PLC0415

    row = row_of("program", program, policy)
    name, parts = in_parts(policy)
    command = [sys.executable, str(PROGRAMS / f"{program}.py"), name]
    command += [str(parts)] if parts > 1 else []
    limit = min(PROGRAM_SECONDS, max(check.left(), 0))
    outcome = process.run(command, limit)
    if outcome.timed_out:
        row |= {"status": "timeout", "reason": f"more than {limit:.0f} s"}
    elif outcome.returncode != 0:
        row |= {"status": "crashed", "reason": outcome.death()}
    else:
        row |= json.loads(outcome.stdout.splitlines()[-1])
        row |= {"status": "ok", "reason": None}
    check.say(f"{program} {policy}: {row['status']} {row.get('seconds')} {row['reason'] or ''}")
    return row


def machine() -> Row:
    """Say what the measurements are taken on: on the first device."""
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        outcome = process.run(asked, PROGRAM_SECONDS)
        text = outcome.stdout.partition("\n")[0].strip() or f"nvidia-smi: {outcome.death()}"
    except OSError as error:
        text = f"nvidia-smi: {error}"
    name, _, driver = text.rpartition(", ")
    return {
        "device": name or text,
        "driver": driver if name else None,
        "python": sys.version.split()[0],
        "cpus": os.cpu_count(),
    }


def main() -> int:
    """Do everything."""
    from warpheap.traces import replay as replays  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--site", type=Path)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=420.0)
    parser.add_argument("--commit", help="goes into every row")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--programs", nargs="+", choices=FRAMEWORKS, default=[*FRAMEWORKS])
    parser.add_argument("--rounds", type=int, default=3, help="of the programs (3)")
    parser.add_argument("--quick", action="store_true", help="few events: tries the script itself")
    given = parser.parse_args()
    library = given.build / "src" / "libwarpheap_c.so"
    if not library.exists():
        parser.error(f"{library} is not there: build the target warpheap_c in {given.build}")
    stamp = machine() | {"commit": given.commit}
    check = Check(given.out, given.seconds, stamp)
    DESCRIBED.merged(replays.DESCRIBED).write(given.out)
    check.say(json.dumps(stamp))
    os.environ["WARPHEAP_LIBRARY"] = str(library.resolve())
    if given.site is not None:
        # The loader finds RMM's libraries by name once they are loaded.
        logger = given.site / "rapids_logger" / "lib64" / "librapids_logger.so"
        if logger.exists():
            ctypes.CDLL(str(logger), mode=ctypes.RTLD_GLOBAL)
    parts = {
        "latencies": lambda: latencies(check, given.quick),
        "traces": lambda: traces(check, given.traces),
        "programs": lambda: programs(check, given.site, given.programs, given.rounds),
    }
    for part in given.parts:
        parts[part]()
    wrong = sum(count for status, count in check.statuses.items() if status not in results.GOOD)
    nothing = set(check.statuses) <= {"skipped"}
    check.say("nothing was measured" if nothing else f"done, {wrong} rows are wrong")
    return 0 if results.succeeded(check.statuses) else 1


if __name__ == "__main__":
    sys.exit(main())
