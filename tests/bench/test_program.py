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
KINDS: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "graph": str,
    "integer": int,
    "number": (int, float),
    "flag": bool,
    "summary": dict,
}
# Small enough for a sanitizer. What a case does not have is left out.
SMALL = {
    "threads": 512,
    "heap_bytes": 4 << 20,
    "pages": 1 << 14,
    "iterations": 2,
    "rounds": 8,
    "rows": 2048,
    "distinct_keys": 512,
}
# Cases that fill the heap with blocks, among all of which some managers search: few are enough.
SMALL_FILLED = {"size_min": 256, "size_max": 256}
SMALL_STEADY = {"rounds": 4, "size_min": 512, "size_max": 512}


def call(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    return subprocess.run(
        [PROGRAM, *words], capture_output=True, text=True, timeout=300, check=False
    )


def catalog() -> dict[str, Any]:
    """Return what `list` prints."""
    done = call("list")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def run(case: str, manager: str, **parameters: object) -> dict[str, Any]:
    """Return the row of a measurement."""
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
            self.assertEqual(manager["available"], manager["reason"] is None)
            if manager["available"]:
                claims = manager["capabilities"]
                self.assertIn(claims["scope"], {"thread", "warp", "object", "page"})
                self.assertIn(claims["reuse"], {"all", "partial", "none", "unchecked"})
        missing = [m["name"] for m in found["managers"] if not m["available"]]
        self.assertEqual(missing, ["cuda"])

    def test_fields_are_described_once_and_cases_refer_to_them(self) -> None:
        """What rows, options and figures are derived from."""
        found = catalog()
        fields = {field["name"]: field for field in found["fields"]}
        self.assertEqual(len(fields), len(found["fields"]))
        for field in fields.values():
            self.assertIn(field["kind"], KINDS)
            self.assertIn(field["role"], {"identity", "axis", "facet", "detail", "result"})
            self.assertTrue(field["about"], field["name"])
        names = [case["name"] for case in found["cases"]]
        self.assertEqual(names, sorted(names))
        for case in found["cases"]:
            for own in [parameter["name"] for parameter in case["parameters"]] + case["fields"]:
                self.assertIn(own, fields)
            self.assertTrue(all(need["reason"] for need in case["needs"]))


class RowTest(unittest.TestCase):
    """Every case with every manager."""

    def check(self, row: dict[str, Any], found: dict[str, Any]) -> None:
        """Every field is as it is described, and nothing went wrong."""
        fields = {field["name"]: field for field in found["fields"]}
        case = next(case for case in found["cases"] if case["name"] == row["case"])
        opened = row["status"] != "skipped"
        for name, field in fields.items():
            if field.get("always") and (opened or name not in {"device", "driver", "toolkit"}):
                self.assertIn(name, {**row, "driver": None})  # the CPU model has none
        for name, value in row.items():
            self.assertIn(name, fields)
            if value is not None:
                self.assertIsInstance(value, KINDS[fields[name]["kind"]], name)
        self.assertIn(row["status"], {"ok", "skipped"}, row)
        if row["status"] == "skipped":
            self.assertTrue(row["reason"])
            return
        if row["reason"] is not None:
            self.assertEqual(row["reason"], "no free_ms: cannot free single blocks")
            self.assertIsNone(row["free_ms"])
        self.assertIn(row["corrupted"], {0, None})
        self.assertLessEqual({p["name"] for p in case["parameters"]}, set(row))
        for name in case["fields"]:
            self.assertTrue(name in row or name.startswith("held_"), name)
        for name, value in row.items():
            if fields[name]["kind"] == "summary" and value is not None:
                self.assertEqual(set(value), SUMMARY)
                self.assertLessEqual(value["min"], value["median"])
                self.assertLessEqual(value["median"], value["max"])

    def test_every_case_with_every_manager(self) -> None:
        """No crash, no corruption; what needs no GPU is measured with some manager."""
        found = catalog()
        with tempfile.TemporaryDirectory() as folder:
            graph = Path(folder) / "star.csr"
            write_graph(graph)
            for case in found["cases"]:
                own = {p["name"] for p in case["parameters"]}
                parameters: dict[str, object] = {k: v for k, v in SMALL.items() if k in own}
                if case["fills"]:
                    parameters.update(SMALL_FILLED)
                if case["name"] == "steady":
                    parameters.update(SMALL_STEADY)
                if "graph" in own:
                    parameters["graph"] = graph
                states = set()
                for manager in found["managers"]:
                    with self.subTest(case=case["name"], manager=manager["name"]):
                        row = run(case["name"], manager["name"], **parameters)
                        self.check(row, found)
                        states.add(row["status"])
                if case["name"] in {"latency", "registers"}:
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
                self.check(row, catalog())
                self.assertEqual((row["status"], row["null_returns"]), ("ok", 0))

    def test_cases_that_are_timed_say_how_long_malloc_and_free_took(self) -> None:
        """Common fields that the description does not tie to a case."""
        for case in ("alloc", "scaling"):
            row = run(case, "rw_malloc")
            self.assertEqual((set(row["malloc_ms"]), set(row["free_ms"])), (SUMMARY, SUMMARY))

    def test_programs_say_how_much_of_their_time_is_malloc_and_free(self) -> None:
        """The shares are those of the medians in the row, and the rest of the time is writing."""
        with tempfile.TemporaryDirectory() as folder:
            graph = Path(folder) / "star.csr"
            write_graph(graph)
            heap = {"heap_bytes": 1 << 20}
            rows = [
                run("graph_init", "rw_malloc", graph=graph, **heap),
                run("work_generation", "rw_malloc", threads=256, **heap),
                run("work_generation", "bump", threads=256, **heap),
            ]
        for row in rows:
            self.assertEqual(row["status"], "ok")
            self.assertGreater(row["whole_bandwidth"], 0)
            whole = row["malloc_ms"]["median"] / row["malloc_time_share"]
            free = row["free_ms"]["median"] if row["manager"] == "rw_malloc" else 0
            self.assertAlmostEqual((row["free_share"] or 0) * whole, free)
            written = row["write_ms"]["median"] if row["case"] == "graph_init" else None
            rest = whole - row["malloc_ms"]["median"] - free
            self.assertGreater(rest, 0)
            if written is not None:
                self.assertAlmostEqual(rest, written)
                # 78 entries of four bytes, each in a served request.
                self.assertAlmostEqual(row["whole_bandwidth"], 78 * 4 / whole / 1e6)
        self.assertIsNone(rows[-1]["free_share"])

    def test_what_is_skipped_does_not_open_the_device(self) -> None:
        """Reasons are those that the case declares, or name the limit."""
        reasons = {
            ("latency", "bump"): "lanes of this machine cannot read a clock",
            ("registers", "corw"): "kernels of this machine take no registers",
            ("churn", "bump"): "cannot free single blocks",
            ("random_walk_steps", "gallatin"): "does not hand out numbered pages",
            ("alloc", "cuda"): "exists on a CUDA GPU only",
        }
        for (case, manager), reason in reasons.items():
            row = run(case, manager)
            self.assertEqual(row["status"], "skipped")
            self.assertIn(reason, row["reason"])
            self.assertNotIn("device", row)
        row = run("alloc", "rw_malloc", threads=4096, size_max=4096, heap_bytes=1 << 20)
        self.assertIn("4096 blocks of 4096 bytes do not fit into a heap of 1048576", row["reason"])


class RefusalTest(unittest.TestCase):
    """What cannot be followed ends with exit status 2 and a message."""

    def refused(self, *words: str) -> str:
        """Return the message."""
        done = call(*words)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_unknown_names_list_the_known_ones(self) -> None:
        """Managers, cases, parameters."""
        manager = self.refused("run", "--case", "alloc", "--manager", "nobody")
        self.assertIn("unknown manager 'nobody'; known managers: bump, ", manager)
        case = self.refused("run", "--case", "none", "--manager", "bump")
        self.assertIn("unknown case 'none'; known cases: access, alloc, block_bytes, churn", case)
        parameter = self.refused("run", "--case=init", "--manager=bump", "--threads=1")
        self.assertIn("the case 'init' takes --heap-bytes, --iterations", parameter)
        self.refused("run", "--case=alloc", "--manager=bump", "--unknown=1")
        self.refused()

    def test_bad_values(self) -> None:
        """Numbers and files."""
        self.assertIn(
            "--threads: -4 is not a whole number from 1 to 1073741824",
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
        for heap_bytes in (1 << 40, 99999999999999, (1 << 63) - 1):
            row = run("alloc", "bump", heap_bytes=heap_bytes)
            self.assertEqual(row["status"], "skipped")
            self.assertRegex(
                row["reason"], rf"cannot allocate {heap_bytes} bytes: .* has \d+ bytes"
            )

    def test_rows_of_the_cpu_model_name_the_compiler(self) -> None:
        """The version alone does not identify a build."""
        row = run("alloc", "bump")
        self.assertRegex(row["toolkit"], r"^(g|clang)\+\+ \d+\.\d+\.\d+$")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
