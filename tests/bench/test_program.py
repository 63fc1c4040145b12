# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs warpheap-bench-cpu, every case with every manager, and checks what it prints."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

PROGRAM = ""

SUMMARY = {"first", "median", "mean", "std", "min", "max", "p50", "p99"}
NULL = type(None)
ALWAYS: dict[str, type | tuple[type, ...]] = {
    "schema": int,
    "case": str,
    "manager": str,
    "backend": str,
    "device": str,
    "mode": (str, NULL),
    "threads": (int, NULL),
    "size_min": (int, NULL),
    "size_max": (int, NULL),
    "heap_bytes": (int, NULL),
    "iterations": (int, NULL),
    "seed": (int, NULL),
    "status": str,
    "reason": (str, NULL),
    "null_returns": (int, NULL),
    "corrupted": (int, NULL),
    "malloc_ms": (dict, NULL),
    "free_ms": (dict, NULL),
}
# Small enough for a sanitizer. What a case does not have is left out.
SMALL = {
    "threads": 512,
    "heap_bytes": 4 << 20,
    "pages": 1 << 14,
    "iterations": 2,
    "rounds": 8,
}
# What the rows of a case must have beyond the common fields, and whether it is a summary.
FIELDS = {
    "init": {"init_ms": True, "reset_ms": True},
    "alloc": {"malloc_ms": True, "free_ms": True, "free_percent": False},
    "scaling": {"malloc_ms": True, "free_ms": True},
    "random_walk_steps": dict.fromkeys(
        ("tas", "was", "tas_model", "was_bound", "word_bits", "page_count", "free_pages"), False
    ),
    "graph_init": {"malloc_ms": True, "free_ms": True, "write_ms": True, "nodes": False},
    "latency": {},
    "fragmentation": dict.fromkeys(("range_over_bytes", "range_over_bytes_last"), False),
    "utilization": {"utilization": False, "fill_ms": False},
    "growth": {"rounds": False, "live_bytes": False, "out_of_memory": False},
    "churn": {"churn_ms": True},
    "holes": {"refilled_share": False, "quarter_in_one_block": False, "half_in_one_block": False},
    "exhaustion": {"null_ms": True, "recovered_share": False},
}


def call(*words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    return subprocess.run(
        [PROGRAM, *words], input=text, capture_output=True, text=True, timeout=300, check=False
    )


def catalog() -> dict[str, Any]:
    """Give what `list` prints."""
    done = call("list")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def run(case: str, manager: str, **parameters: object) -> dict[str, Any]:
    """Give the row of a measurement."""
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]
    done = call("run", "--case", case, "--manager", manager, *flags)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1, done.stdout
    return dict(json.loads(done.stdout))


def write_graph(path: Path) -> None:
    """Write a star of 40 vertices and a vertex without neighbours."""
    rows = [list(range(1, 40))] + [[0] for _ in range(39)] + [[]]
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    entries = [v for row in rows for v in row]
    path.write_bytes(
        b"WHCSR\0\0\1"
        + struct.pack(f"<QQ{len(offsets)}Q", len(rows), len(entries), *offsets)
        + struct.pack(f"<{len(entries)}I", *entries)
    )


class ListTest(unittest.TestCase):
    """What there is to measure."""

    def test_list_names_managers_and_cases(self) -> None:
        """The format that the survey's tool reads."""
        found = catalog()
        self.assertEqual(found["schema"], 1)
        self.assertEqual(found["backend"], "cpu")
        self.assertTrue(found["available"])
        self.assertIsNone(found["reason"])
        names = [manager["name"] for manager in found["managers"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("bump_sharded", names)
        for manager in found["managers"]:
            claims = manager["capabilities"]
            self.assertIn(claims["scope"], {"thread", "warp", "object", "page"})
            self.assertIn(claims["reuse"], {"all", "partial", "none"})
            self.assertEqual(manager["available"], manager["reason"] is None)
        missing = [m["name"] for m in found["managers"] if not m["available"]]
        self.assertEqual(missing, ["cuda"])
        self.assertEqual([case["name"] for case in found["cases"]], list(FIELDS))
        for case in found["cases"]:
            for parameter in case["parameters"]:
                self.assertEqual(set(parameter), {"name", "unit", "default", "about"})


class RowTest(unittest.TestCase):
    """Every case with every manager."""

    def check(self, row: dict[str, Any], case: str) -> None:
        """The row's format, and that nothing went wrong."""
        for name, kind in ALWAYS.items():
            self.assertIn(name, row)
            self.assertIsInstance(row[name], kind, name)
        self.assertIn(row["status"], {"ok", "skipped"}, row)
        if row["status"] == "skipped":
            self.assertTrue(row["reason"])
            return
        self.assertIsNone(row["reason"])
        self.assertIn(row["corrupted"], {0, None})
        for name, is_summary in FIELDS[case].items():
            self.assertIn(name, row)
            if is_summary:
                self.assertEqual(set(row[name]), SUMMARY)
                self.assertLessEqual(row[name]["min"], row[name]["median"])
                self.assertLessEqual(row[name]["median"], row[name]["max"])

    def test_every_case_with_every_manager(self) -> None:
        """No crash, no corruption; every case but latency is measured with some manager."""
        found = catalog()
        with tempfile.TemporaryDirectory() as folder:
            graph = Path(folder) / "star.csr"
            write_graph(graph)
            for case in found["cases"]:
                own = {p["name"] for p in case["parameters"]}
                parameters: dict[str, object] = {k: v for k, v in SMALL.items() if k in own}
                if "graph" in own:
                    parameters["graph"] = graph
                states = set()
                for manager in found["managers"]:
                    with self.subTest(case=case["name"], manager=manager["name"]):
                        row = run(case["name"], manager["name"], **parameters)
                        self.check(row, case["name"])
                        states.add(row["status"])
                if case["name"] == "latency":
                    self.assertEqual(states, {"skipped"})
                else:
                    self.assertIn("ok", states)

    def test_graph_is_counted(self) -> None:
        """The vertex without neighbours asks for nothing; all others are intact."""
        with tempfile.TemporaryDirectory() as folder:
            graph = Path(folder) / "star.csr"
            write_graph(graph)
            row = run("graph_init", "bump", graph=graph, heap_bytes=1 << 20)
        self.assertEqual((row["nodes"], row["entries"], row["largest_degree"]), (41, 78, 39))
        self.assertEqual(row["intact_adjacencies"], 40)
        self.assertEqual(row["null_returns"], 0)

    def test_mixed_sizes(self) -> None:
        """Both distributions, and pages of the largest size."""
        for manager in ("rw_malloc", "corw"):
            for how in ("uniform", "powers"):
                row = run(
                    "alloc", manager, threads=500, size_min=16, size_max=512, distribution=how
                )
                self.check(row, "alloc")
                self.assertEqual((row["status"], row["null_returns"]), ("ok", 0))

    def test_walks_follow_the_equations(self) -> None:
        """TAS within 5 % of the model, WAS not above its bound by more than chance."""
        for manager in ("rw", "rw_bm", "corw"):
            for free_percent in (50, 10, 1):
                with self.subTest(manager=manager, free_percent=free_percent):
                    row = run("random_walk_steps", manager, free_percent=free_percent)
                    self.assertEqual(row["status"], "ok")
                    self.assertAlmostEqual(row["tas"] / row["tas_model"], 1, delta=0.05)
                    self.assertLess(row["was"], row["was_bound"] + 4 * row["was_error"] + 0.01)


class RefusalTest(unittest.TestCase):
    """What cannot be followed ends with exit status 2 and a message."""

    def refused(self, *words: str) -> str:
        """Give the message."""
        done = call(*words)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_unknown_names_list_the_known_ones(self) -> None:
        """Managers, cases, parameters."""
        manager = self.refused("run", "--case", "alloc", "--manager", "nobody")
        self.assertIn("no manager 'nobody'; there are: bump, ", manager)
        case = self.refused("run", "--case", "none", "--manager", "bump")
        self.assertIn("no case 'none'; there are: init, alloc", case)
        parameter = self.refused("run", "--case=init", "--manager=bump", "--threads=1")
        self.assertIn("has no parameter 'threads'", parameter)
        self.refused("run", "--case=alloc", "--manager=bump", "--unknown=1")
        self.refused()

    def test_bad_values(self) -> None:
        """Numbers and files."""
        self.assertIn(
            "--threads is '-4'",
            self.refused("run", "--case=alloc", "--manager=bump", "--threads=-4"),
        )
        with tempfile.NamedTemporaryFile(suffix=".csr") as graph:
            graph.write(b"WHCSR\0\0\1" + bytes(16) + bytes(9))
            graph.flush()
            message = self.refused(
                "run", "--case=graph_init", "--manager=bump", f"--graph={graph.name}"
            )
        self.assertIn(f"{graph.name}: has 33 bytes", message)
        missing = self.refused("run", "--case=graph_init", "--manager=bump", "--graph=/no/file")
        self.assertIn("/no/file: cannot be opened", missing)

    def test_heap_larger_than_the_memory_says_how_much_there_is(self) -> None:
        """A row, because the next machine may have it."""
        for heap_bytes in (1 << 40, 99999999999999, (1 << 64) - 1):
            row = run("alloc", "bump", heap_bytes=heap_bytes)
            self.assertEqual(row["status"], "skipped")
            self.assertRegex(
                row["reason"], rf"cannot allocate {heap_bytes} bytes: .* has \d+ bytes"
            )

    def test_rows_of_the_cpu_model_name_the_compiler(self) -> None:
        """The version alone could be anybody's."""
        row = run("alloc", "bump")
        self.assertRegex(row["toolkit"], r"^(g|clang)\+\+ \d+\.\d+\.\d+$")


class BatchTest(unittest.TestCase):
    """Plans of many measurements."""

    def test_rows_come_in_order_and_a_hang_is_one_of_them(self) -> None:
        """An ok row, a timeout, a refusal, a skipped one."""
        plan = "\n".join(
            [
                '{"case": "alloc", "manager": "bump", "threads": 32, "size_max": 64}',
                "",
                '{"case": "churn", "manager": "corw", "rounds": 100000, "time_limit": 0.5}',
                '{"case": "alloc", "manager": "nobody"}',
                '{"case": "alloc", "manager": "cuda"}',
            ]
        )
        done = call("batch", "-", "--commit", "abc", text=plan)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["status"] for row in rows], ["ok", "timeout", "failed", "skipped"])
        self.assertEqual(rows[0]["size_min"], 64)
        self.assertEqual(rows[1]["rounds"], 100000)
        self.assertIn("no manager 'nobody'", rows[2]["reason"])
        for row in rows:
            self.assertEqual(row["backend"], "cpu")
            self.assertEqual(row["device"], rows[0]["device"])
            self.assertEqual(row["commit"], "abc")
            self.assertRegex(row["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertGreater(row["wall_s"], 0)

    def test_line_that_cannot_be_followed_is_named(self) -> None:
        """With the plan's name and the line's number."""
        done = call("batch", "-", text='{"case": "init", "manager": "bump"}\n{"case": 3}\n')
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard input:2: a JSON object", done.stderr)
        self.assertEqual(call("batch", "/no/such/plan").returncode, 2)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
