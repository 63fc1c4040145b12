# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages' tables, numbers and figures: what makes them, and that they agree with the rows."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from test_report import row, sizes
from warpheap import published
from warpheap.errors import UserError
from warpheap.report import query
from warpheap.report.docs import Documents

ROOT = Path(__file__).resolve().parents[2]
# A number with the unit of a measurement; sizes of heaps and blocks are parameters.
MEASURED = re.compile(r"\d\s?(?:µs|us|ms|ns|s|%|×|times)(?![\w/])")
# Numbers with such a unit that no row holds: what the code or a measurement is set to, and what
# the text file beside them says.
SETTINGS = {
    "docs/host.md": (
        "but at most 16 times the request",
        "waits at most 20 ms for the work in the streams",
        "sleeps for 50 us at a time",
        "a call that has to sleep takes at least 50 us",
        "with its share of the slots for 0.3 s",
        "differences below 5 % not at all",
        # results/nvidia-h200/virtual_memory.txt
        "40 to 50 us per page on an H200 (the driver takes 16 us to unmap a page\n"
        "and 24 us to map it and set its access",
        "also costs about 50 us per page (64 GiB: 1.6 s)",
        # bench/compile_time/rows.jsonl
        "compiles in at most 0.02 s of processor time",
    )
}
GENERATED = re.compile(
    r"<!-- (?:table|pivot): .*?<!-- end -->|<!-- =\w+ -->.*?<!-- = -->|<!-- .*?-->", re.DOTALL
)


# What pages quote from the text files in results/checks.
CHECKS = re.compile(r"\]\(\.\./(results/checks/\w+\.txt)\)")
QUOTED = re.compile(
    r"(?:instead\sof|factor\sof)\s([\d.,]*\d)(?![\w/]|[.,]\d)"
    r"|([\d.,]*\d)(?=(?:\sto\s[\d.]+)?\s(?:µs|us|ms|s|%|times)(?![\w/]))"
)
RUN = re.compile(r"(?:PASS|FAIL) ([\w.]+)|(\w+)  .* launches  (\S+)")


def newest_numbers(text: str) -> set[str]:
    """The numbers of a file in results/checks, without those of a program that ran again later."""
    lines: dict[str, str] = {}
    for number, line in enumerate(text.splitlines()):
        run = RUN.match(line)
        lines["".join(filter(None, run.groups())) if run else f"line {number}"] = line
    return set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)", "\n".join(lines.values())))


def rounds_to(written: str, number: float) -> bool:
    """Whether a number, rounded to the places of one that is written, is that."""
    written = written.replace(",", "")
    return f"{number:.{len(written.partition('.')[2])}f}" == written


def unfounded(page: str, checks: dict[str, str]) -> list[str]:
    """The measured numbers of a page that none of the files which it names has."""
    paragraphs = re.sub(r"^(`{3,}).*?^\1", "", page, flags=re.DOTALL | re.MULTILINE)
    numbers = [float(n) for name in CHECKS.findall(page) for n in newest_numbers(checks[name])]
    wrong = []
    for paragraph in paragraphs.split("\n\n"):
        quoted = [next(filter(None, found)) for found in QUOTED.findall(paragraph)]
        for at, number in enumerate(quoted):
            if f"factor of {number}" in " ".join(paragraph.split()):
                least, most = (
                    [n for n in numbers if rounds_to(quoted[at - back], n)] for back in (2, 1)
                )
                found = any(rounds_to(number, b / a) for a in least for b in most)
            else:
                found = any(rounds_to(number, n) for n in numbers)
            if not found:
                wrong.append(number)
    return wrong


def checkout(folder: Path, text: str, rows: list[dict[str, Any]] | None = None) -> Documents:
    """Make a checkout with one page."""
    published.file_rows(rows if rows is not None else sizes("rw"), folder / "results")
    (folder / "README.md").write_text(text)
    return Documents(folder)


def made(folder: Path, text: str, rows: list[dict[str, Any]] | None = None) -> str:
    documents = checkout(folder, text, rows)
    assert documents.outdated(write=True) == ["README.md"]
    assert documents.outdated() == []
    return (folder / "README.md").read_text()


def test_the_pages_of_this_checkout_agree_with_its_rows() -> None:
    documents = Documents(ROOT)
    names = {str(page.relative_to(ROOT)) for page in documents.pages()}
    assert {"README.md", "docs/performance.md"} <= names
    assert documents.outdated() == [], "run: ./dev warpheap report --docs ."


@pytest.mark.parametrize("name", ["README.md", "docs/performance.md", "docs/host.md"])
def test_no_measured_number_is_written_by_hand(name: str) -> None:
    text = GENERATED.sub("", (ROOT / name).read_text(encoding="utf-8"))
    for setting in SETTINGS.get(name, ()):
        assert text.count(setting) == 1, (
            f"{setting}: take it from the list if the page has it no more"
        )
        text = text.replace(setting, "")
    assert [match[0] for match in MEASURED.finditer(text)] == []


@pytest.mark.parametrize("name", ["docs/drop-in.md", "docs/migration.md"])
def test_numbers_written_by_hand_are_those_of_the_newest_checks(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    names = set(CHECKS.findall(page))
    assert names
    assert unfounded(page, {name: (ROOT / name).read_text("utf-8") for name in names}) == []


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("It takes 1.7 ms instead of 1,140, a factor of 684", []),
        ("It takes 1.67 ms instead\nof 1139.8, a\nfactor of 684", []),
        ("It takes 1.1 ms instead of 1,132", ["1.1", "1,132"]),
        ("It takes 1.7 ms instead of 1,140, a factor of 120", ["120"]),
        ("It had not finished after 16 s", ["16"]),
        ("It takes 0.2 to 1.7 ms", ["0.2"]),
        ("A heap of 16 MiB, or 77 of them", []),
    ],
)
def test_a_number_that_no_newest_line_has_is_found(text: str, wrong: list[str]) -> None:
    checks = {
        "results/checks/a.txt": "PASS table: 10 keys: 1.102 ms\nPASS table_cuda: add 1132.4 ms\n"
        "At 77cef15:\nPASS table: 10 keys: add 1.666 ms\nPASS table_cuda: add 1139.788 ms\n"
    }
    assert unfounded(f"{text} ([a.txt](../results/checks/a.txt)).", checks) == wrong


def test_a_table_is_what_its_query_finds(tmp_path: Path) -> None:
    mark = (
        "<!-- table: SELECT code(manager) AS manager, bytes(size_max) AS size,\n"
        '  number(1000 * malloc_ms_median) AS "µs" FROM "results/h200/alloc"\n'
        "WHERE size_max > 16 ORDER BY size_max -->"
    )
    text = made(tmp_path, f"Before.\n\n{mark}\n\n<!-- end -->\n\nAfter.\n")
    assert text == (
        f"Before.\n\n{mark}\n\n| manager | size | µs |\n|---|---|---|\n| `rw` | 64 B | 2,000 |\n"
        "| `rw` | 256 B | 2,000 |\n\n<!-- end -->\n\nAfter.\n"
    )


def test_a_pivot_has_a_column_for_each_heading(tmp_path: Path) -> None:
    mark = (
        "<!-- pivot: SELECT manager, size_max, duration(malloc_ms_median)\n"
        'FROM "results/h200/alloc" ORDER BY rank(manager), size_max -->'
    )
    rows = [*sizes("corw", malloc=0.5), *sizes("rw")[1:]]
    text = made(tmp_path, f"{mark}\n\n| old |\n|---|\n\n<!-- end -->\n", rows)
    assert text.splitlines()[3:7] == [
        "| manager | 64 | 256 | 16 |",
        "|---|---|---|---|",
        "| rw | 2 ms | 2 ms | |",
        "| corw | 500 µs | 500 µs | 500 µs |",
    ]


def test_values_stand_in_the_text(tmp_path: Path) -> None:
    values = (
        '<!-- values: SELECT number(min(size_max)) AS least, "commit" AS made\n'
        'FROM "results/h200/alloc" -->'
    )
    text = made(
        tmp_path, f"{values}\n\nFrom <!-- =least -->?<!-- = --> on, <!-- =made --><!-- = -->."
    )
    assert text.endswith("From <!-- =least -->16<!-- = --> on, <!-- =made -->c0ffee<!-- = -->.")


def test_what_a_field_holds_by_name_are_columns(tmp_path: Path) -> None:
    entry = row(malloc_ms={"p99.9": 7.0}, notes={"a": {"b": 8}}, tags=[1, 2], full=True)
    checkout(tmp_path, "", [entry])
    database = query.connect(tmp_path)
    wanted = 'SELECT malloc_ms_p99_9, notes_a_b, tags, "full" FROM "results/h200/alloc"'
    assert database.execute(wanted).fetchall() == [(7.0, 8, "[1, 2]", 1)]


def test_fenced_code_is_left_alone(tmp_path: Path) -> None:
    example = "````markdown\n<!-- table: SELECT nothing -->\n```\nnested\n```\n````\n"
    assert checkout(tmp_path, example).pages() == []
    values = "<!-- values: SELECT 1 AS a -->\n\nIt is <!-- =a -->?<!-- = -->.\n"
    assert made(tmp_path, example + values) == example + values.replace("?", "1")


@pytest.mark.parametrize(
    "text, message",
    [
        ("\n<!-- table: SELECT size -->\n<!-- end -->", "2: no such column: size"),
        ('<!-- table: SELECT 1 FROM "results/a" -->\n<!-- end -->', "1: no such table: results/a"),
        ("<!-- table: SELECT 1 WHERE 0 -->\n<!-- end -->", "1: the query found no row"),
        ("<!-- table: SELECT 1 -->\ntext", "1: a table and <!-- end --> must follow"),
        (
            '<!-- table: SELECT code(manager) FROM "results/h200/alloc" -->\n<!-- end -->',
            "1: the column code(manager) needs a name",
        ),
        ("<!-- pivot: SELECT 1, 2 -->\n<!-- end -->", "1: a pivot needs a line, a heading and a"),
        (
            "<!-- pivot: SELECT 'rw', size_max / size_max, 1 FROM \"results/h200/alloc\" -->\n"
            "<!-- end -->",
            "1: two rows are rw, 1",
        ),
        ('<!-- values: SELECT size_max FROM "results/h200/alloc" -->', "1: values need one row"),
        ("<!-- values: SELECT NULL AS a -->", "1: a is null"),
        ("A <!-- =least -->1<!-- = -->", "1: unknown value 'least'"),
        ("<!-- values: SELECT 1 AS a -->\n<!-- =a -->1<!-- = -->", "2: =a must not begin a line"),
        ("<!-- figure: none of results/h200 -->\n![](a.png)", "1: unknown figure 'none'"),
        ("<!-- figure: none -->\n![](a.png)", "1: 'none' is not 'NAME of FOLDER'"),
        ("<!-- figure: none of results -->\ntext", "1: an image must follow"),
    ],
)
def test_a_wrong_mark_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        checkout(tmp_path, text).outdated()
    assert str(error.value).startswith(f"README.md:{message}")


def test_a_figure_is_drawn_again_when_its_rows_change(tmp_path: Path) -> None:
    text = (
        "<!-- figure: cuda-alloc-malloc-thread-1024 of results/h200 -->\n"
        "![malloc](docs/figures/malloc.png)\n"
    )
    documents = checkout(tmp_path, text)
    assert documents.outdated(write=True) == ["docs/figures/malloc.png"]
    assert (tmp_path / "docs/figures/malloc.png").read_bytes().startswith(b"\x89PNG")
    assert documents.outdated() == []
    published.file_rows(sizes("rw", malloc=9.0), tmp_path / "results")
    assert Documents(tmp_path).outdated() == ["docs/figures/malloc.png"]
    assert (tmp_path / "README.md").read_text() == text


def test_the_command_makes_pages_and_checks_them(run: Run, tmp_path: Path) -> None:
    mark = '<!-- table: SELECT max(size_max) AS most FROM "results/h200/alloc" -->\n'
    checkout(tmp_path, f"{mark}<!-- end -->\n")
    result = run("report", "--docs", ".", "--check")
    assert (result.returncode, result.stdout) == (1, "README.md: differs from the rows\n")
    result = run("report", "--docs", ".", "--json")
    assert json.loads(result.stdout) == {"schema": 1, "outdated": ["README.md"], "written": True}
    assert "| 256 |" in (tmp_path / "README.md").read_text()
    result = run("report", "--docs", ".", "--check")
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "give a folder of rows, or --docs ROOT"),
        (["--check"], "--check needs --docs ROOT"),
        (["run", "--docs", "."], "--docs reads the rows of .; leave run out"),
        (["--docs", "."], ".: no page with a table, number or figure to make"),
    ],
)
def test_arguments_that_do_not_fit(run: Run, arguments: list[str], message: str) -> None:
    result = run("report", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    "value, text", [(0.123, "0.12"), (6.84, "6.8"), (9.97, "10"), (88.6, "89"), (1523.7, "1,524")]
)
def test_numbers_of_tables(value: float, text: str) -> None:
    assert query.number(value) == text


@pytest.mark.parametrize(
    "value, text", [(2, "2.000"), (39.4884, "39.49"), (1031.7, "1032"), (123456.7, "123,457")]
)
def test_significant_digits(value: float, text: str) -> None:
    assert query.significant(value, 4) == text


@pytest.mark.parametrize(
    "call, text",
    [
        ("'%.1f', 11.35", "11.3"),  # 11.3499...; SQLite before 3.43 makes 11.4 of it
        ("'%.3f', 1.0205", "1.020"),  # 1.02049...
        ("'%,d keys', 1000000", "1,000,000 keys"),
        ("'%+.1f %%, %s', 2.25, 'x'", "+2.2 %, x"),
        ("'%g', 0.5", "0.5"),
        ("'%.1f %d %s', NULL, NULL, NULL", "0.0 0 "),
    ],
)
def test_printf_rounds_alike_with_every_sqlite(tmp_path: Path, call: str, text: str) -> None:
    assert query.connect(tmp_path).execute(f"SELECT printf({call})").fetchone() == (text,)


def test_every_decision_is_listed_and_says_why() -> None:
    folder = ROOT / "docs" / "decisions"
    pages = sorted(folder.glob("[0-9]*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((\d{4}-[^)]+)\)", index) == [page.name for page in pages]
    for page in pages:
        parts = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert parts == ["Context", "Measured", "Decision"], page.name


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^(`{3,}).*?^\1", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, part = link.partition("#")
        if link.startswith("http"):
            continue
        target = (page.parent / file) if file else page
        assert target.exists(), link
        if part:
            headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            assert part in {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
