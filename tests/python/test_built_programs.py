# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tool over programs that are really built; skipped where they are not."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Run
from warpheap import row_fields

ROOT = Path(__file__).resolve().parents[2]

Build = Callable[[str], dict[str, str]]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return the environment in which the tool finds one built program as that of the CPU model."""

    def use(place: str) -> dict[str, str]:
        found = [*ROOT.glob(f"build/cpu-release/{place}"), *ROOT.glob(f"build/*/{place}")]
        if not found:
            pytest.skip(f"{place} is not built")
        folder = tmp_path / "programs"
        folder.mkdir()
        (folder / "warpheap-bench-cpu").symlink_to(found[0])
        return {"WARPHEAP_BUILD": str(folder)}

    return use


def test_a_case_that_is_one_file_is_everywhere(run: Run, build: Build, tmp_path: Path) -> None:
    """List, options, plan, rows, checks and the report's axes, without another edit; the case is
    CONTRIBUTING.md's, in a folder in which the build finds its sources.
    """
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "\n<!-- file: bench/cases/pairs.cpp -->\n" in page
    assert "\n  cases/*.cpp\n" in (ROOT / "bench/CMakeLists.txt").read_text(encoding="utf-8")
    there = build("tests/bench/warpheap-bench-extra")
    assert "pairs=4" in " ".join(run("list", **there, COLUMNS="400").stdout.split())
    manager = json.loads(run("list", "--json", **there).stdout)["backends"]["cpu"]["managers"][0]
    asked = ("bench", "--case", "pairs", "--manager", manager["name"], "--json")
    row = json.loads(run(*asked, "--pairs", "3", "--size=64", **there).stdout)
    assert (row["status"], row["pairs"], row["size_min"]) == ("ok", 3, 64)
    refused = run(*asked, "--pairs", "1001", **there)
    assert refused.returncode == 2
    # CLI11 2.1 writes "1 to 9", later versions "[1 - 9]".
    assert re.search(r"--pairs: Value 1001 not in range \[?1 (to|-) 1000", refused.stderr)
    assert (
        "unknown parameter 'pear' (did you mean 'pairs'?)"
        in run(*asked, "--pear", "1", **there).stderr
    )

    done = run("survey", "--case", "pairs", **there)
    assert done.returncode == 0, done.stderr
    rows_file = tmp_path / "out/survey/results.jsonl"
    (measured,) = map(json.loads, rows_file.read_text().splitlines())
    assert (measured["status"], measured["pairs"], measured["threads"]) == ("ok", 4, 64)
    known = row_fields.find(rows_file)
    assert "pairs" in [field.name for field in known.axes("pairs")]
    assert [field.name for field in known.results("pairs")] == ["pairs_ms"]
    assert known.fields["pairs"].say(4) == "4 pairs"
    assert known.fault(measured) is None
    assert known.fault(measured | {"pairs": 0}) == "pairs is 0; a number from 1 is needed"


def test_walks_follow_the_equations(run: Run, build: Build) -> None:
    """TAS within 5 % of the model, WAS not above its bound by more than chance."""
    there = build("bench/warpheap-bench-cpu")
    for manager in ("rw", "rw_bm", "corw"):
        for free_percent in ("50", "10", "1"):
            asked = ("bench", "--case", "random_walk_steps", "--manager", manager, "--json")
            row = json.loads(run(*asked, "--free-percent", free_percent, **there).stdout)
            assert row["status"] == "ok"
            assert row["tas"] / row["tas_model"] == pytest.approx(1, abs=0.05)
            assert row["was"] < row["was_bound"] + 4 * row["was_error"] + 0.01


@pytest.mark.parametrize("folder", ["results", "python/warpheap/data"])
def test_rows_are_described_as_the_programs_say(run: Run, build: Build, folder: str) -> None:
    """Those that are published, and those that come without a description."""
    there = build("bench/warpheap-bench-cpu")
    said = json.loads(run("list", "--fields", **there).stdout)
    file = Path(folder) / row_fields.FILE_NAME
    written = json.loads((ROOT / file).read_text())
    for part in ("fields", "cases"):
        kept = {entry["name"]: entry for entry in written[part]}
        assert {e["name"]: kept.get(e["name"]) for e in said[part]} == {
            e["name"]: e for e in said[part]
        }, f"{file}: write it again with 'warpheap list --backend cpu --fields'"
