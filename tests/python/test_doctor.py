# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap doctor``: what it sees, what it says is missing, and its lower bounds."""

import json
import tomllib
from pathlib import Path

import pytest

from conftest import Run
from warpheap import doctor

ROOT = Path(__file__).resolve().parent.parent.parent


def checks(text: str) -> dict[str, dict[str, object]]:
    return {check["name"]: check for check in json.loads(text)["checks"]}


def test_sees_programs_and_packages(run: Run) -> None:
    found = checks(run("doctor", "--json").stdout)
    assert found["warpheap-bench-cpu"]["ok"] is True
    assert "9 managers" not in str(found["warpheap-bench-cpu"]["found"])  # one is not available
    assert "8 managers, 5 cases" in str(found["warpheap-bench-cpu"]["found"])
    assert found["warpheap-bench-cuda"]["found"] == "no CUDA device"
    assert found["Python: numpy"]["ok"] is True


def test_missing_program_exits_with_1_and_names_the_command(run: Run, tmp_path: Path) -> None:
    result = run("doctor", "--build-dir", str(tmp_path))
    assert result.returncode == 1
    assert "warpheap-bench-cpu (needed): './dev survey' builds it" in result.stdout
    assert "not ready" in result.stdout


def test_missing_compiler(run: Run, tmp_path: Path) -> None:
    result = run("doctor", "--json", PATH=str(tmp_path))
    found = checks(result.stdout)
    assert found["C++ compiler"]["ok"] is False
    assert found["C++ compiler"]["remedy"] == "apt-get install g++"
    assert found["GPU"]["found"] == "no nvidia-smi"
    assert result.returncode == 1


def test_a_checkout_that_git_refuses_is_named(run: Run, tmp_path: Path) -> None:
    foreign = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "GIT_CONFIG_COUNT": "0"}
    result = run("doctor", "--json", HOME=str(tmp_path), GIT_CONFIG_NOSYSTEM="1", **foreign)
    git = checks(result.stdout)["git"]
    assert (git["ok"], git["needed"]) == (False, True)
    assert "detected dubious ownership" in str(git["found"])
    assert str(git["remedy"]).startswith("git config --global --add safe.directory ")
    assert result.returncode == 1


def tool(tmp_path: Path, output: str) -> doctor.Tool:
    program = tmp_path / "thing"
    program.write_text(f"#!/bin/sh\necho '{output}'\n")
    program.chmod(0o755)
    return doctor.Tool("thing", "12.4", "does things", "get thing")


@pytest.mark.parametrize(
    "output, ok, found",
    [
        ("thing version 12.4.1", True, "12.4.1"),
        ("release 13.0, V13.0.88", True, "13.0"),
        ("thing 12.3.9", False, "12.3.9, older than 12.4"),
        ("no number", False, "prints no version"),
    ],
)
def test_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, output: str, ok: bool, found: str
) -> None:
    wanted = tool(tmp_path, output)
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = doctor.check_tool(wanted)
    assert (finding.ok, finding.found) == (ok, found)
    assert bool(finding.remedy) != ok


def test_lower_bounds_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = dict(entry.split(">=") for entry in project["dependencies"])
    assert declared == doctor.PACKAGES
    assert project["requires-python"] == f">={doctor.PYTHON}"
