# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dynamic graph of the survey's program against NetworkX, with every manager that frees blocks.

After each update the program's edges must be those of a ``networkx.DiGraph`` that got the same
update without the edges which the program reports as refused. The program is that of the CPU model,
or the one that WARPHEAP_BENCH_PROGRAM names; skipped where it is not built.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import networkx
import pytest

from warpheap import graphs

ROOT = Path(__file__).resolve().parents[2]
LAYOUTS = ("blocks", "pages")
AMPLE = 64 << 20


@cache
def program() -> Path | None:
    """Return the program."""
    named = os.environ.get("WARPHEAP_BENCH_PROGRAM")
    if named:
        return Path(named)
    place = "bench/warpheap-bench-cpu"
    found = [*ROOT.glob(f"build/cpu-release/{place}"), *ROOT.glob(f"build/*/{place}")]
    return found[0] if found else None


def managers() -> list[str]:
    """Return the managers that free single blocks of bytes."""
    if program() is None:
        return []
    listed = json.loads(subprocess.check_output([str(program()), "list"]))
    return [
        manager["name"]
        for manager in listed["managers"]
        if manager["available"]
        and manager["capabilities"]["frees"]
        and manager["capabilities"]["scope"] != "object"
    ]


def run(case: str, **parameters: object) -> dict[str, Any]:
    """Return the row of a measurement."""
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]
    command = [str(program()), "run", "--case", case, *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def pairs(keys: list[int]) -> Iterator[tuple[int, int]]:
    """Return the edges that the program writes as numbers."""
    return ((key >> 32, key & 0xFFFFFFFF) for key in keys)


def check(dump: Path) -> int:
    """Replay a program's updates with NetworkX and compare. Give how many edges were refused."""
    reference = networkx.DiGraph()
    refusals = updates = 0
    for line in dump.read_text().splitlines():
        said = json.loads(line)
        if "update" in said:
            updates += 1
            reference.add_nodes_from(range(said["vertices"]))
            batch, refused = set(pairs(said["batch"])), set(pairs(said["refused"]))
            assert len(refused) == len(said["refused"]), "an edge is refused twice"
            assert refused <= batch
            assert not any(reference.has_edge(*edge) for edge in refused), "a known edge is refused"
            if said["update"] == "insert":
                reference.add_edges_from(batch - refused)
            else:
                assert not refused, "a deletion is refused"
                reference.remove_edges_from(batch)
            assert len(said["edges"]) == reference.number_of_edges()
            assert set(pairs(said["edges"])) == set(reference.edges)
            refusals += len(refused)
        elif "triangles" in said:
            whole = networkx.Graph(reference.to_undirected(reciprocal=True))
            # With refused edges one direction may be missing: the program counts undirected graphs.
            if not refusals:
                assert said["triangles"] == sum(networkx.triangles(whole).values()) // 3
        else:
            ranks = networkx.pagerank(reference, alpha=0.85, tol=1e-10, max_iter=1000)
            for vertex, rank in enumerate(said["pagerank"]):
                assert rank == pytest.approx(ranks[vertex], abs=1e-6)
    assert updates > 0
    return refusals


def smallest_heap(asked: dict[str, object], least: int) -> int:
    """Return a heap in which everything fits and that is at most 3 % too large."""

    def fits(heap_bytes: int) -> bool:
        return bool(run(**asked, heap_bytes=heap_bytes)["status"] == "ok")  # type: ignore[arg-type]

    low, high = least, 2 * least
    while not fits(high):
        low, high = high, 2 * high
    while high - low > high * 0.03:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the smallest shipped graph as a CSR file."""
    return graphs.load(Path("1138_bus.mtx"), tmp_path_factory.mktemp("csr")).csr_file


@pytest.mark.skipif(program() is None, reason="warpheap-bench-cpu is not built")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("manager", managers())
def test_edges_are_those_of_networkx(manager: str, layout: str, bus: Path, tmp_path: Path) -> None:
    """With memory enough, and with heaps that are too small by 1, 10 and 50 %."""
    dump = tmp_path / "dump.jsonl"
    asked = {
        "case": "graph_update",
        "manager": manager,
        "graph": bus,
        "adjacency": layout,
        "batch": 500,
        "rounds": 2,
        "source_range": 50,
    }
    row = run(**asked, heap_bytes=AMPLE, dump=dump)  # type: ignore[arg-type]
    expect_sound(row)
    assert (row["refused_edges"], row["triangles"]) == (0, 128)
    assert check(dump) == 0
    needed = smallest_heap(asked, row["peak_block_bytes"] // 2)
    refusals = 0
    for percent in (1, 10, 50):
        heap_bytes = needed * (100 - percent) // 100
        row = run(**asked, heap_bytes=heap_bytes, overfull="go_on", dump=dump)  # type: ignore[arg-type]
        if "is too small for" in (row["reason"] or ""):
            continue  # the manager's own data does not fit
        expect_sound(row)
        assert check(dump) == row["refused_edges"]
        refusals += row["refused_edges"]
    if refusals == 0:
        # The smallest heap of this manager holds the graph: an update that no such heap holds. CUDA
        # makes its own heap larger than it is asked to.
        for batch in (150_000, 1_000_000, 6_000_000):
            larger = asked | {"batch": batch, "rounds": 1, "source_range": 0}
            row = run(**larger, heap_bytes=needed, overfull="go_on", dump=dump)  # type: ignore[arg-type]
            expect_sound(row)
            refusals = row["refused_edges"]
            assert check(dump) == refusals
            if refusals != 0:
                break
        assert refusals != 0


def expect_sound(row: dict[str, Any]) -> None:
    """All edges were right, and nothing was left in the heap."""
    assert (row["status"], row["corrupted"], row["leaked_blocks"]) == ("ok", 0, 0), row
