# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap report``: draw the rows of surveys."""

from pathlib import Path
from typing import List, Optional  # noqa: UP035

import typer

from warpheap.commands import options
from warpheap.console import out, print_json
from warpheap.errors import EXIT_FAILED, UserError, guarded


@guarded
def report(
    places: Optional[List[Path]] = typer.Argument(  # noqa: UP006
        None, metavar="DIR...", help="Folders (or files) of rows, as 'warpheap survey' writes them."
    ),
    output: Optional[Path] = typer.Option(
        None, "--output", "-o", help="The page (default: report.html in the first folder)."
    ),
    png: Optional[Path] = typer.Option(
        None, "--png", help="Also write each figure as PNG to this folder."
    ),
    by_commit: bool = typer.Option(
        False, "--by-commit", help="Give the rows of each commit their own sections."
    ),
    docs: Optional[Path] = typer.Option(
        None, "--docs", metavar="ROOT", help="Make the tables and figures of a checkout's pages."
    ),
    check: bool = typer.Option(
        False, "--check", help="With --docs: change nothing, exit with 1 if a page is outdated."
    ),
    as_json: bool = options.json_output(),
) -> None:
    """Draw the figures and tables of one or more surveys into one self-contained HTML file.

    A measurement that was repeated is shown by its newest row alone. With --docs, the tables,
    numbers and figures of a checkout's pages are made again from its published rows instead.
    """
    if docs is not None:
        if places:
            raise UserError(f"--docs reads the rows of {docs}; leave {places[0]} out")
        _make_docs(docs, check, as_json)
        return
    if check:
        raise UserError("--check needs --docs ROOT")
    if not places:
        raise UserError("give a folder of rows, or --docs ROOT")
    from warpheap.report import page, sections  # noqa: PLC0415  loads Matplotlib and pandas

    first = places[0]
    file = output or (first if first.is_dir() else first.parent) / "report.html"
    figures = page.write(sections.load(places, by_commit), file, png)
    if as_json:
        folder = str(png) if png else None
        print_json({"schema": 1, "report": str(file), "figures": figures, "png": folder})
        return
    out.print(f"{figures} figures: {file}", soft_wrap=True)
    if png:
        out.print(f"PNG files: {png}", soft_wrap=True)


def _make_docs(root: Path, check: bool, as_json: bool) -> None:
    from warpheap.report.docs import Documents  # noqa: PLC0415  loads the rows

    documents = Documents(root.resolve())
    if not documents.pages():
        raise UserError(f"{root}: no page with a table, number or figure to make")
    outdated = documents.outdated(write=not check)
    if as_json:
        print_json({"schema": 1, "outdated": outdated, "written": not check})
    for name in outdated if not as_json else ():
        text = f"{name}: {'differs from the rows' if check else 'made again'}"
        out.print(text, soft_wrap=True)
    if check and outdated:
        raise typer.Exit(EXIT_FAILED)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("report")(report)
