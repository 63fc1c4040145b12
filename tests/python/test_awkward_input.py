# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Input that nobody types on purpose: empty values, markup, names that are not UTF-8."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import FAKE_DIGITS, SOURCE, Run

NOT_UTF8 = os.fsdecode(b"road\xff")
ALLOC = ("bench", "--case", "alloc", "--manager")


@pytest.mark.parametrize(
    "arguments, option",
    [
        (("verify", "--replay", ""), "--replay"),
        (("verify", "--replay="), "--replay"),
        (("survey", "--out", ""), "--out"),
        (("survey", "--quick", "--graph", ""), "--graph"),
        (("bench", "--case", ""), "--case"),
        (("bench", "--case", "alloc", "--manager", "rw", "--threads", ""), "--threads"),
        (("report", "here", "-o", ""), "-o"),
        (("list", "--build-dir", ""), "--build-dir"),
    ],
)
def test_an_empty_value_is_an_error_that_names_the_option(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], option: str
) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stderr == f"error: the value of '{option}' is empty\n"
    assert not list(tmp_path.iterdir())


def test_an_empty_argument_without_an_option_is_an_error_that_says_which(run: Run) -> None:
    result = run("report", "")
    assert (result.returncode, result.stderr) == (
        2,
        "error: argument 2, after 'report', is empty\n",
    )
    result = run("")
    assert (result.returncode, result.stderr) == (2, "error: argument 1 is empty\n")


@pytest.mark.parametrize("name", [":x:", "[red]rw[/red]", "[/]"])
def test_what_looks_like_markup_or_an_emoji_is_printed_as_it_stands(run: Run, name: str) -> None:
    result = run(*ALLOC, name)
    assert result.returncode == 2
    assert f"unknown manager '{name}'" in result.stderr
    assert f"'{name}'" in run(*ALLOC, "rw", "--threads", "8", name).stderr
    missing = run("report", f"{name}/here")
    assert f"error: {name}/here: " in missing.stderr
    graph = run("survey", "--graph", name)
    assert f"graph {name}: there is no such file" in graph.stderr


def test_what_a_program_says_is_printed_as_it_stands(run: Run, tmp_path: Path) -> None:
    reason = run("verify", "--replay", "sound/churn/pct/sc/1")
    assert "with [brackets]" in reason.stdout
    shown = run(
        "survey", "--backend", "cpu", "--case", "scaling", "--manager", ":x:", FAKE_EXTRA=":x:"
    )
    assert shown.returncode == 0, shown.stderr
    assert ":x:" in shown.stdout


def test_a_file_name_that_is_not_utf8_is_not_an_internal_error(run: Run, tmp_path: Path) -> None:
    missing = run("report", NOT_UTF8)
    assert missing.returncode == 2
    assert "error: road\\udcff: " in missing.stderr
    shutil.copy(SOURCE / "warpheap/data/email.mtx", tmp_path / f"{NOT_UTF8}.mtx")
    graph = ("--graph", f"{NOT_UTF8}.mtx")
    row = json.loads(
        run("bench", "--case", "graph_init", "--manager", "rw", *graph, "--json").stdout
    )
    assert row["graph"] == "road\\udcff"
    assert row["command"].isascii()
    words = ["bash", "-c", f"printf '%s\\n' {row['command']}"]
    pasted = subprocess.run(words, capture_output=True, check=True).stdout.splitlines()
    assert pasted[-1] == os.fsencode(tmp_path / f"{NOT_UTF8}.mtx")
    result = run("survey", "--backend", "cpu", "--case", "graph_init", "--manager", "rw", *graph)
    assert result.returncode == 0, result.stderr
    assert "road\\udcff" in (tmp_path / "out/survey/report.html").read_text()
    drawn = run("report", "out/survey", "--png", NOT_UTF8, "-o", f"{NOT_UTF8}.html")
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / f"{NOT_UTF8}.html").exists()


def test_a_measurement_that_was_skipped_is_not_a_success(run: Run) -> None:
    result = run(*ALLOC, "skip", FAKE_EXTRA="skip")
    assert result.returncode == 1
    assert "not this time" in result.stdout


def copy_package(folder: Path) -> None:
    """Copy what the wheel has of the package without its programs and libraries."""
    shutil.copytree(SOURCE / "warpheap", folder / "warpheap")
    (folder / "warpheap/share/warpheap").mkdir(parents=True)
    shutil.copy(SOURCE.parent / "results/fields.json", folder / "warpheap/share/warpheap")


def installed(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tool from a copy outside any checkout, as pip installs it without its programs."""
    if not (folder / "warpheap").exists():
        copy_package(folder)
    environment = {name: text for name, text in os.environ.items() if name != "WARPHEAP_BUILD"}
    return subprocess.run(
        [sys.executable, "-m", "warpheap", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment | {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
    )


@pytest.mark.parametrize("command", [("list",), ("survey",), ("verify",), (*ALLOC, "rw")])
def test_an_installation_does_not_point_to_a_checkout_that_is_not_there(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    result = installed(tmp_path, *command)
    assert result.returncode == 1
    assert "was not found" in result.stderr
    assert "apt-get install libboost-context-dev" in result.stderr
    assert "builds it" not in result.stderr


def test_an_installation_needs_no_compiler(tmp_path: Path) -> None:
    findings = json.loads(installed(tmp_path, "doctor", "--json").stdout)["checks"]
    needed = {finding["name"] for finding in findings if finding["needed"]}
    assert not needed & {"C++ compiler", "g++", "cmake", "ninja", "git"}
    assert "warpheap-bench-cpu" in needed


def test_an_installation_finds_the_programs_in_its_own_folder(
    tmp_path: Path, fake_build: Path
) -> None:
    copy_package(tmp_path)
    (tmp_path / "warpheap/bin").mkdir()
    for program in ("warpheap-bench-cpu", "warpheap-verify"):
        for name in (program, f"{program}.revision"):
            shutil.copy(fake_build / name, tmp_path / "warpheap/bin" / name)
    row = json.loads(installed(tmp_path, *ALLOC, "rw", "--json").stdout)
    assert row["status"] == "ok"
    # What the build recorded, whatever repository lies around the environment.
    assert row["commit"] == f"v0.1.0.{FAKE_DIGITS}"
