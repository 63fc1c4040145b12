# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows under results/: what the documents quote and the report draws."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results"
SURVEYS = sorted(RESULTS.glob("nvidia-h200*/*.jsonl")) + sorted(RESULTS.glob("cpu/*.jsonl"))


def rows(file: Path) -> Iterator[dict[str, Any]]:
    """Give the rows of a file."""
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@pytest.mark.parametrize("file", SURVEYS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_file_is_of_one_commit_and_its_rows_say_how_they_ended(file: Path) -> None:
    # Of a file with several commits the report would draw the newest alone.
    assert len({row["commit"] for row in rows(file)}) == 1
    for row in rows(file):
        assert row["schema"] == 1
        assert row["status"] in {"ok", "skipped", "timeout"}
        assert (row["reason"] is None) == (row["status"] == "ok"), row


def test_measurements_on_a_gpu_name_the_machine() -> None:
    measured = [row for file in RESULTS.glob("nvidia-h200/*.jsonl") for row in rows(file)]
    assert len(measured) > 3000
    for row in measured:
        assert (row["device"], row["backend"]) == ("NVIDIA H200", "cuda")
        if row["status"] != "skipped":
            assert row["driver"] and row["toolkit"] and row["time"], row
            assert not row.get("corrupted"), row


def test_walks_take_the_steps_that_the_equations_say() -> None:
    walks = [
        row
        for file in SURVEYS
        for row in rows(file)
        if row["case"] == "random_walk_steps" and row["status"] == "ok"
    ]
    with_model = [row for row in walks if row["tas_model"] is not None]
    assert {row["free_percent"] for row in with_model} == {50, 10, 1, 0.5}
    for row in with_model:
        assert abs(row["tas"] / row["tas_model"] - 1) < 0.05, row
        assert row["was"] < row["was_bound"], row
