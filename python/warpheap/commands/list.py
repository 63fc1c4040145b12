# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap list``: the managers and cases of the built programs."""

import sys
from pathlib import Path
from typing import Any, List, Mapping, Optional  # noqa: UP035  Typer 0.7 reads these forms

import typer
from rich.table import Table
from rich.text import Text

from warpheap import catalog as catalogs
from warpheap.catalog import Catalog, Manager
from warpheap.commands import options
from warpheap.console import out, print_json
from warpheap.errors import guarded
from warpheap.row_fields import FILE_NAME
from warpheap.units import binary


@guarded
def list_all(
    build_dir: Optional[Path] = options.build_dir(),
    backend: List[str] = options.backends(),  # noqa: UP006
    as_json: bool = options.json_output(),
    fields: bool = typer.Option(
        False, "--fields", help=f"Print what the fields of rows mean, as {FILE_NAME} has it."
    ),
) -> None:
    """List the memory managers and the benchmark cases that can be measured here."""
    found = catalogs.load_all(build_dir, backend)
    if fields:
        sys.stdout.write(catalogs.described(found).text())
        return
    if as_json:
        print_json({"schema": 1, "backends": {c.backend: c.document for c in found}})
        return
    for catalog in found:
        out.print(Text.assemble("\n", (catalog.backend, "bold"), ": ", _device(catalog)))
        out.print(_managers(catalog))
        out.print(_publications(catalog))
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
        available = manager.available
        claims = _claims(manager.claims) if available else f"not here: {manager.reason}"
        table.add_row(manager.name, what, claims)
    return table


def _publications(catalog: Catalog) -> Table:
    table = Table(title="publications", title_justify="left", show_lines=True)
    for heading in ("managers", "published as", "departures from that"):
        table.add_column(heading, overflow="fold")
    members: dict[str, list[Manager]] = {}
    for manager in catalog.managers:
        if manager.title:
            members.setdefault(_citation(manager), []).append(manager)
    for citation, family in members.items():
        whose: dict[str, list[str]] = {}
        for manager in family:
            for deviation in manager.deviations:
                whose.setdefault(deviation, []).append(manager.name)
        departures = [
            deviation if len(names) == len(family) else f"{deviation} ({', '.join(names)})"
            for deviation, names in whose.items()
        ]
        names = "\n".join(manager.name for manager in family)
        table.add_row(names, citation, "\n".join(f"- {each}" for each in departures))
    return table


def _citation(manager: Manager) -> str:
    parts = (manager.venue, str(manager.year or ""), f"DOI {manager.doi}" if manager.doi else "")
    return ", ".join([f'{manager.authors}: "{manager.title}"', *filter(None, parts)])


def _claims(claims: Mapping[str, Any]) -> str:
    """Say what a manager claims."""
    texts = []
    for name, value in claims.items():
        what = name.replace("_", " ")
        if name == "largest_block":
            texts.append(f"up to {binary(value, 'B')}" if value else "any size")
        elif isinstance(value, bool):
            texts += [what] if value else []
        else:
            texts.append(f"{what}: {value}")
    return ", ".join(texts)


def _cases(catalog: Catalog) -> Table:
    table = Table(title="cases", title_justify="left")
    for heading in ("name", "what", "parameters"):
        table.add_column(heading, overflow="fold")
    fields = catalog.described.fields
    for case in catalog.described.cases.values():
        parameters = []
        for name, default in case.parameters.items():
            known = fields[name]
            value = "|".join(known.choices) or (
                "FILE" if known.kind == "graph" else known.text(default)
            )
            parameters.append(f"{name}={value}")
        table.add_row(case.name, case.about, ", ".join(parameters))
    return table
