# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap bench`` and ``warpheap list``."""

import json
import shlex
import signal
import time
from pathlib import Path

import pytest

from conftest import Run, Start
from warpheap.commands.bench import parse_parameters
from warpheap.row_fields import Field

ALLOC = ("bench", "--case", "alloc", "--manager", "rw")


def test_measures_one_row_as_json(run: Run) -> None:
    flags = ("--threads=2048", "--size", "64", "--mode", "warp", "--json")
    row = json.loads(run(*ALLOC, *flags).stdout)
    assert (row["status"], row["threads"], row["mode"]) == ("ok", 2048, "warp")
    assert (row["size_min"], row["size_max"]) == (64, 64)


@pytest.mark.parametrize("seconds", ["nan", "inf"])
def test_a_time_limit_is_a_number_of_seconds(run: Run, seconds: str) -> None:
    for command in ([*ALLOC, "--time-limit"], ["survey", "--time-limit"], ["verify", "--seconds"]):
        result = run(*command, seconds)
        assert result.returncode == 2
        assert f"{seconds} is not a finite number of seconds" in " ".join(result.stderr.split())


def test_table_warns_about_cpu_times(run: Run) -> None:
    result = run(*ALLOC, "--size_max", "64")
    assert result.returncode == 0
    assert "its times say nothing about a GPU" in result.stdout
    assert "median" in result.stdout


def test_takes_the_gpu_if_there_is_one(run: Run) -> None:
    row = json.loads(run(*ALLOC, "--json", FAKE_GPU="H200").stdout)
    assert (row["backend"], row["device"]) == ("cuda", "H200")


def test_graph_by_name_and_by_path(run: Run, graph_folder: Path) -> None:
    for graph in ("email.mtx", str(graph_folder / "email.mtx")):
        result = run("bench", "--case", "graph_init", "--manager", "rw", "--graph", graph, "--json")
        row = json.loads(result.stdout)
        assert (row["graph"], row["nodes"], row["edges"]) == ("email", 1133, 5451)


def test_command_of_a_row_finds_its_graph_from_any_folder(run: Run, graph_folder: Path) -> None:
    own = graph_folder / "own.txt"
    own.write_text("1 2\n2 3\n")
    graph_init = ("bench", "--case", "graph_init", "--manager", "rw", "--json")
    for given, stored in (("graphs/own.txt", str(own)), ("email", "email.mtx")):
        row = json.loads(run(*graph_init, "--graph", given).stdout)
        assert row["command"].endswith(f"--graph {stored}")
        again = run(*shlex.split(row["command"])[1:], "--json", "--csr-dir", "elsewhere")
        assert json.loads(again.stdout)["key"] == row["key"]


def test_a_case_without_its_graph_says_which_there_are(run: Run) -> None:
    result = run("bench", "--case", "graph_init", "--manager", "rw")
    assert result.returncode == 2
    assert "needs --graph: 1138_bus.mtx or email.mtx, which ship with warpheap" in result.stderr
    assert ".csr" not in result.stderr


def test_a_folder_that_cannot_be_written_is_named_in_full(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    result = run("bench", "--case", "graph_init", "--manager", "rw", "--graph", "email")
    assert result.returncode == 2
    assert f"{tmp_path}/out/graphs: " in result.stderr
    assert "--csr-dir names another folder" in result.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--sice", "4"), "unknown parameter 'sice' (did you mean 'size'?)"),
        (("--threads",), "--threads needs a value"),
        (("--threads", "--size", "4"), "--threads needs a value"),
        (("4096",), "expected a flag such as --threads, found '4096'"),
        (("--mode", "block"), "unknown mode 'block'; known modes: thread, warp"),
        (("--backend", "cuda"), "cuda: not available here: no CUDA device"),
    ],
)
def test_bad_arguments(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run(*ALLOC, *arguments)
    assert result.returncode == (1 if "cuda" in arguments else 2)
    assert message in result.stderr


@pytest.mark.parametrize("kind, flag", [("manager", "--manager"), ("case", "--case")])
def test_unknown_names_list_the_known_ones(run: Run, kind: str, flag: str) -> None:
    result = run(*ALLOC, flag, "nosuch")
    assert result.returncode == 2
    assert f"unknown {kind} 'nosuch'; known {kind}s: " in result.stderr


def test_message_of_the_program_about_a_large_heap_is_passed_on(run: Run) -> None:
    flags = ("--backend", "cuda", "--heap-bytes", str(1 << 40))
    result = run(*ALLOC, *flags, FAKE_GPU="H200", FAKE_MEMORY=str(1 << 30))
    assert result.returncode == 2
    assert "heap of 1099511627776 B: the device has 1073741824 B" in result.stderr


@pytest.mark.parametrize("fate", ["crash", "fail", "garble"])
def test_a_bad_row_is_shown_and_exits_with_1(run: Run, fate: str) -> None:
    result = run("bench", "--case", "alloc", "--manager", fate, "--json", FAKE_EXTRA=fate)
    assert result.returncode == 1
    assert json.loads(result.stdout)["status"] in ("crashed", "failed")


def test_a_walk_without_equations_is_a_bad_row(run: Run) -> None:
    asked = ("bench", "--case", "random_walk_steps", "--manager", "rw", "--json")
    point = ("--pages", "4096", "--free-percent", "50", "--threads", "64")
    row = json.loads(run(*asked, *point, FAKE_WALK="spiral").stdout)
    assert row["status"] == "crashed"
    assert row["reason"].startswith("printed a row with unknown walk 'spiral'; known walks: ")


def test_list_names_managers_cases_and_absent_devices(run: Run) -> None:
    result = run("list")
    assert result.returncode == 0
    for text in ("bump_sharded", "graph_init", "not available here: no CUDA device", "up to 256 B"):
        assert text in result.stdout


def test_list_shows_publications_and_departures(run: Run) -> None:
    text = " ".join(run("list", "--backend", "cpu", COLUMNS="200").stdout.split())
    assert 'A. Nobody: "Walks", Nowhere, 2025, DOI 10.1/2' in text
    assert "- Others walk." in text, "all that were published so depart like that"
    assert "- No rest. (rw)" in text


@pytest.mark.parametrize("value", ["1e9", "0x10", "1.0"])
def test_a_value_reaches_the_program_as_it_was_written(run: Run, value: str) -> None:
    result = run("bench", "--case", "scaling", "--manager", "rw", "--threads", value)
    assert result.returncode == 2
    assert f"argument --threads: invalid int value: '{value}'" in result.stderr


def test_the_program_ends_with_the_tool(start: Start, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    arguments = ("bench", "--case", "scaling", "--manager", "hang", "--backend", "cpu")
    with start(*arguments, FAKE_EXTRA="hang", FAKE_RUNS=str(marks)) as child:
        while child.poll() is None and not marks.exists():
            time.sleep(0.02)
        (program,) = children(child.pid)
        child.send_signal(signal.SIGTERM)
        _, message = child.communicate(timeout=30)
    assert (child.returncode, message) == (130, "interrupted\n")
    assert not Path(f"/proc/{program}").exists()


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_only_what_every_program_reads_as_a_number_is_one() -> None:
    fields = [Field("threads", kind="integer"), Field("skew", kind="number"), Field("mode")]
    values = ("64", "1_000", "\u0661", "1e3", "-4")
    for value, whole in zip(values, (64, "1_000", "\u0661", "1e3", -4), strict=True):
        assert parse_parameters(["--threads", value], fields) == {"threads": whole}
    for value, number in zip(values, (64, "1_000", "\u0661", 1000.0, -4), strict=True):
        assert parse_parameters([f"--skew={value}"], fields) == {"skew": number}
    assert parse_parameters(["--mode", "64"], fields) == {"mode": "64"}


def test_list_as_json(run: Run) -> None:
    document = json.loads(run("list", "--json").stdout)
    assert set(document["backends"]) == {"cpu", "cuda"}
    assert document["backends"]["cpu"]["managers"][0]["name"] == "bump"


@pytest.mark.parametrize(
    "body, message",
    [
        ("print('nonsense')", "the answer is not JSON"),
        ("print('{\"schema\": 99}')", "not schema 1"),
        ("print('{\"schema\": 1}')", "list: 'backend' is missing; build the program again"),
        ("import sys; sys.exit('broken pipe dream')", "exit status 1: broken pipe dream"),
    ],
)
def test_a_program_that_answers_wrongly(run: Run, tmp_path: Path, body: str, message: str) -> None:
    program = tmp_path / "warpheap-bench-cpu"
    program.write_text(f"#!/usr/bin/env python3\n{body}\n")
    program.chmod(0o755)
    result = run("list", "--build-dir", str(tmp_path))
    assert result.returncode == 1
    assert message in result.stderr


def test_a_program_that_cannot_start(run: Run, tmp_path: Path) -> None:
    program = tmp_path / "warpheap-bench-cpu"
    program.write_bytes(b"\x7fELF rubbish")
    program.chmod(0o755)
    result = run("list", "--build-dir", str(tmp_path))
    assert result.returncode == 1
    assert "cannot be started: Exec format error" in result.stderr


def test_help_and_version(run: Run) -> None:
    text = run("--help").stdout
    assert all(name in text for name in ("list", "doctor", "bench", "survey", "report", "verify"))
    assert run("--version").stdout.startswith("warpheap ")
