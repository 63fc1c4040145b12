# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap list``: the managers and cases of the built programs."""

from pathlib import Path
from typing import List, Optional  # noqa: UP035  Typer 0.7 reads these forms

import typer
from rich.markup import escape
from rich.table import Table

from warpheap import catalog as catalogs
from warpheap.catalog import Capabilities, Catalog
from warpheap.commands import options
from warpheap.console import out, print_json
from warpheap.errors import guarded
from warpheap.units import binary


@guarded
def list_all(
    build_dir: Optional[Path] = options.build_dir(),
    backend: List[str] = options.backends(),  # noqa: UP006
    as_json: bool = options.json_output(),
) -> None:
    """List the memory managers and the benchmark cases that can be measured here."""
    found = catalogs.load_all(build_dir, backend)
    if as_json:
        print_json({"schema": 1, "backends": {c.backend: c.document for c in found}})
        return
    for catalog in found:
        out.print(f"\n[bold]{catalog.backend}[/]: {escape(_device(catalog))}", highlight=False)
        out.print(_managers(catalog))
        out.print(_cases(catalog))


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("list")(list_all)


def _device(catalog: Catalog) -> str:
    if not catalog.available:
        return f"not available here: {catalog.reason}"
    memory = catalog.device_memory_bytes
    return catalog.device + (f", {binary(memory, 'B')}" if memory else "")


def _managers(catalog: Catalog) -> Table:
    table = Table(title="managers", title_justify="left")
    for heading in ("name", "what", "claims"):
        table.add_column(heading, overflow="fold")
    for manager in catalog.managers:
        source = ", ".join(part for part in (manager.venue, str(manager.year or "")) if part)
        what = manager.description + (f" ({source})" if source else "")
        claims = _claims(manager.capabilities)
        if not manager.available:
            claims = f"not here: {manager.reason}"
        table.add_row(escape(manager.name), escape(what), escape(claims))
    return table


def _claims(claims: Capabilities) -> str:
    largest = (
        "any size"
        if claims.largest_block is None
        else (f"up to {binary(claims.largest_block, 'B')}")
    )
    return ", ".join(
        [
            largest,
            f"per {claims.scope}",
            "frees" if claims.frees else "frees nothing",
            f"reuse: {claims.reuse}",
            *(["grows"] if claims.growth else []),
        ]
    )


def _cases(catalog: Catalog) -> Table:
    table = Table(title="cases", title_justify="left")
    for heading in ("name", "what", "parameters"):
        table.add_column(heading, overflow="fold")
    for case in catalog.cases:
        parameters = [
            f"{p.name}={p.default}" + (f" {p.unit}" if p.unit else "") for p in case.parameters
        ]
        if case.modes:
            parameters.insert(0, f"mode={'|'.join(case.modes)}")
        table.add_row(escape(case.name), escape(case.about), escape(", ".join(parameters)))
    return table
