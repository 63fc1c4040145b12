# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap survey`` against the fake programs: every fate of a measurement, resume, interrupt."""

import json
import shutil
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, Start
from warpheap import random_walk_model, row_fields

SMALL = ("survey", "--backend", "cpu", "--case", "scaling")
POINTS = 5  # thread counts of the quick scaling case
MANAGERS = 9  # of the fake programs


def rows(folder: Path, out: str = "out/survey") -> list[dict[str, Any]]:
    lines = (folder / out / "results.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def runs(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_quick_survey_of_everything(run: Run, tmp_path: Path) -> None:
    result = run("survey", "--quick", "--backend", "cpu", "--manager", "rw", "--manager", "cuda")
    assert result.returncode == 0, result.stderr
    measured = rows(tmp_path)
    assert {row["case"] for row in measured} == {
        "init",
        "alloc",
        "scaling",
        "random_walk_steps",
        "graph_init",
    }
    counts = Counter((row["manager"], row["status"]) for row in measured)
    assert counts["rw", "ok"] == counts["cuda", "skipped"] - counts["rw", "skipped"]
    assert counts["rw", "skipped"] == 5  # sizes above its largest block
    reasons = {row["reason"] for row in measured if row["manager"] == "cuda"}
    assert "the built-in allocator needs a CUDA device" in reasons
    graphs = {row["graph"]: row["edges"] for row in measured if row["case"] == "graph_init"}
    assert graphs == {"1138_bus": 1458, "email": 5451}
    page = (tmp_path / "out/survey/report.html").read_text()
    assert "These times say nothing about a GPU." in page
    assert "rows of this survey" in result.stdout
    assert "out/survey/report.html" in result.stdout


def test_rows_hold_what_the_format_promises(run: Run, tmp_path: Path) -> None:
    assert run(*SMALL, "--manager", "rw").returncode == 0
    row = rows(tmp_path)[-1]
    promised = (
        "schema case manager backend device mode threads size_min size_max heap_bytes iterations "
        "seed status reason null_returns corrupted malloc_ms free_ms commit time wall_s command key"
    )
    assert set(promised.split()) <= set(row)
    assert row["command"].startswith("warpheap bench --backend cpu --case scaling --manager rw ")
    assert row["time"].endswith("+00:00")


def test_command_of_a_row_repeats_it(run: Run, tmp_path: Path) -> None:
    run("survey", "--backend", "cpu", "--case", "graph_init", "--manager", "rw")
    for row in rows(tmp_path):
        again = json.loads(run(*row["command"].split()[1:], "--json").stdout)
        assert again["key"] == row["key"]
        assert again["malloc_ms"] == row["malloc_ms"]


def test_every_fate_is_one_row_with_its_reason(run: Run, tmp_path: Path) -> None:
    names = ["crash", "hang", "garble", "refuse", "fail", "starve"]
    chosen = [word for name in names for word in ("--manager", name)]
    result = run(*SMALL, *chosen, "--time-limit", "0.5", FAKE_EXTRA=" ".join(names))
    assert result.returncode == 1
    fates = {row["manager"]: (row["status"], row["reason"]) for row in rows(tmp_path)}
    assert fates["crash"] == ("crashed", "SIGSEGV: about to fall over")
    assert fates["hang"] == ("timeout", "not finished in 0.5 s")
    assert fates["garble"][0] == "crashed"
    assert fates["garble"][1].startswith("did not print JSON: ")
    assert fates["refuse"] == ("failed", "refused: heap of 268435456 B: the device has 0 B")
    assert fates["fail"] == ("failed", "block 7 overlaps block 9")
    assert fates["starve"] == ("ok", None)
    assert len(rows(tmp_path)) == POINTS * len(names)
    page = (tmp_path / "out/survey/report.html").read_text()
    for text in ("SIGSEGV: about to fall over", "returned null for some requests; not drawn"):
        assert text in page


def test_a_survey_that_measured_nothing_fails_and_says_so(run: Run) -> None:
    result = run(*SMALL, "--manager", "skip", FAKE_EXTRA="skip")
    assert result.returncode == 1
    assert "nothing was measured: all 5 rows are skipped" in result.stderr


def test_what_is_named_twice_is_planned_once(run: Run, graph_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    shutil.copy(graph_folder / "email.mtx", tmp_path / "copy/email.mtx")
    graphs = ("email", "graphs/../graphs/email.mtx", "copy/email.mtx")
    named = [word for graph in graphs for word in ("--graph", graph)]
    twice = ("--backend", "cpu", "--manager", "rw", "--case", "graph_init") * 2
    result = run("survey", *twice, *named, "--dry-run")
    assert result.returncode == 0, result.stderr
    assert "\n2 measurements\n" in result.stdout  # email and 1138_bus
    for graph in graphs[1:]:
        assert f"graph {graph} has the content of email, and is measured once" in result.stderr


def test_second_run_measures_nothing_and_retry_only_what_broke(run: Run, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    arguments = (*SMALL, "--manager", "rw", "--manager", "crash")
    extra = {"FAKE_EXTRA": "crash", "FAKE_RUNS": str(marks)}
    run(*arguments, **extra)
    assert runs(marks) == 2 * POINTS
    again = run(*arguments, **extra)
    assert again.returncode == 1
    assert runs(marks) == 2 * POINTS
    assert f"{2 * POINTS} of {2 * POINTS} measurements exist already" in again.stderr
    run(*arguments, "--retry", **extra)
    assert runs(marks) == 3 * POINTS
    assert len(rows(tmp_path)) == 3 * POINTS


def test_a_row_of_another_commit_is_measured_again(run: Run, tmp_path: Path) -> None:
    run(*SMALL, "--manager", "rw")
    file = tmp_path / "out/survey/results.jsonl"
    old = [{**row, "commit": "0ld"} for row in rows(tmp_path)]
    file.write_text("".join(json.dumps(row) + "\n" for row in old))
    run(*SMALL, "--manager", "rw")
    assert Counter(row["commit"] == "0ld" for row in rows(tmp_path)) == {
        True: POINTS,
        False: POINTS,
    }
    page = (tmp_path / "out/survey/report.html").read_text()
    assert f"{POINTS} older rows of measurements that were repeated" in page


def test_a_program_of_unknown_origin_is_named_and_no_row_of_it_is_reused(
    run: Run, tmp_path: Path, fake_build: Path
) -> None:
    (tmp_path / "build").mkdir()
    shutil.copy(fake_build / "warpheap-bench-cpu", tmp_path / "build")
    for passes in (1, 2):
        result = run(*SMALL, "--manager", "rw", "--build-dir", "build")
        assert result.returncode == 0, result.stderr
        assert result.stderr.count("warpheap-bench-cpu.revision is missing") == 1
        assert "no earlier row is reused" in result.stderr
        measured = rows(tmp_path)
        assert len(measured) == passes * POINTS
        assert {row["commit"][:8] for row in measured} == {"unknown."}


def test_torn_last_line_is_measured_again(run: Run, tmp_path: Path) -> None:
    run(*SMALL, "--manager", "rw")
    file = tmp_path / "out/survey/results.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    assert run(*SMALL, "--manager", "rw").returncode == 0
    assert len(rows(tmp_path)) == POINTS


def test_damaged_line_is_named(run: Run, tmp_path: Path) -> None:
    run(*SMALL, "--manager", "rw")
    file = tmp_path / "out/survey/results.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], "rubbish\n", *lines[1:]]))
    result = run(*SMALL, "--manager", "rw")
    assert result.returncode == 2
    assert "out/survey/results.jsonl:2: not JSON" in result.stderr
    file.write_text("".join(lines).replace('"status": "ok"', '"status": "great"', 1))
    result = run(*SMALL, "--manager", "rw")
    assert result.returncode == 2
    assert "results.jsonl:1: status is 'great', not one of ok, skipped" in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_keeps_rows_ends_the_child_and_resumes(
    run: Run, start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    marks = tmp_path / "marks"
    command = (*SMALL, "--manager", "rw", "--manager", "corw")
    with start(*command, FAKE_SLEEP="0.4", FAKE_RUNS=str(marks)) as child:
        deadline = time.monotonic() + 60
        while runs(marks) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        child.send_signal(number)
        _, message = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "Traceback" not in message
    assert "The same command continues where this one stopped." in " ".join(message.split())
    kept = rows(tmp_path)
    assert 2 <= len(kept) < 2 * POINTS
    started = runs(marks)
    time.sleep(0.6)
    assert runs(marks) == started
    assert run(*command, FAKE_RUNS=str(marks)).returncode == 0
    assert rows(tmp_path)[: len(kept)] == kept
    assert len(rows(tmp_path)) == 2 * POINTS
    assert runs(marks) == started + 2 * POINTS - len(kept)


def test_two_surveys_cannot_write_one_file(run: Run, start: Start, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    command = (*SMALL, "--manager", "rw")
    with start(*command, FAKE_SLEEP="20", FAKE_RUNS=str(marks)) as first:
        deadline = time.monotonic() + 60
        while not runs(marks) and time.monotonic() < deadline:
            time.sleep(0.02)
        second = run(*command)
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=30)
    assert second.returncode == 1
    assert "is being written by another survey" in second.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ("--manager", "gallatine"),
            "unknown manager 'gallatine'; known managers: bump, bump_warp",
        ),
        (("--manager", "rw_mb"), "unknown manager 'rw_mb' (did you mean 'rw_bm'?)"),
        (
            ("--case", "aloc"),
            "unknown case 'aloc' (did you mean 'alloc'?); known cases: init, alloc",
        ),
        (("--backend", "hip"), "unknown backend 'hip'; known backends: cpu, cuda"),
        (("--quick", "--full"), "--quick and --full exclude each other"),
        (("--graph", "nowhere.mtx"), "graph nowhere.mtx: there is no such file"),
    ],
)
def test_bad_names_exit_with_2(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run("survey", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_malformed_graph_stops_before_anything_is_measured(
    run: Run, graph_folder: Path, tmp_path: Path
) -> None:
    bad = graph_folder / "bad.mtx"
    bad.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n")
    result = run("survey", "--backend", "cpu", "--graph", str(bad))
    assert result.returncode == 2
    assert f"{bad}:3: the column 3 is not within 1..2" in result.stderr
    assert not (tmp_path / "out/survey/results.jsonl").exists()


def test_backend_without_a_device_is_left_out_aloud(run: Run, tmp_path: Path) -> None:
    result = run("survey", "--case", "scaling", "--manager", "rw")
    assert result.returncode == 0
    assert "cuda is left out: no CUDA device" in result.stderr
    assert {row["backend"] for row in rows(tmp_path)} == {"cpu"}
    assert run("survey", "--backend", "cuda").returncode == 1


def test_both_backends_when_there_is_a_gpu(run: Run, tmp_path: Path) -> None:
    run("survey", "--case", "scaling", "--manager", "rw", FAKE_GPU="H200")
    found = rows(tmp_path)
    assert {row["backend"] for row in found} == {"cpu", "cuda"}
    assert all(row["driver"] == "580.1" for row in found if row["backend"] == "cuda")
    assert all("driver" not in row for row in found if row["backend"] == "cpu")


def test_heap_shrinks_to_the_memory_that_is_there(run: Run, tmp_path: Path) -> None:
    arguments = ("--full", "--backend", "cuda", "--case", "graph_init", "--manager", "rw")
    run("survey", *arguments, FAKE_GPU="small", FAKE_MEMORY=str(8 << 30))
    assert {row["heap_bytes"] for row in rows(tmp_path)} == {4 << 30}


def test_dry_run_shows_the_plan_and_measures_nothing(run: Run, tmp_path: Path) -> None:
    result = run(*SMALL, "--dry-run", "--json")
    plan = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(plan) == POINTS * MANAGERS
    assert all(entry["command"].startswith("warpheap bench --backend cpu ") for entry in plan)
    assert not (tmp_path / "out/survey/results.jsonl").exists()


def test_the_rows_are_described_beside_them(run: Run, tmp_path: Path) -> None:
    assert run(*SMALL, "--manager", "rw").returncode == 0
    known = row_fields.find(tmp_path / "out/survey/results.jsonl")
    assert [field.name for field in known.axes("scaling")] == ["threads", "size_max", "heap_bytes"]
    assert "tas_model" in known.fields  # the tool's own
    assert all(known.fault(row) is None for row in rows(tmp_path))
    assert known.text() == run("list", "--backend", "cpu", "--fields").stdout


def test_walks_get_what_the_equations_say(run: Run, tmp_path: Path) -> None:
    assert run("survey", "--backend", "cpu", "--case", "random_walk_steps", "--manager", "rw_bm")
    for row in rows(tmp_path):
        walk = random_walk_model.Walk(row["page_count"], row["free_pages"], row["threads"], 32)
        assert (row["tas_model"], row["was_bound"]) == random_walk_model.steps(walk)


def test_json_summary(run: Run) -> None:
    document = json.loads(run(*SMALL, "--manager", "rw", "--json").stdout)
    assert document["rows"] == {"ok": POINTS}
    assert document["measured"] == POINTS
    assert document["report"] == "out/survey/report.html"


def test_nothing_built_says_how_to_build(run: Run, tmp_path: Path) -> None:
    result = run("survey", "--build-dir", str(tmp_path))
    assert result.returncode == 1
    assert "warpheap-bench-cpu was not found" in result.stderr
    assert "./dev survey" in result.stderr
