# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap report``: draw the rows of surveys."""

from pathlib import Path
from typing import List, Optional  # noqa: UP035

import typer
from rich.markup import escape

from warpheap.commands import options
from warpheap.console import out, print_json
from warpheap.errors import guarded


@guarded
def report(
    places: List[Path] = typer.Argument(  # noqa: UP006
        ..., metavar="DIR...", help="Folders (or files) of rows, as 'warpheap survey' writes them."
    ),
    output: Optional[Path] = typer.Option(
        None, "--output", "-o", help="The page (default: report.html in the first folder)."
    ),
    png: Optional[Path] = typer.Option(None, "--png", help="Write each figure as PNG there, too."),
    by_commit: bool = typer.Option(
        False, "--by-commit", help="Give each commit's rows sections of their own."
    ),
    as_json: bool = options.json_output(),
) -> None:
    """Draw the figures and tables of one or more surveys into one self-contained HTML file.

    Of a measurement that was repeated only the newest row is shown.
    """
    from warpheap.report import page, table  # noqa: PLC0415  loads Matplotlib and pandas

    first = places[0]
    file = output or (first if first.is_dir() else first.parent) / "report.html"
    figures = page.write(table.load(places, by_commit), file, png)
    if as_json:
        folder = str(png) if png else None
        print_json({"schema": 1, "report": str(file), "figures": figures, "png": folder})
        return
    out.print(f"{figures} figures: {escape(str(file))}", highlight=False, soft_wrap=True)
    if png:
        out.print(f"PNG files: {escape(str(png))}", highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("report")(report)
