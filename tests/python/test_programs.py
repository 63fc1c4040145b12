# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows name the commit that their program was built from, whatever the checkout has become."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Run, Start
from warpheap import programs

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "cmake/record_revision.cmake"
BENCH = ("bench", "--backend", "cpu", "--case", "scaling", "--manager", "rw", "--json")


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, text in (("HOME", str(tmp_path)), ("GIT_CONFIG_NOSYSTEM", "1")):
        monkeypatch.setenv(name, text)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Nobody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "nobody@example.org")


def git(sources: Path, *arguments: str) -> str:
    command = ["git", "-C", sources, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Make a checkout with one commit."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "file").write_text("one\n")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        git(folder, *arguments)
    return folder


def record(program: Path, sources: Path) -> str:
    """Record what a program was built from, as the build does, and return what it says."""
    given = {"program": program, "sources": sources, "version": "1.2.3"}
    defines = [word for name, value in given.items() for word in ("-D", f"{name}={value}")]
    done = subprocess.run(
        ["cmake", *defines, "-P", SCRIPT], check=True, capture_output=True, text=True
    )
    return done.stdout + done.stderr


@pytest.fixture
def program(tmp_path: Path, fake_build: Path) -> Path:
    (tmp_path / "build").mkdir()
    return Path(shutil.copy(fake_build / "warpheap-bench-cpu", tmp_path / "build"))


def digits(program: Path) -> str:
    return hashlib.sha256(program.read_bytes()).hexdigest()[:8]


def test_a_row_names_what_the_program_was_built_from(
    run: Run, sources: Path, program: Path
) -> None:
    def commit() -> str:
        result = run(*BENCH, "--build-dir", str(program.parent))
        assert result.stderr == ""
        return str(json.loads(result.stdout)["commit"])

    record(program, sources)
    first = git(sources, "rev-parse", "--short=12", "HEAD")
    assert commit() == first
    (sources / "file").write_text("two\n")  # changed, but nothing is built of it
    assert commit() == first
    git(sources, "commit", "-qam", "two")
    assert commit() == first
    record(program, sources)
    second = git(sources, "rev-parse", "--short=12", "HEAD")
    assert commit() == second != first
    (sources / "file").write_text("three\n")
    record(program, sources)
    assert commit() == f"{second}-dirty.{digits(program)}"


def test_without_a_checkout_it_is_the_version_and_the_digest(tmp_path: Path, program: Path) -> None:
    record(program, tmp_path)
    assert programs.revision(program) == f"v1.2.3.{digits(program)}"


def test_a_program_that_is_not_the_recorded_one_has_no_commit(
    sources: Path, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(program, sources)
    assert programs.is_known(programs.revision(program))
    program.write_bytes(program.read_bytes() + b"#\n")
    assert programs.revision(program) == f"unknown.{digits(program)}"
    assert "is of another program" in " ".join(capsys.readouterr().err.split())
    (program.parent / "warpheap-bench-cpu.revision").unlink()
    program.write_bytes(program.read_bytes() + b"#\n")
    assert programs.revision(program) == f"unknown.{digits(program)}"
    assert "warpheap-bench-cpu.revision is missing" in capsys.readouterr().err


def test_a_build_that_git_does_not_answer_says_so(
    monkeypatch: pytest.MonkeyPatch, sources: Path, program: Path
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert "detected dubious ownership" in record(program, sources)
    assert not programs.is_known(programs.revision(program))


def test_a_program_that_is_built_again_while_it_is_measured_stops_the_survey(
    run: Run, start: Start, sources: Path, program: Path, tmp_path: Path
) -> None:
    record(program, sources)
    marks = tmp_path / "marks"
    arguments = ("survey", "--backend", "cpu", "--case", "scaling", "--manager", "rw")
    built = ("--build-dir", str(program.parent))
    with start(*arguments, *built, FAKE_RUNS=str(marks), FAKE_SLEEP="1") as child:
        while child.poll() is None and not marks.exists():
            pass
        newer = tmp_path / "newer"
        shutil.copy(program, newer)
        newer.write_bytes(newer.read_bytes() + b"#\n")
        newer.replace(program)
        record(program, sources)
        git(sources, "commit", "-q", "--allow-empty", "-m", "two")
        record(program, sources)
        _, message = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "was built again while this ran" in message
    assert (tmp_path / "out/survey/results.jsonl").read_text() == ""
    assert run(*arguments, *built).returncode == 0


def test_the_build_records_what_rows_come_from() -> None:
    found = list(ROOT.glob("build/*/bench/warpheap-bench-*.revision"))
    if not found:
        pytest.skip("no program of the survey is built")
    for file in found:
        recorded, commit = file.read_text().split()
        assert recorded == programs.digest(file.with_suffix(""), 64)
        assert programs.is_known(commit)
