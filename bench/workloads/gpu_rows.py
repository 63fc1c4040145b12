# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the workloads (docs/workloads.md) on a machine with a GPU, in one call of minutes.

usage: gpu_rows.py OUT.jsonl --program warpheap-bench-cuda [--graphs DIR] [--cases NAME,...]
                   [--managers NAME,...] [--seconds N] [--limit N] [--commit HASH] [--quick]
       gpu_rows.py --prepare DIR GRAPH...

A survey (`warpheap survey --case ...`) measures the same and more; this needs no package but
Python's own, so it also runs where nothing can be installed. OUT gets a row per measurement as soon
as it has ended; one that fails, crashes or takes more than --limit seconds (30) is a row that says
so. What matters most comes first, and nothing starts after --seconds (140). --cases also knows
`rmat_100m`, the growth to 100 million edges, which takes minutes and is not among the standard
cases. PROGRAM can also be one of bench/peers, with --cases join,group_by and the --managers that
its `list` names. --prepare writes graph files as CSR to DIR, for --graphs; it needs the tool's
packages.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from warpheap import process  # noqa: E402

Parameters = dict[str, int | float | str]

MANAGERS = ("rw_malloc", "warpheap", "gallatin", "ouroboros_va_p", "halloc", "cuda")
GIB = 1 << 30
LARGE = {"scale": 22, "batch": 1_000_000, "rounds": 100, "heap_bytes": 16 * GIB, "seed": 1}


def joins(small: bool) -> Iterator[Parameters]:
    """Yield the joins: every probe row matches, a tenth does, few keys have most rows."""
    rows = 1 << (12 if small else 22)
    common: Parameters = {"rows": rows, "distinct_keys": rows, "iterations": 3, "seed": 1}
    yield common
    yield {**common, "match_percent": 10}
    yield {**common, "key_skew": 1.0}


def group_bys(small: bool) -> Iterator[Parameters]:
    """Yield the group-bys: few groups and many."""
    for distinct in (1000, 1_000_000):
        rows = 4096 if small else 10_000_000
        yield {"rows": rows, "distinct_keys": distinct, "iterations": 3, "seed": 1}


def work(small: bool) -> Iterator[Parameters]:
    """Yield the two ranges of sizes of the survey paper."""
    for threads, largest in ((1 << 20, 64), (1 << 17, 4096)):
        few = 256 if small else threads
        yield {"threads": few, "size_min": 4, "size_max": largest, "iterations": 10, "seed": 1}


def accesses(small: bool) -> Iterator[Parameters]:
    """Yield sizes that are equal, and drawn."""
    for least, most in ((16, 16), (64, 64), (4, 64)):
        threads = 256 if small else 1 << 17
        yield {"threads": threads, "size_min": least, "size_max": most, "iterations": 10, "seed": 1}


def updates(small: bool) -> Iterator[Parameters]:
    """Yield batches from all vertices, and from a thousand of them each round."""
    batch = 1000 if small else 100_000
    for adjacency in ("blocks", "pages"):
        for source_range in (0, 1000):
            points = {"adjacency": adjacency, "batch": batch, "source_range": source_range}
            yield {**points, "rounds": 10, "seed": 1}


def growths(small: bool) -> Iterator[Parameters]:
    """Yield an R-MAT graph that grows in rounds, and at once."""
    shape = {"scale": 10, "batch": 1000} if small else {"scale": 18, "batch": 400_000}
    for adjacency in ("blocks", "pages"):
        yield {"adjacency": adjacency, **shape, "rounds": 10, "seed": 1}
    whole = {**shape, "batch": 10 * shape["batch"]}
    yield {"adjacency": "blocks", **whole, "rounds": 1, "seed": 1}


def large_growths(small: bool) -> Iterator[Parameters]:
    """Yield the growth to 100 million edges by a hundred batches of a million."""
    shape = {**LARGE, "scale": 12, "batch": 10_000, "heap_bytes": GIB // 4} if small else LARGE
    for adjacency in ("blocks", "pages"):
        yield {"adjacency": adjacency, **shape}


PLANS = {
    "join": joins,
    "group_by": group_bys,
    "graph_update": updates,
    "graph_expand": growths,
    "work_generation": work,
    "access": accesses,
    "rmat_100m": large_growths,
}
STANDARD = [name for name in PLANS if name != "rmat_100m"]


def plan(options: argparse.Namespace) -> Iterator[tuple[str, str, Parameters]]:
    """Yield case, manager and parameters: the first point of every case, then the second ones."""
    points = {name: list(PLANS[name](options.quick)) for name in options.cases}
    for place in range(max(len(of_case) for of_case in points.values())):
        for name, of_case in points.items():
            for manager in options.managers if place < len(of_case) else ():
                case = "graph_expand" if name == "rmat_100m" else name
                heap_bytes = GIB // 4 if options.quick else 4 * GIB
                yield case, manager, {"heap_bytes": heap_bytes, **of_case[place]}


def measure(
    options: argparse.Namespace, case: str, manager: str, parameters: Parameters, graph: Any
) -> dict[str, Any]:
    """Run one measurement and return its row, whatever the outcome."""
    flags = ["--case", case, "--manager", manager]
    for name, value in parameters.items():
        flags += [f"--{name.replace('_', '-')}", str(value)]
    files = ["--graph", str(options.graphs / graph["csr_file"])] if graph else []
    limit = min(options.limit, max(1.0, options.end - time.monotonic()))
    outcome = process.run([options.program, "run", *flags, *files], limit)
    row: dict[str, Any] = {
        "schema": 1,
        "case": case,
        "manager": manager,
        "backend": options.backend,
    }
    row.update(parameters)
    try:
        row.update(json.loads(outcome.stdout))
    except ValueError:
        timed_out = f"not finished in {limit:.0f} s"
        row["status"] = "timeout" if outcome.timed_out else "crashed"
        row["reason"] = timed_out if outcome.timed_out else outcome.death()
    if graph:
        row.update(graph=graph["name"], graph_sha256=graph["digest"])
        row.update(nodes=graph["nodes"], edges=graph["edges"])
    command = [*options.command, *flags]
    row["commit"] = options.commit
    row["time"] = datetime.now(UTC).isoformat(timespec="seconds")
    row["wall_s"] = round(outcome.wall_s, 3)
    row["command"] = " ".join(command + (["--graph", graph["file"]] if graph else []))
    return row


def prepare(folder: Path, names: list[str]) -> None:
    """Write graph files as CSR, and return what rows say about them."""
    from warpheap import graphs  # noqa: PLC0415  loads SciPy

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        made = graphs.load(Path(name), folder)
        said = {key: getattr(made, key) for key in ("name", "file", "digest", "nodes", "edges")}
        said["csr_file"] = made.csr_file.name
        (folder / f"{made.name}.json").write_text(json.dumps(said))
        print(f"{made.name}: {made.nodes} vertices, {made.edges} edges")


def main() -> int:
    """Measure what the options say; return 1 if a row is neither ok nor skipped."""
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument("out", type=Path, nargs="?")
    words.add_argument("graph_files", nargs="*")
    words.add_argument("--prepare", type=Path)
    words.add_argument("--program", type=Path)
    words.add_argument("--graphs", type=Path)
    words.add_argument("--cases", type=lambda text: text.split(","), default=STANDARD)
    words.add_argument("--managers", type=lambda text: text.split(","), default=list(MANAGERS))
    words.add_argument("--seconds", type=float, default=140)
    words.add_argument("--limit", type=float, default=30)
    words.add_argument("--commit", default="unknown")
    words.add_argument("--quick", action="store_true")
    options = words.parse_args()
    if options.prepare:
        prepare(options.prepare, [str(options.out), *options.graph_files])
        return 0
    if options.out is None or options.program is None:
        words.error("OUT.jsonl and --program are needed")
    for name in options.cases:
        if name not in PLANS:
            words.error(f"unknown case '{name}': known are {', '.join(PLANS)}")
    listed = json.loads(process.run([options.program, "list"], 60).stdout)
    options.backend = listed["backend"]
    options.command = listed.get("command", ["warpheap", "bench", "--backend", options.backend])
    known = {manager["name"] for manager in listed["managers"]}
    for name in options.managers:
        if name not in known:
            print(f"{name}: not in this program", flush=True)
    options.managers = [name for name in options.managers if name in known]
    options.end = time.monotonic() + options.seconds
    made = sorted(options.graphs.glob("*.json")) if options.graphs else []
    graphs = [json.loads(file.read_text()) for file in made]

    wrong = 0
    with options.out.open("a") as out:
        for case, manager, parameters in plan(options):
            for graph in graphs if case == "graph_update" else [None]:
                if time.monotonic() > options.end:
                    print(f"out of time before {case} {manager} {parameters}", flush=True)
                    return 1
                row = measure(options, case, manager, parameters, graph)
                out.write(json.dumps(row) + "\n")
                out.flush()
                wrong += row["status"] not in ("ok", "skipped")
                reason = f": {row['reason']}" if row.get("reason") else ""
                where = f" {graph['name']}" if graph else ""
                said = f"{row['wall_s']:6.2f} s {case} {manager}{where} {row['status']}{reason}"
                print(said[:150], flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
