# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables, numbers and figures of the Markdown pages, made from the published rows.

A page says what it wants in comments, which readers do not see; docs/results.md describes them:

- ``<!-- table: SELECT ... -->`` is followed by the table of the query, up to ``<!-- end -->``;
- ``<!-- pivot: SELECT ... -->`` too, but its last two columns are a heading and a cell of the line
  that the columns before them name;
- ``<!-- values: SELECT ... -->`` names numbers, one a column of the only row, that stand between
  ``<!-- =name -->`` and ``<!-- = -->`` in the text of the page;
- ``<!-- figure: NAME of FOLDER -->`` is followed by the image of that figure of the report.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from warpheap.errors import UserError, unknown
from warpheap.report import query

if TYPE_CHECKING:  # loads pandas
    from warpheap.report.select import Plot

_PAGES = ("*.md", "docs/**/*.md", "results/**/*.md")
# Examples in fenced code do not count.
_MARK = re.compile(
    r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)`*$"
    r"|<!-- (?P<kind>table|pivot|values|figure): (?P<what>.*?) -->"
    r"|<!-- =(?P<name>\w+) -->(?P<text>.*?)<!-- = -->",
    re.DOTALL | re.MULTILINE,
)
_TABLE = re.compile(r"\s*(?:\|[^\n]*\n)*\s*<!-- end -->")
_IMAGE = re.compile(r"\s*!\[[^\]]*\]\(([^)\s]+\.png)\)")
_EXPRESSION = re.compile(r"\w+\(")
_FIGURE = re.compile(r"(\S+) of (\S+)")


class Documents:
    """The pages of a checkout and the rows that they quote."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._plots: dict[str, dict[str, Plot]] = {}

    @cached_property
    def rows(self) -> sqlite3.Connection:
        """Load the rows when the first query needs them."""
        return query.connect(self.root)

    def pages(self) -> list[Path]:
        """List the pages that may have marks."""
        found = (page for pattern in _PAGES for page in self.root.glob(pattern))
        return [page for page in sorted(set(found)) if _has_marks(page.read_text("utf-8"))]

    def outdated(self, write: bool = False) -> list[str]:
        """Name the pages and figures that differ from the rows; with ``write`` make them again."""
        names = []
        for page in self.pages():
            before = page.read_text("utf-8")
            after, figures = self.render(before, page)
            for image, plot in figures.items():
                if not image.is_file() or plot.digest.encode() not in image.read_bytes():
                    names.append(self._name(image))
                    if write:
                        _draw(plot, image)
            if after != before:
                names.append(self._name(page))
                if write:
                    page.write_text(after, "utf-8")
        return names

    def render(self, text: str, page: Path) -> tuple[str, dict[Path, Plot]]:
        """Make a page again: its text, and its figures by file.

        Raises UserError with FILE:LINE for a mark that is wrong or a query that fails.
        """
        parts: list[str] = []
        figures: dict[Path, Plot] = {}
        values: dict[str, str] = {}
        end = 0
        for mark in _MARK.finditer(text):
            if mark.start() < end:
                continue
            where = f"{self._name(page)}:{text.count(chr(10), 0, mark.start()) + 1}"
            parts.append(text[end : mark.start()])
            end = mark.end()
            kind, what = mark["kind"], mark["what"]
            if mark["fence"]:
                parts.append(mark[0])
                continue
            if kind is None:
                parts.append(_span(mark, text, values, where))
                continue
            parts.append(mark[0])
            if kind == "values":
                values |= self._values(what, where)
            elif kind == "figure":
                image = _following(_IMAGE, text, end, "an image", where)
                figures[(page.parent / image[1]).resolve()] = self._plot(what, where)
            else:
                block = _following(_TABLE, text, end, "a table and <!-- end -->", where)
                make = _pivot if kind == "pivot" else _plain
                lines = self._lines(what, make, where)
                parts.append(f"\n\n{lines}\n\n<!-- end -->")
                end = block.end()
        parts.append(text[end:])
        return "".join(parts), figures

    def _name(self, file: Path) -> str:
        return str(file.relative_to(self.root) if file.is_relative_to(self.root) else file)

    def _select(self, what: str, where: str) -> tuple[list[str], list[tuple[object, ...]]]:
        try:
            cursor = self.rows.execute(what)
            found = cursor.fetchall()
        except sqlite3.Error as error:
            raise UserError(f"{where}: {error}") from error
        if not found:
            raise UserError(f"{where}: the query found no row")
        return [column[0] for column in cursor.description], found

    def _values(self, what: str, where: str) -> dict[str, str]:
        names, found = self._select(what, where)
        if len(found) > 1:
            raise UserError(f"{where}: values need one row, the query found {len(found)}")
        for name, value in zip(names, found[0], strict=True):
            if value is None:
                raise UserError(f"{where}: {name} is null")
        return {name: str(value) for name, value in zip(names, found[0], strict=True)}

    def _lines(self, what: str, make: _Maker, where: str) -> str:
        try:
            heading, *lines = make(*self._select(what, where))
        except ValueError as error:
            raise UserError(f"{where}: {error}") from error
        for name in heading:
            if _EXPRESSION.match(str(name)):
                raise UserError(f"{where}: the column {name} needs a name: write AS")
        table = [heading, ["---"] * len(heading), *lines]
        return "\n".join("|".join(["", *map(_cell, line), ""]) for line in table)

    def _plot(self, what: str, where: str) -> Plot:
        from warpheap.report import sections, select  # noqa: PLC0415  loads pandas

        wanted = _FIGURE.fullmatch(what)
        if not wanted:
            raise UserError(f"{where}: '{what}' is not 'NAME of FOLDER'")
        name, folder = wanted.groups()
        if folder not in self._plots:
            loaded = sections.load([self.root / folder]).sections
            drawn = (plot for section in loaded for plot in select.plots(section))
            self._plots[folder] = {plot.slug: plot for plot in drawn}
        if name not in self._plots[folder]:
            raise UserError(f"{where}: {unknown('figure', name, self._plots[folder])}")
        return self._plots[folder][name]


def _has_marks(text: str) -> bool:
    return any(not mark["fence"] for mark in _MARK.finditer(text))


_Maker = Callable[[list[str], list[tuple[object, ...]]], Iterator[Sequence[object]]]


def _plain(names: list[str], rows: list[tuple[object, ...]]) -> Iterator[Sequence[object]]:
    yield names
    yield from rows


def _pivot(names: list[str], rows: list[tuple[object, ...]]) -> Iterator[Sequence[object]]:
    """Make the last two columns of a query a heading and a cell of the line before them."""
    if len(names) < 3:
        raise ValueError(f"a pivot needs a line, a heading and a cell, not {len(names)} columns")
    headings = list(dict.fromkeys(row[-2] for row in rows))
    lines: dict[tuple[object, ...], dict[object, object]] = {}
    for *line, heading, cell in rows:
        cells = lines.setdefault(tuple(line), {})
        if heading in cells:
            raise ValueError(f"two rows are {_cell(line[0]).strip()}, {heading}")
        cells[heading] = cell
    yield [*names[:-2], *headings]
    for line_names, cells in lines.items():
        yield [*line_names, *(cells.get(heading) for heading in headings)]


def _cell(value: object) -> str:
    return f" {value} " if value not in (None, "") and value != "---" else str(value or " ")


def _span(mark: re.Match[str], text: str, values: dict[str, str], where: str) -> str:
    if text[: mark.start()].endswith("\n"):
        # A comment that begins a line ends the paragraph before it.
        raise UserError(f"{where}: ={mark['name']} must not begin a line")
    if mark["name"] not in values:
        raise UserError(f"{where}: {unknown('value', mark['name'], values)}")
    return f"<!-- ={mark['name']} -->{values[mark['name']]}<!-- = -->"


def _following(
    pattern: re.Pattern[str], text: str, start: int, what: str, where: str
) -> re.Match[str]:
    found = pattern.match(text, start)
    if not found:
        raise UserError(f"{where}: {what} must follow")
    return found


def _draw(plot: Plot, image: Path) -> None:
    from warpheap.report import draw  # noqa: PLC0415  loads Matplotlib

    image.parent.mkdir(parents=True, exist_ok=True)
    draw.save(plot, image)
