# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Join and group-by over every manager that frees single blocks, against DuckDB.

The program is that of the CPU model, or the one that WARPHEAP_BENCH_PROGRAM names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAP = 64 << 20
PAGE = 256

pytestmark = pytest.mark.xdist_group("operators")


@dataclass(frozen=True)
class Program:
    """The survey's program."""

    path: str

    def list(self) -> dict[str, Any]:
        done = subprocess.run([self.path, "list"], capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout))

    def run(self, case: str, manager: str, **parameters: object) -> dict[str, Any]:
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]
        words = [self.path, "run", "--case", case, "--manager", manager, *flags]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def program() -> Program:
    named = os.environ.get("WARPHEAP_BENCH_PROGRAM")
    if named:
        return Program(named)
    name = "bench/warpheap-bench-cpu"
    found = [*ROOT.glob(f"build/cpu-release/{name}"), *ROOT.glob(f"build/*/{name}")]
    if not found:
        pytest.skip(f"{name} is not built")
    return Program(str(found[0]))


@pytest.fixture(scope="module")
def managers(program: Program) -> list[str]:
    """Return those that free single blocks of memory, and hand out no block twice."""
    found = []
    for manager in program.list()["managers"]:
        if not manager["available"]:
            continue
        row = program.run("join", manager["name"], rows=1, distinct_keys=1, iterations=1)
        if row["status"] == "ok":
            found.append(manager["name"])
        else:
            assert row["status"] == "skipped", row
    assert len(found) > 15
    return found


Table = list[tuple[int, int]]


def write(path: Path, rows: Table) -> str:
    """Write a table and return the name of its columns as the program takes it."""
    lines = "".join(f"{key},{value}\n" for key, value in rows)
    path.write_text(f"key,value\n{lines}", encoding="utf-8")
    return f"{path}:key:value"


def read(path: Path) -> Counter[tuple[int, ...]]:
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return Counter(tuple(map(int, line.split(","))) for line in lines)


def joined(build: Table, probe: Table) -> Counter[tuple[int, ...]]:
    """The definition of a join."""
    sides: dict[int, list[int]] = {}
    for key, value in build:
        sides.setdefault(key, []).append(value)
    return Counter((key, b, value) for key, value in probe for b in sides.get(key, ()))


def grouped(rows: Iterable[tuple[int, ...]]) -> Counter[tuple[int, ...]]:
    """The definition of a group-by: key, count, sum, min, max."""
    groups: dict[int, list[int]] = {}
    for key, value in rows:
        groups.setdefault(key, []).append(value)
    return Counter((k, len(v), sum(v), min(v), max(v)) for k, v in groups.items())


LAST = 2**32 - 1
FEW = [(1, 2), (1, 3), (7, 4), (LAST, LAST), (0, 0), (LAST, 1), (7, 4)]
FIXED: dict[str, tuple[Table, Table]] = {
    "both empty": ([], []),
    "nothing to look up": (FEW, []),
    "nothing to find": ([], FEW),
    "no key in common": (FEW, [(2, 1), (LAST - 1, 5)]),
    "keys more than once": (FEW, FEW),
    # More rows of one key than a block of lanes holds at once.
    "all keys equal": ([(5, i) for i in range(2100)], [(5, 7), (5, 9), (6, 1)]),
    "each key once": ([(i, i) for i in range(3000)], [(i, i + 1) for i in range(0, 6000, 7)]),
}


@pytest.mark.parametrize("name", FIXED)
def test_fixed_tables(program: Program, managers: list[str], tmp_path: Path, name: str) -> None:
    build, probe = FIXED[name]
    tables = {
        "build_table": write(tmp_path / "build.csv", build),
        "probe_table": write(tmp_path / "probe.csv", probe),
    }
    output = tmp_path / "out.csv"
    common = {"iterations": 1, "heap_bytes": HEAP, "output": output}
    # All managers with the tables that take pages of all kinds; any of them with the others.
    for manager in managers if name in ("all keys equal", "each key once") else ["rw_malloc"]:
        row = program.run("join", manager, **tables, **common)
        assert (row["status"], row["lost_rows"]) == ("ok", 0), row
        assert read(output) == joined(build, probe), manager
        row = program.run("group_by", manager, input_table=tables["build_table"], **common)
        assert (row["status"], row["lost_rows"]) == ("ok", 0), row
        assert read(output) == grouped(build), manager


@pytest.fixture(scope="module")
def tpch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the tables of TPC-H at scale 0.01, and views of them in DuckDB."""
    pytest.importorskip("duckdb", reason="DuckDB, the reference, is not installed")
    try:
        folder = tmp_path_factory.mktemp("tpch")
        tables = "--tables=lineitem,orders"
        command = ["tpchgen-cli", "csv", "-s", "0.01", tables, "-o", str(folder)]
        scripts = Path(sys.executable).parent
        path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PATH": path})
    except FileNotFoundError:
        pytest.skip("tpchgen-cli, which makes the tables, is not installed")
    return folder


def ask_duckdb(query: str) -> Counter[tuple[int, ...]]:
    import duckdb  # noqa: PLC0415  skipped without it

    return Counter(tuple(map(int, row)) for row in duckdb.sql(query).fetchall())


JOIN = """
    select r.k, r.v, s.v from
      (select o_orderkey k, o_custkey v from '{0}/orders.csv') r join
      (select l_orderkey k, l_partkey v from '{0}/lineitem.csv' where {1}) s using (k)
"""
GROUP = """
    select {2}, count(*), sum(l_partkey), min(l_partkey), max(l_partkey)
    from '{0}/lineitem.csv' where {1} group by {2}
"""
EVERY = "true"
# For managers that are not the default: the CPU model takes its time.
SOME = "l_orderkey % 8 = 1"


def lineitem(folder: Path, rows: str) -> Path:
    import duckdb  # noqa: PLC0415  as above

    path = folder / f"lineitem_{'some' if rows == SOME else 'all'}.csv"
    if not path.exists():
        chosen = f"select * from '{folder}/lineitem.csv' where {rows}"
        duckdb.sql(f"copy ({chosen}) to '{path}' (header)")
    return path


Check = Callable[..., None]


@pytest.fixture
def check_with_managers(program: Program, managers: list[str], tmp_path: Path) -> Check:
    """Compare the rows of a case with DuckDB's: of some rows with every manager."""

    def check(case: str, rows: str, query: str, **tables: str) -> None:
        expected = ask_duckdb(query)
        output = tmp_path / "out.csv"
        for manager in managers if rows == SOME else ["rw_malloc"]:
            row = program.run(case, manager, heap_bytes=HEAP, iterations=1, output=output, **tables)
            assert (row["status"], row["lost_rows"]) == ("ok", 0), row
            assert read(output) == expected, manager

    return check


@pytest.mark.parametrize("rows", [EVERY, SOME], ids=["all rows", "every manager"])
def test_lineitem_joins_orders(check_with_managers: Check, tpch: Path, rows: str) -> None:
    check_with_managers(
        "join",
        rows,
        JOIN.format(tpch, rows),
        build_table=f"{tpch}/orders.csv:o_orderkey:o_custkey",
        probe_table=f"{lineitem(tpch, rows)}:l_orderkey:l_partkey",
    )


@pytest.mark.parametrize("rows", [EVERY, SOME], ids=["all rows", "every manager"])
@pytest.mark.parametrize("key", ["l_linenumber", "l_orderkey"])
def test_lineitem_grouped(check_with_managers: Check, tpch: Path, key: str, rows: str) -> None:
    table = f"{lineitem(tpch, rows)}:{key}:l_partkey"
    check_with_managers("group_by", rows, GROUP.format(tpch, rows, key), input_table=table)


def test_values_that_are_too_large_are_named(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text('key,value\n1,2\n"3",4294967296\n', encoding="utf-8")
    words = [program.path, "run", "--case=group_by", "--manager=rw_malloc"]
    done = subprocess.run(
        [*words, f"--input-table={path}:key:value"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"{path}: line 3: key is '\"3\"'; whole numbers from 0 to" in done.stderr


PERCENT_SHORT = (1, 10, 50)


def too_small(program: Program, case: str, percent: int, **tables: object) -> int:
    """Return the bytes of a heap that lacks that share of what the pages alone take."""
    row = program.run(case, "rw_malloc", heap_bytes=HEAP, iterations=1, **tables)
    return int(row["peak_bytes"]) * (100 - percent) // 100


def out_of_memory(
    program: Program, case: str, managers: list[str], heap_bytes: int, **tables: object
) -> list[str]:
    """Run a case in a heap that is too small; give managers whose heaps can be that small."""
    ran = []
    for manager in managers:
        if manager == "cuda":
            continue  # its heap is the driver's, which makes it larger than it is asked to
        row = program.run(case, manager, heap_bytes=heap_bytes, iterations=1, **tables)
        if row["status"] == "skipped":
            continue  # it needs a larger heap, or has no blocks of this size in one
        assert (row["status"], row["corrupted"]) == ("ok", 0), row
        assert row["lost_rows"] > 0, row
        ran.append(manager)
        check = check_join if case == "join" else check_group_by
        check(manager, Path(str(tables["output"])))
    return ran


BUILD: Table = [(5, i) for i in range(200)] + [(6, 1)]
PROBE: Table = [(5, i + 7) for i in range(200)] + [(6, 2), (8, 2)]
INPUT: Table = [(i * 2654435761 % 97 * 1000003, i) for i in range(8000)]


def check_join(manager: str, output: Path) -> None:
    """What is there is right, and what is missing is counted for the rows that it is missing of."""
    kept, lost, expected = read(output), Counter[tuple[int, int]](), joined(BUILD, PROBE)
    for line in Path(f"{output}.lost").read_text(encoding="utf-8").splitlines()[1:]:
        key, value, count = map(int, line.split(","))
        lost[key, value] += count
    assert kept <= expected, manager
    missing: Counter[tuple[int, int]] = Counter()
    for (key, _, value), count in (expected - kept).items():
        missing[key, value] += count
    assert lost == missing, manager


def check_group_by(manager: str, output: Path) -> None:
    """The groups are those of all rows but the ones that are reported."""
    lost = read(Path(f"{output}.lost"))
    rows = Counter[tuple[int, ...]](INPUT)
    assert lost <= rows, manager
    assert read(output) == grouped((rows - lost).elements()), manager


@pytest.mark.parametrize("percent", PERCENT_SHORT)
def test_heaps_that_are_too_small(
    program: Program, managers: list[str], tmp_path: Path, percent: int
) -> None:
    output = {"output": tmp_path / "out.csv"}
    tables = {
        "build_table": write(tmp_path / "build.csv", BUILD),
        "probe_table": write(tmp_path / "probe.csv", PROBE),
    }
    heap_bytes = too_small(program, "join", percent, **tables)
    ran = out_of_memory(program, "join", managers, heap_bytes, **tables, **output)
    assert len(ran) >= len(managers) // 3
    rows = {"input_table": write(tmp_path / "rows.csv", INPUT)}
    heap_bytes = too_small(program, "group_by", percent, **rows)
    # All managers once: rows take the CPU model longer than matches.
    some = managers if percent == 10 else ["rw_malloc", "corw"]
    ran = out_of_memory(program, "group_by", some, heap_bytes, **rows, **output)
    assert len(ran) >= len(some) // 3
