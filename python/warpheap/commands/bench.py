# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap bench``: one measurement by hand."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import typer
from rich.table import Table

from warpheap import catalog as catalogs
from warpheap import process, programs
from warpheap.catalog import Catalog
from warpheap.commands import options
from warpheap.console import out, print_json
from warpheap.errors import EXIT_FAILED, UserError, check_names, guarded, unknown
from warpheap.measure import REFUSED, Measurement, measure
from warpheap.results import succeeded
from warpheap.row_fields import Field
from warpheap.units import milliseconds

if TYPE_CHECKING:  # the graph readers load SciPy and pandas
    from warpheap.graphs.csr import Graph


@guarded
def bench(
    context: typer.Context,
    case: str = typer.Option(..., "--case", help="The case ('warpheap list' shows all)."),
    manager: str = typer.Option(..., "--manager", help="The memory manager."),
    backend: str = typer.Option(
        "", "--backend", help="cpu or cuda (default: cuda if there is a GPU)."
    ),
    graph: str = typer.Option("", "--graph", help="The graph file, for cases that read one."),
    time_limit: float = options.seconds(120.0, "--time-limit", "Time limit in seconds."),
    csr_dir: Path = typer.Option(
        Path("out/graphs"), "--csr-dir", help="Where converted graphs are kept."
    ),
    build_dir: Optional[Path] = options.build_dir(),
    as_json: bool = options.json_output(),
) -> None:
    """Measure one case of one manager.

    Every parameter of the case is a flag, as in: --threads 4096 --size 64 --mode warp.
    """
    catalog = _choose(build_dir, backend)
    catalog.case(case)
    catalog.manager(manager)
    parameters = parse_parameters(context.args, catalog.described.parameters(case))
    loaded = _graph(graph, case, csr_dir) if graph or catalog.needs_graph(case) else None
    with process.terminate_as_interrupt():
        row = measure(Measurement(catalog, case, manager, parameters, loaded), time_limit)
    if row.get("rejected_request"):
        raise UserError(row["reason"].removeprefix(REFUSED))
    if as_json:
        print_json(row)
    else:
        _show(row)
    if not succeeded({row["status"]}):
        raise typer.Exit(EXIT_FAILED)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command("bench", context_settings=settings)(bench)


def parse_parameters(words: list[str], fields: list[Field]) -> dict[str, str | int | float]:
    """Read the flags of a case: ``--name value`` or ``--name=value``, '-' or '_' in names."""
    targets: dict[str, list[Field]] = {}
    for field in fields:
        if field.kind != "graph":
            targets.setdefault(field.name, []).append(field)
            if field.alias:
                targets.setdefault(field.alias, []).append(field)
    parameters: dict[str, str | int | float] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("--"):
            raise UserError(f"expected a flag such as --threads, found '{word}'")
        flag, given, value = word[2:].partition("=")
        name = flag.replace("-", "_")
        if name not in targets:
            raise unknown("parameter", name, list(targets))
        if not given:
            value = next(rest, "")
        if not value or value.startswith("--"):
            raise UserError(f"--{flag} needs a value")
        for target in targets[name]:
            if target.choices:
                check_names(target.name, [value], target.choices)
            parameters[target.name] = _value(target, value)
    return parameters


def _graph(name: str, case: str, csr_dir: Path) -> "Graph":
    from warpheap import graphs  # noqa: PLC0415  loads SciPy and pandas

    if not name:
        known = " or ".join(file.name for file in graphs.shipped())
        raise UserError(
            f"the case '{case}' needs --graph: {known}, which ship with warpheap, or the path "
            "of a file (Matrix Market, METIS or a list of edges)"
        )
    return graphs.load(Path(name), csr_dir)


def _value(field: Field, text: str) -> str | int | float:
    """Read a number; what is not one stays as it is, for the program's message about it."""
    kinds = {"integer": (int,), "number": (int, float)}.get(field.kind, ())
    for kind in kinds if text.isascii() and "_" not in text else ():  # Python alone reads those
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _choose(build_dir: Optional[Path], backend: str) -> Catalog:
    if backend:
        check_names("backend", [backend], programs.BACKENDS)
        catalog = catalogs.load_all(build_dir, [backend])[0]
    else:
        found = catalogs.load_all(build_dir)
        usable = [catalog for catalog in found if catalog.available] or found
        catalog = max(usable, key=lambda candidate: candidate.backend == "cuda")
    if not catalog.available:
        raise UserError(f"{catalog.backend}: not available here: {catalog.reason}", EXIT_FAILED)
    return catalog


def _show(row: dict[str, Any]) -> None:
    table = Table(show_header=False, title=f"{row['case']} {row['manager']} ({row['backend']})")
    table.title_justify = "left"
    hidden = ("schema", "key", "case", "manager", "backend")
    for name, value in row.items():
        if value is None or name in hidden:
            continue
        table.add_row(name, _text(name, value))
    out.print(table)
    if row["backend"] == "cpu":
        out.print("The CPU model checks correctness; its times say nothing about a GPU.")


def _text(name: str, value: Any) -> str:
    if name.endswith("_ms") and isinstance(value, dict):
        parts = (f"{part} {milliseconds(v)}" for part, v in value.items() if v is not None)
        return ", ".join(parts)
    return str(value)
