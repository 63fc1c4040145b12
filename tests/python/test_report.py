# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap report``: what is drawn, what is not, and that the page needs nothing from outside."""

import json
import re
import xml.etree.ElementTree as ET
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from warpheap.report import page, sections, select, style, summary
from warpheap.units import binary, decimal, milliseconds


def row(**fields: Any) -> dict[str, Any]:
    """Make a row of the result format; times in milliseconds."""
    malloc, free = fields.pop("malloc", 2.0), fields.pop("free", 1.0)
    known: dict[str, Any] = {
        "schema": 1, "case": "alloc", "manager": "rw", "backend": "cuda", "device": "H200",
        "mode": "thread", "threads": 1024, "size_min": 64, "size_max": 64, "heap_bytes": 1 << 30,
        "iterations": 10, "seed": 1, "status": "ok", "reason": None, "null_returns": 0,
        "corrupted": 0, "commit": "c0ffee", "time": "2026-01-01T00:00:00+00:00",
        "driver": "580", "toolkit": "13.0", "command": "warpheap bench --case alloc",
    }  # fmt: skip
    for name, value in (("malloc_ms", malloc), ("free_ms", free)):
        known[name] = None if value is None else dict.fromkeys(("first", "median"), value)
    return known | fields


def load(tmp_path: Path, rows: list[dict[str, Any]], name: str = "run") -> sections.Results:
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps(entry) + "\n" for entry in rows)
    (folder / "results.jsonl").write_text(text)
    return sections.load([folder])


def sizes(manager: str, **fields: Any) -> list[dict[str, Any]]:
    return [row(manager=manager, size_min=s, size_max=s, **fields) for s in (16, 64, 256)]


def plots_by_slug(results: sections.Results) -> dict[str, select.Plot]:
    return {plot.slug: plot for section in results.sections for plot in select.plots(section)}


def table_of(html: str, part: str) -> list[list[str]]:
    """Read the cells of the first table behind the place of that name."""
    table = html.partition(f'id="{part}"')[2].partition("</table>")[0]
    lines = re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)
    cells = (re.findall(r"<t[hd].*?>(.*?)</t[hd]>", line, flags=re.DOTALL) for line in lines)
    return [[unescape(re.sub("<.*?>", "", cell)) for cell in line] for line in cells]


def test_backends_devices_and_commits_never_share_a_figure(tmp_path: Path) -> None:
    rows = sizes("rw") + sizes("rw", backend="cpu", device="CPU") + sizes("rw", device="A100")
    results = load(tmp_path, rows)
    assert [s.title for s in results.sections] == ["CUDA: A100", "CUDA: H200", "CPU: CPU"]
    for section in results.sections:
        for plot in select.plots(section):
            assert all(len(series.x) == 3 for series in plot.series)
    first, second = (plot for plot in select.plots(results.sections[2]) if "cold" not in plot.slug)
    assert first.remark == second.remark == "CPU model: says nothing about a GPU"


def test_the_newest_row_of_a_measurement_counts_and_commits_share_a_figure(tmp_path: Path) -> None:
    rows = [
        *sizes("rw", commit="old", malloc=9.0),
        row(commit="new", malloc=5.0, time="2026-02-01T00:00:00+00:00", iterations=1),
        *sizes("corw", commit="new"),
    ]
    results = load(tmp_path, rows)
    (section,) = results.sections
    assert (section.commit, results.replaced) == ("old, new", 1)
    assert {line.manager: line.y for line in malloc_figure(section).series} == {
        "rw": [9.0, 5.0, 9.0],
        "corw": [2.0, 2.0, 2.0],
    }


def malloc_figure(section: sections.Section) -> select.Plot:
    (figure,) = (p for p in select.plots(section) if p.slug == "cuda-alloc-malloc-thread-1024")
    return figure


def test_commits_have_sections_of_their_own_when_asked_for(tmp_path: Path) -> None:
    load(tmp_path, [*sizes("rw", commit="old"), row(manager="corw"), row(commit="old", malloc=7.0)])
    results = sections.load([tmp_path / "run"], by_commit=True)
    assert results.replaced == 1
    assert {section.commit: len(section.rows) for section in results.sections} == {
        "old": 3,
        "c0ffee": 1,
    }


def test_measurements_that_only_their_keys_tell_apart_are_all_kept(tmp_path: Path) -> None:
    def key(depth: int) -> str:
        return json.dumps(["cuda", "H200", "tree", "rw", {"depth": depth, "iterations": 5}, None])

    rows = [row(case="tree", depth=depth, key=key(depth)) for depth in (1, 2, 2)]
    assert load(tmp_path, rows).sections[0].rows["depth"].tolist() == [1, 2]


def test_figures_of_two_commits_have_names_of_their_own(tmp_path: Path) -> None:
    load(tmp_path, [*sizes("rw", commit="one"), *sizes("rw", commit="two")])
    both = sections.load([tmp_path / "run"], by_commit=True)
    count = page.write(both, tmp_path / "report.html", tmp_path / "figures")
    names = {file.name for file in (tmp_path / "figures").iterdir()}
    assert len(names) == count
    assert {name[: -len("-one.png")] for name in names if name.endswith("-one.png")} == {
        name[: -len("-two.png")] for name in names if name.endswith("-two.png")
    }


def test_of_a_repeated_measurement_the_last_row_counts(tmp_path: Path) -> None:
    rows = [row(key="a", status="timeout", reason="slow", malloc=None), row(key="a", malloc=7.0)]
    section = load(tmp_path, rows).sections[0]
    assert section.rows["malloc_ms.median"].tolist() == [7.0]
    assert summary.problems(section) == []


def test_null_answers_and_corruption_are_told_and_not_drawn(tmp_path: Path) -> None:
    rows = [*sizes("rw"), *sizes("corw", null_returns=3), *sizes("crw", corrupted=1)]
    results = load(tmp_path, rows)
    for plot in plots_by_slug(results).values():
        assert {series.manager for series in plot.series} == {"rw"}
    (problem,) = summary.problems(results.sections[0])
    assert (problem.managers, problem.reason) == (
        "corw",
        "returned null for some requests; not drawn",
    )


def test_the_table_of_managers_compares_one_case_and_names_it(tmp_path: Path) -> None:
    rows = [
        entry
        for name in ("rw", "corw")
        for entry in (
            *sizes(name, malloc=1.0, free_percent=100.0),
            *sizes(name, malloc=1.0, free_percent=100.0, threads=32),
            row(manager=name, size_min=256, size_max=256, malloc=70.0, free_percent=50.0),
            row(manager=name, size_min=256, size_max=256, malloc=80.0, heap_bytes=1 << 20),
        )
    ]
    title, lines = summary.managers(load(tmp_path, rows).sections[0])
    assert [line["malloc"] for line in lines] == ["1 ms", "1 ms"]
    assert title == "1 Ki threads, 1 GiB heap, one block per thread, 100 % free, blocks of 256 B"


def test_the_table_of_managers_does_not_mind_files_without_sizes(tmp_path: Path) -> None:
    load(tmp_path, sizes("rw", malloc=1.0), "alloc")
    load(tmp_path, [row(case="graph_init", size_min=None, size_max=None)], "graph_init")
    (section,) = sections.load([tmp_path / "alloc", tmp_path / "graph_init"]).sections
    _, lines = summary.managers(section)
    assert [line["malloc"] for line in lines] == ["1 ms"]


def test_every_part_of_the_page_can_be_reached_from_its_top(tmp_path: Path) -> None:
    rows = [*sizes("rw"), *sizes("rw", threads=2048), *sizes("rw", threads=1), *sizes("corw")]
    results = load(tmp_path, [*rows, *sizes("rw", case="scaling"), *sizes("rw", backend="cpu")])
    page.write(results, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    (nav,) = re.findall(r"<nav.*?</nav>", text, flags=re.DOTALL)
    links = set(re.findall(r'href="#([^"]+)"', nav))
    parts = {"managers", "alloc", "problems", "rows"}
    cuda, cpu = ({f"{s}-{part}" for part in parts} | {s} for s in ("s1", "s2"))
    assert links == cuda | cpu | {"s1-scaling"}
    assert links <= set(re.findall(r'\bid="([^"]+)"', text))
    # The figures of one facet unfold; those that are looked at first are open.
    folded = re.findall(r"<details( open)?><summary>([^<]+) <small>3</small>", text)
    assert folded == [
        (" open", "one block per thread, 2 Ki threads"),
        (" open", "one block per thread, 1 Ki threads"),
        ("", "one block per thread, 1 thread"),
    ]


def test_unknown_cases_and_empty_sections_make_a_page(tmp_path: Path) -> None:
    results = load(
        tmp_path, [row(case="novel", malloc=1.5), row(status="skipped", reason="<none>")]
    )
    assert page.write(results, tmp_path / "page.html") == 0
    text = (tmp_path / "page.html").read_text()
    (line,) = table_of(text, "s1-alloc")[1:]
    assert (line[0], line[-1]) == ("rw", "skipped: <none>")
    assert "&lt;none&gt;" in text
    assert "novel" in text


def test_page_is_self_contained_and_svg_ids_are_its_own(tmp_path: Path) -> None:
    results = load(tmp_path, sizes("bump_sharded") + sizes("rw") + sizes("rw", backend="cpu"))
    count = page.write(results, tmp_path / "page.html", tmp_path / "png")
    text = (tmp_path / "page.html").read_text()
    assert text.count("<svg") == count == len(list((tmp_path / "png").glob("*.png")))
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "@import" not in text
    assert "url(http" not in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(ids)
    for svg in re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL):
        ET.fromstring(svg)
        assert "currentColor" in svg
        assert style.INK_SENTINEL not in svg


def test_command_writes_page_and_figures(run: Run, tmp_path: Path) -> None:
    load(tmp_path, sizes("rw"), "one")
    load(tmp_path, sizes("corw"), "two")
    result = run("report", "one", "two", "--png", "png")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "one/report.html").is_file()
    assert (tmp_path / "png/cuda-alloc-malloc-thread-1024.png").is_file()
    document = json.loads(run("report", "one", "-o", "x/page.html", "--json").stdout)
    assert document == {"schema": 1, "report": "x/page.html", "figures": 3, "png": None}


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "nowhere: no such file or folder"),
        ("", "no rows in nowhere"),
        ('{"schema": 2}\n', "nowhere/results.jsonl:1: not a row of schema 1"),
        ('{"schema": 1, "case": "alloc"}\n', "nowhere/results.jsonl:1: the row has no manager"),
    ],
)
def test_bad_input(run: Run, tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "nowhere").mkdir()
        (tmp_path / "nowhere/results.jsonl").write_text(content)
    result = run("report", "nowhere")
    assert result.returncode == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"threads": "abc"}, "threads is 'abc'; a number from 1 to 1073741824 is needed"),
        ({"heap_bytes": "q"}, "heap_bytes is 'q'; a number from 1 is needed"),
        ({"threads": 0}, "threads is 0; a number from 1 to 1073741824 is needed"),
        ({"size_max": [64]}, "size_max is [64]; a number from 1 to 1099511627776 is needed"),
        ({"seed": True}, "seed is True; a number from 0 is needed"),
        ({"null_returns": 10**400}, "null_returns is 1000"),
        ({"utilization": float("nan")}, "utilization is nan; a number from 0 is needed"),
        ({"graph": 5}, "graph is 5; a text is needed"),
        ({"backend": {}}, "backend is {}; a text is needed"),
        ({"malloc_ms": "2.5"}, "malloc_ms is '2.5'; an object of numbers is needed"),
        ({"free_ms": {"median": "x"}}, "free_ms.median is 'x'; a number from 0 is needed"),
        ({"free_ms.median": "x"}, "free_ms.median is 'x'; a number from 0 is needed"),
        ({"time": "zzzz"}, "time is 'zzzz'; ISO 8601 in UTC is needed, as in 2026-01-31T12:00:00Z"),
        ({"time": "2026-13-01T00:00:00Z"}, "time is '2026-13-01T00:00:00Z'; ISO 8601 in UTC"),
        ({"time": "2026-01-01T00:00:00+02:00"}, "time is '2026-01-01T00:00:00+02:00'; ISO 8601"),
        ({"time": "2026-01-01T00:00:00"}, "time is '2026-01-01T00:00:00'; ISO 8601 in UTC"),
        ({"time": 5}, "time is 5; a text is needed"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(
    run: Run, tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    lines = [json.dumps(row()), json.dumps(row() | fields)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    result = run("report", "rows.jsonl")
    assert result.returncode == 2
    assert f"error: rows.jsonl:2: {message}" in result.stderr


@pytest.mark.parametrize(
    "value, text",
    [(0.0105, "10.5 µs"), (2050.0, "2.05 s"), (0.9999, "1 ms"), (1e-6, "1 ns"), (3e6, "3,000 s")],
)
def test_times_read_well(value: float, text: str) -> None:
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (16, "B", "16 B"),
        (1536, "B", "1,536 B"),
        (100_000, "", "100,000"),
        (3 << 19, "B", "1.5 MiB"),
        (1 << 20, "", "1 Mi"),
    ],
)
def test_binary_prefixes(value: float, unit: str, text: str) -> None:
    assert binary(value, unit) == text


@pytest.mark.parametrize(
    "value, text",
    [(0.5, "0.5"), (999, "999"), (1234, "1,234"), (10_000, "10 k"), (2.5e6, "2.5 M"), (0, "0")],
)
def test_decimal_prefixes(value: float, text: str) -> None:
    assert decimal(value) == text
