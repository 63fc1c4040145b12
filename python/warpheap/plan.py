# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns the survey's table into the list of measurements for the programs that are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from warpheap.catalog import Catalog, Manager
from warpheap.errors import check_names
from warpheap.measure import Measurement
from warpheap.plan_points import CASES, GIB, MIB, Parameters, Scale

if TYPE_CHECKING:  # the graph readers load SciPy and pandas
    from warpheap.graphs.csr import Graph

LEVELS = ("quick", "full")
TIME_LIMIT_S: Mapping[str, float] = {"quick": 30.0, "full": 120.0}
_HEAP_BYTES = {
    ("quick", "cpu"): 256 * MIB,
    ("quick", "cuda"): 4 * GIB,
    ("full", "cpu"): GIB,
    ("full", "cuda"): 16 * GIB,
}
_HEAP_SHARE = 0.8  # of the device's memory; the rest is for pointers, results and the driver


def make(
    catalogs: Sequence[Catalog],
    level: str,
    graphs: Sequence[Graph] = (),
    managers: Sequence[str] = (),
    cases: Sequence[str] = (),
) -> list[Measurement]:
    """Plan a survey over every manager and case of the catalogs, or over the named ones.

    What a manager does not claim is in the plan, too: the program says why it skips it. Raises
    UserError for a name that no catalog has.
    """
    check_names("level", [level], LEVELS)
    check_names("manager", managers, dict.fromkeys(m.name for c in catalogs for m in c.managers))
    check_names("case", cases, dict.fromkeys(name for c in catalogs for name in c.described.cases))
    plan: list[Measurement] = []
    for catalog in catalogs:
        chosen = [m for m in catalog.managers if not managers or m.name in managers]
        scale = Scale(level, catalog.backend, heap_bytes(level, catalog))
        for case in catalog.described.cases:
            if not cases or case in cases:
                plan += _measurements(catalog, case, chosen, scale, graphs)
    return plan


def needs_graphs(catalogs: Sequence[Catalog], cases: Sequence[str] = ()) -> bool:
    """Tell whether a survey has a case that reads graphs."""
    return any(
        catalog.needs_graph(case)
        for catalog in catalogs
        for case in catalog.described.cases
        if not cases or case in cases
    )


def heap_bytes(level: str, catalog: Catalog) -> int:
    """Choose the heap: the level's size, or the largest power of two for which the device has room.

    A program that cannot tell its device's memory (0) gets the level's size.
    """
    wanted = _HEAP_BYTES[level, catalog.backend]
    room = int(catalog.device_memory_bytes * _HEAP_SHARE)
    while room and wanted > room and wanted > MIB:
        wanted //= 2
    return wanted


def _measurements(
    catalog: Catalog,
    case: str,
    managers: Sequence[Manager],
    scale: Scale,
    graphs: Sequence[Graph],
) -> Iterator[Measurement]:
    inputs: Sequence[Graph | None] = graphs if catalog.needs_graph(case) else [None]
    for parameters in _points(catalog, case, scale):
        for graph in inputs:
            for manager in managers:
                yield Measurement(catalog, case, manager.name, parameters, graph)


def _points(catalog: Catalog, case: str, scale: Scale) -> Iterator[Parameters]:
    """Return what a case is measured with: as the survey's table says, or by its own defaults."""
    entry = next((entry for entry in CASES if entry.case == case), None)
    if entry is not None:
        yield from entry.points(scale)
        return
    defaults = catalog.described.cases[case].parameters
    yield {name: value for name, value in defaults.items() if value is not None}
