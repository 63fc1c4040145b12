# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap survey``: measure everything that is available, and draw the report."""

from pathlib import Path
from typing import Any, List, Optional  # noqa: UP035

import typer
from rich.table import Table
from rich.text import Text

from warpheap import catalog as catalogs
from warpheap import plan as plans
from warpheap import results
from warpheap import survey as surveys
from warpheap.catalog import Catalog
from warpheap.commands import options
from warpheap.console import err, out, print_json
from warpheap.errors import EXIT_FAILED, UserError, guarded
from warpheap.measure import Measurement


@guarded
def survey(
    quick: bool = typer.Option(False, "--quick", help="A small plan that takes minutes (default)."),
    full: bool = typer.Option(False, "--full", help="The papers' sizes and thread counts."),
    backend: List[str] = options.backends(),  # noqa: UP006
    manager: List[str] = typer.Option([], "--manager", help="Only this manager; may be repeated."),  # noqa: UP006
    case: List[str] = typer.Option([], "--case", help="Only this case; may be repeated."),  # noqa: UP006
    graph: List[str] = typer.Option(  # noqa: UP006
        [], "--graph", help="Another graph file besides the shipped ones; may be repeated."
    ),
    time_limit: Optional[float] = options.seconds(
        None, "--time-limit", "Seconds per measurement (quick 30, full 120)."
    ),
    out_dir: Path = typer.Option(
        Path("out/survey"), "--out", help="Folder for the rows and the report."
    ),
    retry: bool = typer.Option(
        False, "--retry", help="Repeat measurements that timed out or crashed."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show the plan without measuring."),
    build_dir: Optional[Path] = options.build_dir(),
    as_json: bool = options.json_output(),
) -> None:
    """Measure every manager in every case, one process each, and write the report.

    Interrupted surveys go on where they stopped when the same command is given again.
    """
    if quick and full:
        raise UserError("--quick and --full exclude each other")
    level = "full" if full else "quick"
    found = catalogs.load_all(build_dir, backend)
    available = _available(found)
    plans.make(available, level, (), manager, case)  # refuses unknown names before graphs are read
    graphs = _graphs(graph, out_dir) if plans.needs_graphs(available, case) else []
    plan = plans.make(available, level, graphs, manager, case)
    if not plan:
        raise UserError("no program that can measure here has both this manager and this case")
    if dry_run:
        _show_plan(plan, as_json)
        return
    with results.Store(out_dir) as store:
        catalogs.described(available).write(out_dir)
        done = surveys.run(plan, store, time_limit or plans.TIME_LIMIT_S[level], retry)
    report = out_dir / "report.html"
    from warpheap.report import page, sections  # noqa: PLC0415  loads Matplotlib and pandas

    page.write(sections.load([out_dir]), report)
    if as_json:
        counts = dict(done.statuses())
        files = {"results": str(store.path), "report": str(report)}
        print_json({"schema": 1, "rows": counts, "measured": done.measured, **files})
    else:
        out.print(_summary(done))
        out.print(f"rows:   {store.path}", soft_wrap=True)
        out.print(f"report: {report}", soft_wrap=True)
    if set(done.statuses()) == {"skipped"}:
        message = f"nothing was measured: all {len(done.rows)} rows are skipped"
        raise UserError(f"{message}; {report} has the reasons", EXIT_FAILED)
    if not results.succeeded(done.statuses()):
        raise typer.Exit(EXIT_FAILED)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("survey")(survey)


def _available(found: list[Catalog]) -> list[Catalog]:
    usable = [catalog for catalog in found if catalog.available]
    for catalog in found:
        if not catalog.available:
            message = f"{catalog.backend} is left out: {catalog.reason}"
            err.print(message, soft_wrap=True)
    if not usable:
        raise UserError("no backend can be measured here", EXIT_FAILED)
    return usable


def _graphs(files: list[str], out_dir: Path) -> list[Any]:
    from warpheap import graphs  # noqa: PLC0415  loads SciPy and pandas

    known: dict[tuple[str, str], Any] = {}
    for path in [*graphs.shipped(), *(Path(file) for file in files)]:
        graph = graphs.load(path, out_dir / "graphs", "--out")
        if known.setdefault((graph.name, graph.digest), graph) is not graph:
            message = f"graph {path} has the content of {graph.name}, and is measured once"
            err.print(message, soft_wrap=True)
    return list(known.values())


def _show_plan(plan: list[Measurement], as_json: bool) -> None:
    for wanted in plan:
        if as_json:
            print_json({"command": wanted.command()})
        else:
            out.print(wanted.command(), soft_wrap=True)
    if not as_json:
        out.print(f"{len(plan)} measurements")


def _summary(done: surveys.Done) -> Table:
    table = Table(title="rows of this survey", title_justify="left")
    for heading in ("backend", "manager"):
        table.add_column(heading)
    for status in results.STATUSES:
        table.add_column(status, justify="right")
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for row in done.rows:
        line = counts.setdefault(
            (row["backend"], row["manager"]), dict.fromkeys(results.STATUSES, 0)
        )
        line[row["status"]] += 1
    for (backend, manager), line in counts.items():
        cells = (
            Text(str(count or ""), style="" if status in results.GOOD else "bold red")
            for status, count in line.items()
        )
        table.add_row(backend, manager, *cells)
    return table
