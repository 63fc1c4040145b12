# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of a report: the list of them, which rows they show, and how they are drawn."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from test_report import load, plots_by_slug, row, sizes
from warpheap import row_fields
from warpheap.report import draw, style, summary
from warpheap.report.specs import FIGURES


def test_ratio_is_taken_to_the_probe_of_the_same_point(tmp_path: Path) -> None:
    rows = [
        *sizes("bump_sharded", malloc=0.5, free=0.25),
        *sizes("rw", malloc=2.0, free=1.0),
        row(manager="rw", threads=2048, malloc=9.0),
    ]
    results = load(tmp_path, rows)
    found = plots_by_slug(results)
    lines = {s.manager: s.y for s in found["cuda-alloc-malloc-ratio-thread-1024"].series}
    assert lines == {"bump_sharded": [1.0] * 3, "rw": [4.0] * 3}
    lines = {s.manager: s.y for s in found["cuda-alloc-free-ratio-thread-1024"].series}
    assert lines["rw"] == [4.0] * 3
    assert "cuda-alloc-malloc-ratio-thread-2048" not in found  # the probe has no such row


def test_mixed_sizes_are_kept_out_of_the_plots_of_one_size(tmp_path: Path) -> None:
    results = load(tmp_path, [*sizes("rw"), row(size_min=16, size_max=256, malloc=99.0)])
    assert plots_by_slug(results)["cuda-alloc-malloc-thread-1024"].series[0].y == [2.0] * 3


def test_different_heaps_are_not_joined_by_a_line(tmp_path: Path) -> None:
    rows = [*sizes("rw"), *sizes("corw"), *sizes("rw", heap_bytes=1 << 20)]
    results = load(tmp_path, rows)
    plots = [p for p in plots_by_slug(results).values() if p.spec.name == "alloc-malloc"]
    assert len(plots) == 2
    assert {p.subtitle for p in plots} == {
        "one block per thread, 1 Ki threads",
        "one block per thread, 1 Ki threads, 1 MiB heap",
    }


@pytest.mark.parametrize("role", ["axis", "facet"])
def test_a_parameter_that_no_figure_names_keeps_lines_apart(tmp_path: Path, role: str) -> None:
    """A new parameter is an entry in the file of its case, and nothing in the list of figures."""
    fields = [{"name": "depth", "kind": "integer", "role": role, "phrase": "{} deep"}]
    case = {"name": "alloc", "parameters": [{"name": "depth", "default": 1}], "fields": []}
    (tmp_path / "fields.json").write_text(
        json.dumps({"schema": 1, "fields": fields, "cases": [case]})
    )
    before = sizes("gallatin")
    rows = [*before, *sizes("rw", depth=1), *sizes("corw", depth=1), *sizes("rw", depth=7)]
    for entry in rows:
        given = {name: entry.get(name) for name in ("depth", "size_max")}
        entry["key"] = json.dumps(["cuda", "H200", "alloc", entry["manager"], given, None])
    found = plots_by_slug(load(tmp_path, rows))
    usual = found["cuda-alloc-malloc-thread-1024"]
    assert [series.manager for series in usual.series] == ["rw", "corw", "gallatin"]
    assert usual.subtitle == "one block per thread, 1 Ki threads"
    deep = found["cuda-alloc-malloc-thread-1024-7"]
    assert [series.manager for series in deep.series] == ["rw"]
    assert deep.subtitle == "one block per thread, 1 Ki threads, 7 deep"


def test_a_value_that_is_not_said_is_the_usual_one(tmp_path: Path) -> None:
    rows = [*sizes("rw", distribution="uniform"), *sizes("corw")]
    plots = [
        p for p in plots_by_slug(load(tmp_path, rows)).values() if p.spec.y.label[:4] == "free"
    ]
    assert [{series.manager for series in plot.series} for plot in plots] == [{"rw", "corw"}]


def test_steps_are_drawn_with_the_model_and_by_word_size(tmp_path: Path) -> None:
    rows = [
        row(case="random_walk_steps", pages=1 << 20, free_percent=percent, word_bits=bits,
            tas=100 / percent, tas_model=101 / percent, was=3, was_bound=4, malloc=None, free=None)
        for percent in (50, 0.5) for bits in (32, 64)
    ]  # fmt: skip
    plot = plots_by_slug(load(tmp_path, rows))["cuda-steps-tas-1024-1048576"]
    assert [series.label for series in plot.series] == ["rw (32 bit)", "rw (64 bit)"]
    assert plot.series[0].x == [0.5, 50]
    assert plot.series[0].model == [202.0, 2.02]


def test_cases_that_wait_for_null_are_drawn_and_are_not_a_problem(tmp_path: Path) -> None:
    rows = [
        row(case="utilization", size_min=s, size_max=s, null_returns=9, utilization=u, malloc=None)
        for s, u in ((100, 0.5), (1050, 0.75))
    ]
    results = load(tmp_path, rows)
    assert summary.problems(results.sections[0]) == []
    plot = plots_by_slug(results)["cuda-utilization"]
    assert plot.series[0].y == [0.5, 0.75]
    text = draw.svg(plot)
    assert ">1,050 B<" in text
    assert ">60 %<" in text


def test_one_point_a_manager_is_shown_as_bars(tmp_path: Path) -> None:
    results = load(tmp_path, [row(manager="rw"), row(manager="corw")])
    plot = plots_by_slug(results)["cuda-alloc-malloc-thread-1024"]
    assert plot.bars
    assert plot.subtitle == "one block per thread, 1 Ki threads, block size 64 B"


def test_ticks_stay_apart_and_keep_both_ends() -> None:
    threads = [float(1 << k) for k in range(21)]
    assert draw._thin_out(threads) == [float(1 << k) for k in range(0, 21, 4)]
    sizes = [1000.0, 1024.0, 1050.0, 4096.0, 8000.0, 8192.0]
    assert draw._thin_out(sizes) == [1000.0, 4096.0, 8192.0]
    assert draw._thin_out([0.0, 50.0, 90.0, 98.0, 99.0], log=False) == [0.0, 50.0, 90.0, 99.0]


def test_bars_hold_one_bar_a_manager(tmp_path: Path) -> None:
    rows = [
        row(case="graph_init", manager=name, graph="email", malloc=time)
        for name, time in (("rw", 3.21), ("corw", 0.00123))
    ]
    plot = plots_by_slug(load(tmp_path, rows))["cuda-graph-malloc-email"]
    text = draw.svg(plot)
    assert text.index(">3.21 ms<") < text.index(">1.23 µs<")  # drawn upwards, the fastest last
    assert {series.manager: series.y for series in plot.series} == {"rw": [3.21], "corw": [0.00123]}


def test_a_line_has_a_gap_and_a_mark_where_a_manager_had_not_finished(tmp_path: Path) -> None:
    rows = [
        *(entry for entry in sizes("rw") if entry["size_max"] != 64),
        row(status="timeout", reason="not finished in 2 s", malloc=None, free=None),
        *sizes("corw", null_returns=1)[:1],
        *sizes("corw")[1:],
    ]
    plot = plots_by_slug(load(tmp_path, rows))["cuda-alloc-malloc-thread-1024"]
    late = plot.series[0]
    assert (late.x, late.late) == ([16, 64, 256], [64])
    assert [math.isnan(value) for value in late.y] == [False, True, False]
    nulls = next(series for series in plot.series if series.manager == "corw")
    assert (nulls.drawn, nulls.late) == ([2.0, 2.0], [])
    assert ">not finished in time<" in draw.svg(plot)
    figure = draw._draw(plot, style.INK_PRINT)
    (line,) = (each for each in figure.axes[0].lines if each.get_label() == "rw")
    assert [math.isnan(value) for value in line.get_ydata()] == [False, True, False]


def test_registers_are_bars_of_malloc_and_of_free(tmp_path: Path) -> None:
    unasked = dict.fromkeys(("threads", "size_min", "size_max", "heap_bytes", "iterations", "seed"))
    rows = [
        row(case="registers", manager=name, call=call, registers=count, local_bytes=count - 21,
            malloc=None, free=None, **unasked)
        for name, call, count in (
            ("rw", "malloc", 63), ("corw", "malloc", 41), ("rw", "free", 24), ("bump", "malloc", 21)
        )
    ]  # fmt: skip
    rows.append(
        row(case="registers", manager="bump", call="free", status="skipped",
            reason="cannot free single blocks", malloc=None, free=None, **unasked)
    )  # fmt: skip
    results = load(tmp_path, rows)
    found = plots_by_slug(results)
    calls = ("malloc", "free")
    assert list(found) == [f"cuda-{what}-{c}" for what in ("registers", "local") for c in calls]
    plot = found["cuda-registers-malloc"]
    assert {s.manager: s.y for s in plot.series} == {"rw": [63], "corw": [41], "bump": [21]}
    assert plot.bars
    assert plot.description.startswith("registers of a kernel that calls malloc: registers of a")
    text = draw.svg(plot)
    assert text.index(">63<") < text.index(">41<")  # drawn upwards, the fewest last
    assert {s.manager: s.y for s in found["cuda-registers-free"].series} == {"rw": [24]}
    assert {s.manager: s.y for s in found["cuda-local-malloc"].series}["bump"] == [0]
    assert ">42<" in draw.svg(found["cuda-local-malloc"])
    (problem,) = summary.problems(results.sections[0])
    assert (problem.managers, problem.reason) == ("bump", "cannot free single blocks")


def test_a_late_manager_has_no_bar_and_words_that_say_why(tmp_path: Path) -> None:
    rows = [row(), row(manager="corw", status="timeout", reason="late", malloc=None, free=None)]
    plot = plots_by_slug(load(tmp_path, rows))["cuda-alloc-malloc-thread-1024"]
    text = draw.svg(plot)
    assert ">rw<" in text
    assert text.index(">corw<") < text.index(">rw<"), "below all others"
    assert text.count(">not finished in time<") == 1
    without = plots_by_slug(load(tmp_path, rows[:1]))["cuda-alloc-malloc-thread-1024"]
    assert ">not finished in time<" not in draw.svg(without)


def occupancy(name: str, **fields: Any) -> list[dict[str, Any]]:
    same = {"case": "occupancy", "manager": name, **fields}
    rows = [row(free_percent=float(f), **same) for f in (100, 50, 10, 2)]
    for used, entry in enumerate(rows):
        entry["malloc_ms"] = {"median": 1.0 + used, "max": 10.0 + used}
    return rows


def test_times_are_drawn_against_occupancy(tmp_path: Path) -> None:
    found = plots_by_slug(load(tmp_path, [*occupancy("rw"), *occupancy("corw")]))
    median = found["cuda-occupancy-malloc-64-64"]
    assert median.series[0].x == [0, 50, 90, 98]
    assert median.series[0].y == [1.0, 2.0, 3.0, 4.0]
    longest = found["cuda-occupancy-longest-64-64"]
    assert longest.series[0].y == [10.0, 11.0, 12.0, 13.0]
    assert ">0 %<" in draw.svg(longest)
    assert not any("occupancy" in slug for slug in plots_by_slug(load(tmp_path, sizes("rw"))))


def test_a_case_without_an_entry_is_drawn_by_the_roles_of_its_fields(tmp_path: Path) -> None:
    novel = {"case": "novel", "rounds": 5}
    rows = [
        row(manager=name, used_percent=used, threads=threads, **novel)
        | {"step_ms": {"median": used + 1.0, "max": used + 9.0}}
        for name in ("rw", "corw")
        for threads in (32, 1024)
        for used in (0.0, 50.0, 90.0)
    ]
    found = plots_by_slug(load(tmp_path, rows))
    plot = found["cuda-novel-step-max-1024-64"]
    assert plot.subtitle == "1 Ki threads, blocks of 64 B"
    assert plot.spec.title == "step against share of the heap in use"
    assert plot.series[0].x == [0, 50, 90]
    assert plot.series[0].y == [9.0, 59.0, 99.0]
    assert found["cuda-novel-malloc-median-32-64"].series[1].y == [2.0, 2.0, 2.0]
    steps = [slug for slug in found if "step" in slug]
    assert len(steps) == 4


def test_a_graph_is_not_an_axis_of_numbers(tmp_path: Path) -> None:
    rows = [
        row(case="novel", threads=threads, graph=graph, step_ms={"median": 1.0, "max": 2.0})
        for threads in (32, 1024)
        for graph in ("one", "two", "three")
    ]
    found = [p for slug, p in plots_by_slug(load(tmp_path, rows)).items() if "step" in slug]
    assert len(found) == 6  # median and longest, of each graph
    for plot in found:
        assert plot.series[0].x == [32, 1024]
        draw.svg(plot)


def test_workloads_are_drawn_against_two_passes(tmp_path: Path) -> None:
    table = {"match_percent": 100.0, "key_skew": 1e-9, "page_bytes": 256}
    rows = [
        row(case="join", rows=count, malloc=None, free=None, **table)
        | {"join_ms": {"median": count / 8}, "baseline_ms": {"median": count / 4}}
        for count in (16, 64)
    ]
    rows += [
        row(case="work_generation", threads=count, malloc=1.0, free=2.0)
        | {"two_pass_ms": {"median": 1.5}}
        for count in (16, 64)
    ]
    plots = {plot.spec.name: plot for plot in plots_by_slug(load(tmp_path, rows)).values()}
    assert plots["join"].series[0].y == [0.5, 0.5]
    assert plots["work-generation"].series[0].y == [2.0, 2.0]


def test_a_description_beside_the_rows_says_what_is_drawn(tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [
        {"name": "depth", "kind": "integer", "role": "axis", "about": "depth of the tree"},
        {"name": "width", "kind": "integer", "role": "facet", "phrase": "{} wide"},
        {"name": "visit_ms", "unit": "ms", "kind": "summary", "role": "result"},
        {"name": "kept", "unit": "share", "kind": "number", "role": "result", "better": "more"},
        {"name": "note", "kind": "text", "role": "result"},
    ]
    parameters = [{"name": name, "default": 1} for name in ("depth", "width")]
    case = {"name": "tree", "parameters": parameters, "fields": ["visit_ms", "kept", "note"]}
    (tmp_path / "fields.json").write_text(
        json.dumps({"schema": 1, "fields": fields, "cases": [case]})
    )
    rows = [
        row(case="tree", depth=depth, width=width, kept=0.5, note="x", seed=None, malloc=None)
        | {
            "visit_ms": {"median": 2.0 * depth, "max": 3.0},
            "time": f"2026-01-0{depth}T0{width}:00:00Z",
        }
        for depth in (1, 2, 4)
        for width in (1, 3)
    ]
    for entry in rows:
        given = {name: entry[name] for name in ("depth", "width")}
        entry["key"] = json.dumps(["cuda", "H200", "tree", "rw", given, None])
    found = plots_by_slug(load(tmp_path, rows))
    assert list(found) == [
        f"cuda-tree-{name}-1024-64-{width}"
        for width in (1, 3)
        for name in ("visit-median", "visit-max", "kept")
    ]
    plot = found["cuda-tree-visit-median-1024-64-3"]
    assert plot.series[0].y == [2.0, 4.0, 8.0]
    assert (plot.subtitle, plot.spec.title) == (
        "1 Ki threads, 3 wide, blocks of 64 B",
        "visit against depth of the tree",
    )
    kept = found["cuda-tree-kept-1024-64-1"].spec
    assert (kept.y.log, kept.y.more_is_better, kept.y.ticks(0.5)) == (False, True, "50 %")


def test_every_number_that_a_figure_shows_is_checked() -> None:
    made_here = ("_over_limit", "used_percent")
    for spec in FIGURES:
        for column in {spec.x.column, *spec.y.columns, *filter(None, [spec.model])}:
            if column not in ("graph", "call") and not column.endswith(made_here):
                fields = {"case": "alloc", "manager": "rw", "status": "ok", column: "x"}
                assert column in (row_fields.of_published_rows().fault(fields) or ""), column
