# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the rows of warpheap-bench-peers without a GPU, driven as on a machine that has one.

Usage: test_peers.py STUB PROGRAM [unittest arguments]. STUB is warpheap-bench-peers over the
standard library's hash tables, PROGRAM the survey's program of the CPU model.
"""

import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

STUB, PROGRAM = (Path(name).resolve() for name in sys.argv[1:3])
BENCH = Path(__file__).resolve().parents[2] / "bench"
GPU_ROWS = BENCH / "workloads" / "gpu_rows.py"
sys.path.insert(0, str(BENCH / "peers"))

import keep_architecture  # noqa: E402

PARTS = {
    "join": ["hash_insert_ms", "hash_count_ms", "hash_retrieve_ms"],
    "group_by": ["hash_aggregate_ms", "hash_retrieve_ms"],
}
WHOLE = {"join": "join_ms", "group_by": "group_ms"}


def rows_of(
    program: Path, managers: str, environment: dict[str, str] | None = None
) -> tuple[int, list[dict[str, Any]]]:
    """Measure all points of join and group_by at a small scale; the exit status and the rows."""
    with tempfile.TemporaryDirectory() as folder:
        done = gpu_rows(program, folder, "--managers", managers, **(environment or {}))
        written = (Path(folder) / "results.jsonl").read_text()
        return done.returncode, [json.loads(line) for line in written.splitlines()]


def gpu_rows(
    program: Path, out: str, *more: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Measure into a folder with nothing but Python's own packages (-S)."""
    command = [sys.executable, "-S", "-B", str(GPU_ROWS), out, "--program", str(program)]
    command += ["--cases", "join,group_by", "--quick", *more]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, env=inherited | environment, capture_output=True, text=True, check=False
    )


def point(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return what tells the measurements of one case apart."""
    names = ("case", "rows", "distinct_keys", "match_percent", "key_skew", "seed")
    tables = ("build_table", "probe_table", "input_table")
    return tuple(row.get(name) for name in (*names, *tables))


def device_code(entries: list[tuple[int, int, bytes]]) -> bytes:
    """Make a container of device code from kinds, architectures and payloads."""
    packed = b""
    for kind, architecture, payload in entries:
        head = struct.pack("<HHIQ", kind, 0, 64, len(payload)).ljust(28, b"h")
        packed += (head + struct.pack("<I", architecture)).ljust(64, b"h") + payload
    return struct.pack("<IHHQ", keep_architecture.MAGIC, 1, 16, len(packed)) + packed


class KeepArchitectureTest(unittest.TestCase):
    """A library with device code of one architecture."""

    def test_only_payloads_of_others_are_overwritten(self) -> None:
        """Heads and lengths stay, and so does what lies outside the section."""

        def library(blanked: bool) -> bytes:
            gone = bytes(8) if blanked else b"8 bytes."
            first = [(2, 80, gone), (2, 90, b"left as it is..."), (1, 90, gone)]
            second = [(2, 90, b"and this"), (2, 120, gone)]
            return b"before.." + device_code(first) + bytes(8) + device_code(second) + b"8 bytes."

        code = bytearray(library(blanked=False))
        found = keep_architecture.blank(code, 8, len(code) - 8, keep=90)
        self.assertEqual(code, library(blanked=True))
        self.assertEqual(found, {(2, 80): 8, (2, 90): 24, (1, 90): 8, (2, 120): 8})


class PeersTest(unittest.TestCase):
    """Rows of peers stand beside those of managers."""

    def test_rows_are_of_the_tables_that_our_cases_have(self) -> None:
        """Parameters and sizes are equal to those of rows of a manager at every point."""
        status, peers = rows_of(STUB, "cuco,cuco_as_cudf")
        self.assertEqual(status, 0)
        status, ours = rows_of(PROGRAM, "rw_malloc")
        self.assertEqual(status, 0)
        self.assertEqual(len(ours), 5)
        of_point = {point(row): row for row in ours}
        self.assertEqual(len(of_point), 5)
        self.assertEqual(len(peers), 10)
        for row in peers:
            our = of_point[point(row)]
            self.assertEqual(row["status"], "ok", row)
            self.assertIsNone(row["reason"])
            self.assertRegex(row["digest"], "^[0-9a-f]{16}$")
            for name in ("build_rows", "probe_rows", "input_rows", "result_rows"):
                self.assertEqual(row.get(name), our.get(name), name)
            self.assertLessEqual(set(our[WHOLE[our["case"]]]), set(row[WHOLE[row["case"]]]))

    def test_rates_are_over_the_whole_time(self) -> None:
        """The bytes are those that our rows count; the first run is not among the medians."""
        _, peers = rows_of(STUB, "cuco")
        for row in peers:
            ms = row[WHOLE[row["case"]]]["median"]
            self.assertEqual(ms, sum(row[name]["median"] for name in PARTS[row["case"]]))
            rows = row.get("input_rows") or row["build_rows"] + row["probe_rows"]
            result = row["result_rows"] * (12 if row["case"] == "join" else 32)
            self.assertAlmostEqual(row["bandwidth"], (8 * rows + result) / ms / 1e6)
            self.assertAlmostEqual(row["row_rate"], rows / ms / 1e3)

    def test_rows_are_described_beside_them(self) -> None:
        """Also if they are filed beside others; the survey's programs describe the cases."""
        with tempfile.TemporaryDirectory() as folder:
            gpu_rows(STUB, folder, "--managers", "cuco")
            described = json.loads((Path(folder) / "fields.json").read_text())
        self.assertEqual(described["cases"], [])
        parts = {name for names in PARTS.values() for name in names}
        fields = {field["name"]: field for field in described["fields"]}
        self.assertLessEqual(parts, set(fields))
        published = json.loads((BENCH.parent / "results/fields.json").read_text())["fields"]
        for field in published:
            self.assertEqual(fields.get(field["name"], field), field)

    def test_a_row_says_how_to_repeat_it_and_has_no_heap(self) -> None:
        """The command is the peers' program's, which takes it."""
        _, peers = rows_of(STUB, "cuco_as_cudf")
        for row in peers:
            self.assertIsNone(row["heap_bytes"])
            words = row["command"].split()
            self.assertEqual(words[:2], ["warpheap-bench-peers", "run"])
            again = subprocess.run([STUB, *words[1:]], capture_output=True, text=True, check=True)
            self.assertEqual(point(json.loads(again.stdout)), point(row))

    def test_a_wrong_result_is_a_failed_row(self) -> None:
        """And the caller's exit status says so."""
        status, peers = rows_of(STUB, "cuco", {"WARPHEAP_PEER_FAULT": "1"})
        self.assertEqual(status, 1)
        for row in peers:
            self.assertEqual((row["status"], row["corrupted"]), ("failed", 4))
            self.assertIn("not the expected one", row["reason"])

    def test_the_same_command_goes_on_where_it_stopped(self) -> None:
        """As every survey does; without a name, all peers of the program are measured."""
        with tempfile.TemporaryDirectory() as folder:
            # Rows are reused if the build has recorded from which commit they are.
            program = Path(shutil.copy(STUB, folder))
            digest = hashlib.sha256(program.read_bytes()).hexdigest()
            program.with_name(f"{program.name}.revision").write_text(f"{digest} v1.0\n")
            done = gpu_rows(program, folder, "--managers", "cuco")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "5 ok\n", ""))
            written = Path(folder) / "results.jsonl"
            of_one = written.read_text()
            done = gpu_rows(program, folder)
            self.assertEqual((done.returncode, done.stdout), (0, "10 ok\n"))
            self.assertIn("5 of 10 measurements exist already", done.stderr)
            self.assertTrue(written.read_text().startswith(of_one))
            self.assertEqual(len(written.read_text().splitlines()), 10)

    def test_what_the_plan_does_not_know_is_refused(self) -> None:
        """With the nearest name, before anything is measured."""
        with tempfile.TemporaryDirectory() as folder:
            out = str(Path(folder) / "out")
            for words, reason in (
                (["--cases", "joins"], "unknown case 'joins' (did you mean 'join'?)"),
                (["--cases", "access"], "unknown case 'access'; known cases: join, group_by"),
                (["--managers", "cuc"], "unknown manager 'cuc' (did you mean 'cuco'?)"),
            ):
                done = gpu_rows(STUB, out, *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(reason, done.stderr)
            self.assertFalse(Path(out).exists())

    def test_what_the_cases_do_not_take_is_refused(self) -> None:
        """Other cases, peers and parameters, and numbers out of their limits."""
        join = ["--case", "join", "--manager", "cuco"]
        for words, reason in (
            (
                ["--case", "alloc", "--manager", "cuco"],
                "unknown case 'alloc'; known: join, group_by",
            ),
            (["--case", "join", "--manager", "cuc"], "unknown peer 'cuc'; known: cuco"),
            (["--case", "join"], "--manager is required"),
            ([*join, "--rows", "0"], "0 is not a whole number from 1 to 2147483648"),
            ([*join, "--match-percent", "101"], "101 is not a number above 0 and up to 100"),
            ([*join, "--input-table", "generated"], "'join' takes --build-table, --probe-table"),
        ):
            done = subprocess.run(
                [STUB, "run", *words], capture_output=True, text=True, check=False
            )
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
