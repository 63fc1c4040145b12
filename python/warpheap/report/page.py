# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts tables and figures into one HTML file that needs nothing from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from warpheap import __version__
from warpheap.console import steps
from warpheap.report import draw, summary
from warpheap.report.sections import Results, Section
from warpheap.report.select import Plot, plots
from warpheap.report.style import look

_SHOWN_AT_ONCE = 4  # figures of a case; the others unfold
_TEMPLATES = Path(__file__).resolve().parent


def write(results: Results, file: Path, png_folder: Path | None = None) -> int:
    """Write the report, and each figure as PNG if a folder is given; returns how many there are."""
    filled = [(section, _named(section, results)) for section in results.sections]
    count = sum(len(figures) for _, figures in filled)
    if png_folder is not None:
        png_folder.mkdir(parents=True, exist_ok=True)
    with steps("drawing", count * (2 if png_folder else 1)) as progress:
        sections = [_section(section, figures, progress) for section, figures in filled]
        if png_folder is not None:
            for _, figures in filled:
                for plot in figures:
                    draw.png(plot, png_folder)
                    progress.advance(plot.slug)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    html = environment.get_template("page.html").render(
        sections=sections,
        replaced=results.replaced,
        css=markupsafe.Markup((_TEMPLATES / "page.css").read_text(encoding="utf-8")),
        version=__version__,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    # A file name in a row may be no UTF-8.
    file.write_text(html, encoding="utf-8", errors="backslashreplace")
    return count


def _named(section: Section, results: Results) -> list[Plot]:
    """Make a section's figures, with names that no other section of the page uses."""
    figures = plots(section)
    if [other.backend for other in results.sections].count(section.backend) > 1:
        part = f"{section.device}-{section.commit}".replace(" ", "_").lower()
        figures = [replace(plot, slug=f"{plot.slug}-{part}") for plot in figures]
    return figures


def _case(name: str, facets: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Arrange the figures of a case: those of one facet together, if they are more than one each.

    Only the first groups are shown at once where there are many.
    """
    if all(len(figures) == 1 for figures in facets.values()):
        facets = {"": [figure for figures in facets.values() for figure in figures]}
    shown = 0
    groups = []
    for facet, figures in facets.items():
        groups.append({"facet": facet, "figures": figures, "shown": shown < _SHOWN_AT_ONCE})
        shown += len(figures)
    return {"name": name, "groups": groups, "count": shown, "table": None}


def _case_without_figure(name: str, section: Section) -> dict[str, Any]:
    table = summary.measured_values(section, name)
    return {"name": name, "groups": [], "count": len(table.lines), "table": table}


def _section(section: Section, figures: Sequence[Plot], progress: Any) -> dict[str, Any]:
    cases: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for index, plot in enumerate(figures):
        progress.now(plot.slug)
        entry = {"svg": markupsafe.Markup(draw.svg(plot)), "note": plot.spec.note}
        cases.setdefault(plot.spec.case, {}).setdefault(plot.subtitle, []).append(entry)
        progress.advance(f"{index} {plot.slug}")
    undrawn = [name for name in section.rows["case"].unique() if name not in cases]
    title, lines = summary.managers(section)
    rows = list(summary.every_row(section))
    return {
        "title": section.title,
        "backend": section.backend,
        "commit": section.commit,
        "facts": summary.facts(section),
        "reference": title,
        "managers": [{**line, "colour": look(line["manager"]).colour} for line in lines],
        "cases": [
            *(_case(name, facets) for name, facets in cases.items()),
            *(_case_without_figure(name, section) for name in undrawn),
        ],
        "problems": summary.problems(section),
        "rows": rows,
        "timed": any(row["first"] or row["malloc"] or row["free"] for row in rows),
    }
