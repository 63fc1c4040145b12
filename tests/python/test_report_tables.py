# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap report``: the table of a case that has no figure."""

import json
from pathlib import Path
from typing import Any

import pytest

from test_report import load, row, sizes, table_of
from warpheap.report import page, sections, summary
from warpheap.report.specs import FIGURES

PUBLISHED = Path(__file__).parents[2] / "results"
DESCRIPTION: dict[str, Any] = {
    "schema": 1,
    "fields": [
        {"name": "depth", "kind": "integer", "role": "axis", "phrase": "depth {}"},
        {"name": "visit_ms", "unit": "ms", "kind": "summary", "role": "result"},
        {"name": "rate", "unit": "M/s", "kind": "number", "role": "result", "about": "visits"},
        {"name": "kept", "unit": "share", "kind": "number", "role": "result"},
        {
            "name": "refused",
            "unit": "requests",
            "kind": "integer",
            "role": "detail",
            "about": "in vain",
        },
        {"name": "whole", "kind": "flag", "role": "result"},
        {"name": "never", "kind": "number", "role": "result"},
        {"name": "visits", "unit": "ms", "kind": "list"},
    ],
    "cases": [
        {
            "name": "tree",
            "parameters": [{"name": "depth", "default": 3}],
            "fields": ["visit_ms", "rate", "kept", "refused", "whole", "never", "visits"],
        }
    ],
}
RESULT = {
    "visit_ms": {"median": 0.5, "max": 2.0},
    "rate": 450.15409076167634,
    "kept": 0.25,
    "refused": 1500,
    "whole": True,
    "visits": [0.5, 2.0],  # in no table
}


def tree(**fields: Any) -> dict[str, Any]:
    return row(case="tree", malloc=None, free=None, depth=3, null_returns=None, corrupted=None) | (
        RESULT | fields
    )


def page_of(tmp_path: Path, rows: list[dict[str, Any]]) -> str:
    (tmp_path / "fields.json").write_text(json.dumps(DESCRIPTION))
    page.write(load(tmp_path, rows), tmp_path / "page.html")
    return (tmp_path / "page.html").read_text()


def test_a_case_whose_rows_vary_in_no_axis_shows_what_it_measured(tmp_path: Path) -> None:
    nothing: dict[str, Any] = dict.fromkeys(RESULT)
    lost = tree(manager="crw", status="timeout", reason="longer than <9 s>", mode=None)
    lost |= nothing
    html = page_of(tmp_path, [tree(), tree(manager="corw", kept=0.125), lost])
    times = ["visit_ms.median", "visit_ms.max"]
    values = ["500 µs", "2 ms", "450 M/s"]
    assert table_of(html, "s1-tree") == [
        ["manager", *times, "rate", "kept", "refused", "whole", "status"],
        ["rw", *values, "25 %", "1,500", "True", "ok"],
        ["corw", *values, "12.5 %", "1,500", "True", "ok"],
        ["crw", "", "", "", "", "", "", "timeout: longer than <9 s>"],
    ]
    assert '<a href="#s1-tree">tree</a> <small>3</small>' in html
    assert "All rows: 1 Ki threads, 1 GiB heap, one block per thread, depth 3, blocks" in html
    assert "rate: visits; refused (requests): in vain." in html


def test_rows_that_differ_in_a_parameter_have_lines_of_their_own(tmp_path: Path) -> None:
    rows = [
        tree(manager=name, mode=mode, size_max=size, seed=seed)
        for name in ("rw", "corw")
        for mode, size, seed in (("thread", 128, 1), ("warp", 256, 1), ("warp", 256, 2))
    ]
    said = [
        "seed 1, one block per thread, blocks of 64 B to 128 B",
        "seed 1, one block per warp, blocks of 64 B to 256 B",
        "seed 2, one block per warp, blocks of 64 B to 256 B",
    ]
    section = load(tmp_path, rows).sections[0]
    lines = summary.measured_values(section, "tree").lines
    assert [(line.manager, line.where) for line in lines] == [
        (name, where) for where in said for name in ("rw", "corw")
    ]


def test_times_of_malloc_and_missing_memory_are_told_too(tmp_path: Path) -> None:
    times = row(case="tree", depth=3)
    html = page_of(tmp_path, [times, times | {"manager": "corw", "null_returns": 7}])
    short = "ok: returned null for some requests; not drawn"
    names = [f"{part}_ms.{value}" for part in ("malloc", "free") for value in ("first", "median")]
    assert table_of(html, "s1-tree") == [
        ["manager", "null_returns", "corrupted", *names, "status"],
        ["rw", "0", "0", "2 ms", "2 ms", "1 ms", "1 ms", "ok"],
        ["corw", "7", "0", "2 ms", "2 ms", "1 ms", "1 ms", short],
    ]


def test_a_case_that_no_description_knows_shows_its_numbers(tmp_path: Path) -> None:
    unknown = row(case="novel", malloc=None, free=None, null_returns=None, corrupted=None)
    unknown |= {"held_bytes": 2859503616, "stats": {"peak_bytes": 512}}
    unknown |= {"call_ns": {"p50": 985.0, "p99.9": 11187.3}, "wall_s": 4.0, "leaves": 64}
    names = ["stats.peak_bytes", "call_ns.p50", "call_ns.p99.9"]
    html = page_of(tmp_path, [unknown | {"python": "3.12.3", "ratios": [1.0], "intact": False}])
    assert "asked for by those blocks" not in html  # held_bytes of another case
    assert table_of(html, "s1-novel") == [
        ["manager", "held_bytes", "leaves", "intact", *names, "status"],
        ["rw", "2.663 GiB", "64", "False", "512 B", "985", "11.2 k", "ok"],
    ]


def test_tables_have_columns_of_times_where_there_are_any(tmp_path: Path) -> None:
    html = page_of(tmp_path, [tree()])
    assert table_of(html, "s1-managers")[0] == ["manager", "rows ok", "skipped", "bad"]
    assert table_of(html, "s1-rows") == [
        ["case", "manager", "parameters", "status", "command"],
        ["tree", "rw", *table_of(html, "s1-rows")[1][2:]],
    ]
    html = page_of(tmp_path, [tree(), *sizes("rw")])
    times = ["malloc", "first malloc", "free"]
    assert table_of(html, "s1-managers")[0][:4] == ["manager", *times]
    assert table_of(html, "s1-rows")[1][4:7] == ["", "", ""]
    assert table_of(html, "s1-rows")[-1][4:7] == ["2 ms", "2 ms", "1 ms"]


@pytest.mark.parametrize("device", ["cpu", "nvidia-h200"])
def test_every_published_case_without_a_figure_of_its_own_has_values(device: str) -> None:
    drawn = {spec.case for spec in FIGURES}
    folders = [path for path in (PUBLISHED / device).iterdir() if path.is_dir()]
    loaded = sections.load([folder for folder in folders if folder.name not in drawn])
    for section in loaded.sections:
        for case in set(section.rows["case"]):
            for line in summary.measured_values(section, case).lines:
                assert any(line.cells) or line.status != "ok", (case, line)
