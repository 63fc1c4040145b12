# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``warpheap replay``: an allocation trace on pools of device memory."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import typer
from rich import box
from rich.table import Table

from warpheap import native, programs
from warpheap.commands import options
from warpheap.console import err, out, print_json, steps
from warpheap.errors import EXIT_FAILED, UserError, guarded, unknown
from warpheap.results import succeeded
from warpheap.units import binary, milliseconds

if TYPE_CHECKING:
    from warpheap.traces.trace import Trace

_TRACE = "A log in RMM's format (.csv, .gz, .xz), or malloc-large, or malloc-large-log."
_PLOTS = (".png", ".svg", ".pdf")
# A trace is held in memory whole, with some ten numbers for each call.
_MOST_EVENTS = 100_000_000


@guarded
def replay(
    trace: str = typer.Argument(..., help=_TRACE),
    resource: list[str] = typer.Option(
        ["tlsf"],
        "--resource",
        help="A pool, POLICY or POLICY_in_N_parts, or a peer; may be repeated. 'list' names them.",
    ),
    upstream: str = typer.Option("", "--upstream", help="Where the pools get their memory."),
    device: int = options.number(0, "--device", "The CUDA device.", 0),
    initial_bytes: Optional[int] = options.number(
        None,
        "--initial-bytes",
        "Bytes taken at the start (default: twice the peak, for each part).",
        0,
        native.LARGEST_SIZE,
    ),
    limit_bytes: int = options.number(
        0, "--limit-bytes", "The most bytes to take; 0: no limit.", 0, native.LARGEST_SIZE
    ),
    repeats: int = options.number(3, "--repeats", "Number of replays; the fastest one counts.", 1),
    smallest: bool = typer.Option(
        False, "--smallest", help="Find the smallest pool that suffices."
    ),
    threads: int = options.number(0, "--threads", "Also replay in this many threads.", 0),
    slots: int = options.number(
        1000, "--live", "Number of slots of malloc-large.", 1, _MOST_EVENTS
    ),
    events: int = options.number(
        100_000, "--events", "Number of calls of malloc-large.", 10, _MOST_EVENTS
    ),
    seed: int = options.number(1, "--seed", "Seed of malloc-large.", 0),
    plot: Optional[Path] = typer.Option(
        None, "--plot", help="Draw the trace to this .png, .svg or .pdf file."
    ),
    results: Optional[Path] = typer.Option(None, "--out", help="Append the rows to this file."),
    write_trace: Optional[Path] = typer.Option(
        None, "--write-trace", help="Write the trace in RMM's log format."
    ),
    as_json: bool = options.json_output(),
) -> None:
    """Replay an allocation trace and compare resources: latencies, memory, fragmentation.

    A resource that is not available becomes a skipped row that gives the reason.
    """
    # They load NumPy, Matplotlib and the pools.
    from warpheap.traces import resources, rmm_log  # noqa: PLC0415
    from warpheap.traces.replay import Request, measure, start_bytes, timeline  # noqa: PLC0415

    if plot is not None and plot.suffix.lower() not in _PLOTS:
        raise UserError(f"{plot}: a figure's name ends in {', '.join(_PLOTS)}")
    try:
        resources.check(resource)
        memory = resources.upstream(upstream)
        library = native.path()
    except native.LibraryMissing as error:
        raise UserError(str(error), EXIT_FAILED) from error
    loaded = _load(trace, slots, events, seed)
    if write_trace is not None:
        rmm_log.write(loaded, write_trace)
    stamp = {
        "seed": seed if trace != loaded.name and not Path(trace).exists() else None,
        "commit": programs.revision(library),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    rows: list[dict[str, Any]] = []
    timelines: dict[str, Any] = {}
    resource = list(dict.fromkeys(resource))
    with steps("replay", len(resource)) as progress:
        for name in resource:
            progress.now(name)
            where = resources.Resource(name, memory, device)
            start = (
                start_bytes(loaded, name, limit_bytes) if initial_bytes is None else initial_bytes
            )
            size = resources.Size(start, limit_bytes)
            row = measure(loaded, where, Request(size, repeats, smallest, threads)) | stamp
            rows.append(row)
            if results is not None:
                results.parent.mkdir(parents=True, exist_ok=True)
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
            if plot is not None and where.is_ours and row["status"] == "ok":
                timelines[name] = timeline(loaded, where, size)
            progress.advance(name)
    if plot is not None:
        from warpheap.traces.draw import draw  # noqa: PLC0415

        draw(rows, timelines, plot)
    if as_json:
        for row in rows:
            print_json(row)
    else:
        _show(loaded, rows)
        if plot is not None:
            out.print(f"figure: {plot}", soft_wrap=True)
    if not succeeded({row["status"] for row in rows}):
        raise typer.Exit(EXIT_FAILED)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("replay")(replay)


def _load(name: str, slots: int, events: int, seed: int) -> Trace:
    from warpheap.traces import rmm_log, synthetic  # noqa: PLC0415

    if name in synthetic.RECIPES:
        return synthetic.make(name, slots, events, seed)
    path = Path(name)
    if not path.exists() and "." not in name and "/" not in name:
        raise unknown("trace", name, synthetic.RECIPES)
    loaded = rmm_log.read(path)
    if loaded.unmatched_frees:
        err.print(
            f"{name}: ignored {loaded.unmatched_frees} frees of memory that it did not allocate",
            soft_wrap=True,
        )
    return loaded


def _show(trace: Trace, rows: list[dict[str, Any]]) -> None:
    peak = binary(trace.peak_bytes(), "B")
    table = Table(
        title=f"{trace.name}: {trace.events:,} calls, peak {peak}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    columns = ("resource", "malloc", "p99.9", "free", "p99.9", "mean", "span", "held")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        if "malloc_ns" not in row:
            continue
        cells = [
            _ns(row[kind], part) for kind in ("malloc_ns", "free_ns") for part in ("p50", "p99.9")
        ]
        held = row.get("smallest_pool_bytes", row["reserved_bytes"])
        table.add_row(
            row["manager"],
            *cells,
            _ns({"mean": row["call_ns"]}, "mean"),
            "-" if row["span_over_peak"] is None else f"{row['span_over_peak']:.3f}",
            "-" if held is None else binary(held, "B"),
        )
    if table.rows:
        out.print(table)
        out.print("malloc and free: medians; span: addresses over the peak; held: memory taken")
    for row in rows:
        if row["reason"]:
            reason = f"{row['manager']}: {row['status']}: {row['reason']}"
            out.print(reason, soft_wrap=True)
        if "calls_per_second" in row:
            rate = row["calls_per_second"] / 1e6
            out.print(f"{row['manager']}: {row['threads']} threads, {rate:.2f} M calls per second")


def _ns(summary: dict[str, float] | None, part: str) -> str:
    return "-" if summary is None else milliseconds(summary[part] / 1e6)
