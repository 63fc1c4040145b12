# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows under results/, and how ``warpheap publish`` files them there."""

import errno
import fcntl
import json
import multiprocessing
import os
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from test_report import row
from warpheap import published, results, row_fields, whole_file
from warpheap.errors import UserError
from warpheap.row_fields import CaseFields, Description
from warpheap.traces import replay

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "results"
FILES = sorted(TREE.rglob("*.jsonl"))
DECISIONS = sorted((ROOT / "docs" / "decisions").rglob("*.jsonl"))


def filed(tree: Path) -> dict[str, list[dict[str, Any]]]:
    return {str(file.relative_to(tree)): results.read(file) for file in tree.rglob("*.jsonl")}


def test_a_file_holds_what_its_name_says_and_each_measurement_once() -> None:
    assert len(FILES) > 150
    count = 0
    for file in FILES:
        rows = results.read(file)
        assert {TREE / published.place(entry) for entry in rows} == {file}
        measurements = [published.identity(entry) for entry in rows]
        assert len(set(measurements)) == len(measurements), file
        count += len(rows)
    assert count > 3800


@pytest.mark.parametrize("file", DECISIONS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_rows_of_a_decision_are_of_the_commit_that_names_the_file(file: Path) -> None:
    rows = results.read(file)
    assert {entry["commit"] for entry in rows} == {file.stem}
    assert file.parent.with_suffix(".md").is_file()


def test_every_row_says_how_it_ended_and_how_to_repeat_it() -> None:
    for file in [*FILES, *DECISIONS]:
        for entry in results.read(file):
            assert entry["status"] in {"ok", "skipped", "timeout"}
            if entry["status"] != "ok":
                assert entry["reason"], entry
            elif entry["reason"] is not None:
                # What a manager does not claim is one measurement less, which the row names.
                missing = re.fullmatch(r"no (\w+): .+", entry["reason"])
                assert missing and entry[missing[1]] is None, entry
            assert entry["commit"] and entry["command"], entry


def test_every_case_and_every_field_is_described() -> None:
    known = row_fields.find(TREE / "rows.jsonl")
    for file in [*FILES, *DECISIONS]:
        for entry in results.read(file):
            assert entry["case"] in known.cases
            assert set(entry) <= set(known.fields), file
            assert known.fault(entry) is None, entry


def test_measurements_on_a_gpu_name_the_machine() -> None:
    measured = [entry for file in FILES for entry in results.read(file) if "nvidia" in str(file)]
    assert len(measured) > 3000
    for entry in measured:
        assert (entry["device"], entry["backend"]) == ("NVIDIA H200", "cuda")
        assert not entry.get("corrupted"), entry
        if entry["status"] != "skipped":
            assert entry["driver"], entry


def test_walks_take_the_steps_that_the_equations_say() -> None:
    walks = [
        entry
        for file in TREE.glob("*/random_walk_steps/*.jsonl")
        for entry in results.read(file)
        if entry["status"] == "ok"
    ]
    with_model = [entry for entry in walks if entry["tas_model"] is not None]
    assert {entry["free_percent"] for entry in with_model} == {50, 10, 1, 0.5}
    for entry in with_model:
        apart = entry["tas"] / entry["tas_model"] - 1
        # Where most of the last pages are taken, the longest walks end and groups search instead.
        is_cut = entry["threads"] == 4096 and entry["free_percent"] == 0.5
        assert (-0.2 if is_cut else -0.02) < apart < 0.02, entry
        assert entry["was"] < entry["was_bound"], entry


def test_rows_are_filed_by_device_case_and_manager(tmp_path: Path) -> None:
    rows = [row(), row(case="scaling"), row(manager="corw", backend="cpu"), row(threads=2048)]
    published.file_rows(rows, tmp_path)
    assert {name: len(found) for name, found in filed(tmp_path).items()} == {
        "h200/alloc/rw.jsonl": 2,
        "h200/scaling/rw.jsonl": 1,
        "cpu/alloc/corw.jsonl": 1,
    }


def test_the_newest_row_of_a_measurement_replaces_the_others(tmp_path: Path) -> None:
    early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00+00:00"
    published.file_rows([row(time=late, malloc=2.0), row(threads=1, malloc=3.0)], tmp_path)
    published.file_rows([row(time=early, malloc=1.0)], tmp_path)
    published.file_rows([row(threads=1, malloc=4.0, iterations=1, time=None)], tmp_path)
    (rows,) = filed(tmp_path).values()
    assert {entry["threads"]: entry["malloc_ms"]["median"] for entry in rows} == {1024: 2.0, 1: 4.0}


def test_a_row_that_was_finished_replaces_one_that_was_not(tmp_path: Path) -> None:
    case = CaseFields("scaling", parameters={"threads": 1024})
    known = Description({}, {"scaling": case})
    early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00+00:00"
    lost = row(case="scaling", mode=None, status="timeout", reason="late", time=early, malloc=None)
    published.file_rows([lost], tmp_path, known)
    done = row(case="scaling", mode="thread", time=late)
    published.file_rows([done, row(case="scaling", mode="thread", threads=1)], tmp_path, known)
    (rows,) = filed(tmp_path).values()
    assert [(entry["threads"], entry["status"]) for entry in rows] == [(1, "ok"), (1024, "ok")]


@pytest.mark.parametrize("damaged", ["new", "tree"])
def test_a_row_with_a_damaged_time_is_refused(run: Run, tmp_path: Path, damaged: str) -> None:
    for name in ("new", "tree"):
        file = tmp_path / name / "h200/alloc/rw.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(row(time="zzzz") if name == damaged else row()) + "\n")
    result = run("publish", "new", "--into", "tree")
    assert result.returncode == 2
    assert f"{damaged}/h200/alloc/rw.jsonl:1: time is 'zzzz'; ISO 8601" in result.stderr


def test_filing_the_same_rows_again_changes_nothing(tmp_path: Path) -> None:
    rows = [row(), row(graph="email-0123456789abcdef.csr"), row(free_percent=50.0)]
    published.file_rows(rows, tmp_path)
    (file,) = tmp_path.rglob("*.jsonl")
    before = file.read_text()
    assert '"graph":"email"' in before
    published.file_rows(rows[::-1], tmp_path)
    assert file.read_text() == before


def test_a_tree_that_cannot_be_locked_is_written_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As on NFS, which locks no folder."""

    def refuse(_folder: int, _how: int) -> None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    monkeypatch.setattr(published.fcntl, "flock", refuse)
    published.file_rows([row()], tmp_path)
    assert filed(tmp_path)
    assert f"{tmp_path} cannot be locked (Bad file descriptor)" in capfd.readouterr().err


def test_a_row_without_a_command_gets_one(tmp_path: Path) -> None:
    replay = {
        "schema": 1, "case": "replay", "manager": "tlsf", "backend": "cpu", "status": "ok",
        "trace": "malloc-large-log-1000", "events": 100, "upstream": "host", "seed": 2,
        "initial_bytes": 0, "limit_bytes": 0, "repeats": 3, "commit": "c0ffee",
    }  # fmt: skip
    published.file_rows([row(command=None, free_percent=50.0), replay], tmp_path)
    (bench,) = filed(tmp_path)["h200/alloc/rw.jsonl"]
    assert bench["command"] == (
        "warpheap bench --backend cuda --case alloc --manager rw --threads 1024 --iterations 10 "
        "--size-min 64 --size-max 64 --heap-bytes 1073741824 --seed 1 --mode thread "
        "--free-percent 50"
    )
    (again,) = filed(tmp_path)["cpu/replay/tlsf.jsonl"]
    assert again["command"] == (
        "warpheap replay malloc-large-log --resource tlsf --live 1000 --events 100 --seed 2 "
        "--upstream host --initial-bytes 0 --limit-bytes 0 --repeats 3"
    )


def test_replays_are_described_as_the_tool_says(run: Run, tmp_path: Path) -> None:
    """Also if what is beside their rows is older."""
    entry = {"schema": 1, "case": "replay", "manager": "tlsf", "backend": "cpu", "status": "ok"}
    entry |= {"trace": "malloc-large-1000", "command": "none", "time": None}
    (tmp_path / "new").mkdir()
    (tmp_path / "new/rows.jsonl").write_text(json.dumps(entry) + "\n")
    Description({}, {"replay": CaseFields("replay", "older")}).write(tmp_path / "new")
    assert run("publish", "new", "--into", "tree").returncode == 0
    known = row_fields.find(tmp_path / "tree/rows.jsonl")
    assert known.cases["replay"] == replay.DESCRIBED.cases["replay"]


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"device": ""}, "a row cannot be filed: its device is ''"),
        ({"manager": "../rw"}, "a row cannot be filed: its manager is '../rw'"),
        ({"case": ".."}, "a row cannot be filed: its case is '..'"),
    ],
)
def test_a_row_that_names_no_file_is_refused(
    run: Run, tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(row() | fields) + "\n")
    result = run("publish", "rows.jsonl")
    assert result.returncode == 2
    assert message in result.stderr
    assert not (tmp_path / "results").exists()


def test_the_command_says_what_it_filed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(row()) + "\n")
    result = run("publish", "rows.jsonl", "--into", "tree")
    assert result.stdout == "tree/h200/alloc/rw.jsonl: 1 row\n"
    assert filed(tmp_path / "tree")["h200/alloc/rw.jsonl"][0]["malloc_ms"]["median"] == 2.0


def test_two_at_once_lose_no_row_of_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one files its row when the first one has read the file and not yet written it."""
    write = whole_file.write_text
    others = []

    def after_the_other(file: Path, text: str) -> None:
        monkeypatch.setattr(whole_file, "write_text", write)
        other = multiprocessing.get_context("fork").Process(
            target=published.file_rows, args=([row(threads=2)], tmp_path)
        )
        others.append(other)
        other.start()
        other.join(timeout=1)
        write(file, text)

    monkeypatch.setattr(whole_file, "write_text", after_the_other)
    published.file_rows([row(threads=1)], tmp_path)
    (other,) = others
    other.join()
    assert other.exitcode == 0
    (rows,) = filed(tmp_path).values()
    assert [entry["threads"] for entry in rows] == [1, 2]


def test_one_that_waits_too_long_says_for_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published, "WAIT_S", 0.2)
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"another 'warpheap publish' .* for 0\.2 s; nothing"):
            published.file_rows([row()], tmp_path)
    finally:
        os.close(folder)
    assert not list(tmp_path.iterdir())
    published.file_rows([row()], tmp_path)
