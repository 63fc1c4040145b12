# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the workloads (docs/workloads.md) on a machine with a GPU, in one call of minutes.

usage: gpu_rows.py OUT --program warpheap-bench-cuda [--graphs DIR] [--cases NAME,...]
                   [--managers NAME,...] [--limit N] [--quick]
       gpu_rows.py --prepare DIR GRAPH...

This is a plan for the runner of `warpheap survey`: a short one, in which what matters most comes
first, that needs no package but Python's own, so that it also runs where nothing can be installed.
The folder OUT gets the rows as from a survey. One that takes more than --limit seconds (30) is a
timeout; `timeout 140 gpu_rows.py ...` ends the whole, and the same command goes on where it was
stopped. --cases also knows `rmat_100m`, the growth to 100 million edges, which takes minutes and is
not among the standard cases. PROGRAM can also be one of bench/peers, with --cases join,group_by;
its peers are measured unless --managers names some. --prepare writes graph files as CSR to DIR, for
--graphs; it needs the tool's packages.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from warpheap import catalog as catalogs  # noqa: E402
from warpheap import results, survey  # noqa: E402
from warpheap.catalog import Catalog  # noqa: E402
from warpheap.console import complain  # noqa: E402
from warpheap.errors import EXIT_FAILED, UserError, check_names  # noqa: E402
from warpheap.measure import Measurement  # noqa: E402
from warpheap.plan_points import GIB, Parameters  # noqa: E402
from warpheap.row_fields import Description  # noqa: E402

MANAGERS = ("rw_malloc", "warpheap", "gallatin", "ouroboros_va_p", "halloc", "cuda")
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


def plan(catalog: Catalog, options: argparse.Namespace, graphs: list[Any]) -> list[Measurement]:
    """Make the plan: the first point of every case, then the second ones."""
    there = [manager.name for manager in catalog.managers]
    check_names("case", options.cases, PLANS)
    check_names("manager", options.managers, there)
    managers = options.managers or [name for name in MANAGERS if name in there] or there
    points = {name: list(PLANS[name](options.quick)) for name in options.cases}
    wanted = []
    for place in range(max(len(of_case) for of_case in points.values())):
        for name, of_case in points.items():
            case = "graph_expand" if name == "rmat_100m" else name
            check_names("case", [case], catalog.described.cases)
            heap_bytes = GIB // 4 if options.quick else 4 * GIB
            for manager in managers if place < len(of_case) else ():
                parameters = {"heap_bytes": heap_bytes, **of_case[place]}
                for graph in graphs if case == "graph_update" else [None]:
                    wanted.append(Measurement(catalog, case, manager, parameters, graph))
    return wanted


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


def measure(options: argparse.Namespace) -> bool:
    """Measure what the options say; tell whether nothing is wrong."""
    catalog = catalogs.load(options.program)
    if not catalog.available:
        raise UserError(f"{options.program}: {catalog.reason}", EXIT_FAILED)
    made = sorted(options.graphs.glob("*.json")) if options.graphs else []
    graphs = [SimpleNamespace(**json.loads(file.read_text())) for file in made]
    for graph in graphs:
        graph.csr_file = options.graphs / graph.csr_file
    wanted = plan(catalog, options, graphs)
    with results.Store(options.out) as store:
        # Peers have the cases of the survey's programs, which describe them.
        cases = {name: case for name, case in catalog.described.cases.items() if case.fields}
        Description(catalog.described.fields, cases).write(options.out)
        done = survey.run(wanted, store, options.limit, retry=False)
    print(", ".join(f"{count} {status}" for status, count in done.statuses().items()))
    return results.succeeded(done.statuses())


def names(text: str) -> list[str]:
    """Split what an option lists."""
    return text.split(",")


def main() -> int:
    """Do what the command line says; return 1 if a row is neither ok nor skipped."""
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument("out", type=Path, nargs="?")
    words.add_argument("graph_files", nargs="*")
    words.add_argument("--prepare", type=Path)
    words.add_argument("--program", type=Path)
    words.add_argument("--graphs", type=Path)
    words.add_argument("--cases", type=names, default=STANDARD)
    words.add_argument("--managers", type=names, default=[])
    words.add_argument("--limit", type=float, default=30)
    words.add_argument("--quick", action="store_true")
    options = words.parse_args()
    if options.prepare:
        prepare(options.prepare, [str(options.out), *options.graph_files])
        return 0
    if options.out is None or options.program is None:
        words.error("OUT and --program are needed")
    try:
        return 0 if measure(options) else EXIT_FAILED
    except UserError as error:
        complain("error", str(error))
        return error.exit_code


if __name__ == "__main__":
    raise SystemExit(main())
