# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap publish``: file measured rows in the tree of published results."""

from pathlib import Path
from typing import List  # noqa: UP035

import typer

from warpheap import published, results, row_fields
from warpheap.console import out
from warpheap.errors import UserError, guarded
from warpheap.row_fields import Description


@guarded
def publish(
    places: List[Path] = typer.Argument(  # noqa: UP006
        ..., metavar="DIR...", help="Folders (or files) of rows, as 'warpheap survey' writes them."
    ),
    into: Path = typer.Option(Path("results"), "--into", help="The tree of published rows."),
) -> None:
    """File rows as DEVICE/CASE/MANAGER.jsonl; the newest row of a measurement replaces the others.

    The description of the rows' fields is merged into the tree's. A row that has been replaced is
    still in the history of the repository.
    """
    from warpheap.traces import replay  # noqa: PLC0415  loads NumPy

    files = results.find_files(places)
    rows = [row for file in files for row in results.read(file)]
    if not rows:
        raise UserError(f"no rows in {', '.join(str(place) for place in places)}")
    described = Description()
    for file in files:
        described = described.merged(row_fields.describe(file))
    if any(row["case"] == replay.CASE for row in rows):
        described = described.merged(replay.DESCRIBED)
    for file, count in published.file_rows(rows, into, described).items():
        text = f"{file}: {count} row{'' if count == 1 else 's'}"
        out.print(text, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("publish")(publish)
