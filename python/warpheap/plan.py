# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns the survey's table into the list of measurements for the programs that are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warpheap.catalog import Case, Catalog, Manager
from warpheap.errors import check_names
from warpheap.measure import Measurement
from warpheap.plan_cases import CASES, FILLING, GIB, MIB, CasePlan, Parameters, Scale
from warpheap.units import binary

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
_WARP = 32
_HEAP_SHARE = 0.8  # of the device's memory; the rest is for pointers, results and the driver


def make(
    catalogs: Sequence[Catalog],
    level: str,
    graphs: Sequence[Graph] = (),
    managers: Sequence[str] = (),
    cases: Sequence[str] = (),
) -> list[Measurement]:
    """Plan a survey over every manager and case of the catalogs, or over the named ones.

    What a manager does not claim is in the plan with the reason for which it will be skipped.
    Raises UserError for a name that no catalog has.
    """
    check_names("level", [level], LEVELS)
    check_names("manager", managers, dict.fromkeys(m.name for c in catalogs for m in c.managers))
    check_names("case", cases, dict.fromkeys(k.name for c in catalogs for k in c.cases))
    plan: list[Measurement] = []
    for catalog in catalogs:
        chosen = [m for m in catalog.managers if not managers or m.name in managers]
        scale = Scale(level, catalog.backend, heap_bytes(level, catalog))
        for case in catalog.cases:
            if not cases or case.name in cases:
                plan += _measurements(catalog, case, chosen, scale, graphs)
    return plan


def needs_graphs(catalogs: Sequence[Catalog], cases: Sequence[str] = ()) -> bool:
    """Tell whether a survey has a case that reads graphs."""
    wanted = {k.name for c in catalogs for k in c.cases if not cases or k.name in cases}
    return any(entry.graphs and entry.case in wanted for entry in CASES)


def heap_bytes(level: str, catalog: Catalog) -> int:
    """Choose the heap: the level's size, or the largest power of two that the device has room for.

    A program that cannot tell its device's memory (0) gets the level's size.
    """
    wanted = _HEAP_BYTES[level, catalog.backend]
    room = int(catalog.device_memory_bytes * _HEAP_SHARE)
    while room and wanted > room and wanted > MIB:
        wanted //= 2
    return wanted


def _measurements(
    catalog: Catalog,
    case: Case,
    managers: Sequence[Manager],
    scale: Scale,
    graphs: Sequence[Graph],
) -> Iterator[Measurement]:
    entry = next((entry for entry in CASES if entry.case == case.name), None) or _by_default(case)
    inputs: Sequence[Graph | None] = graphs if entry.graphs else [None]
    for parameters in entry.points(scale):
        for graph in inputs:
            for manager in managers:
                skip = unclaimed(entry, case, manager, parameters)
                yield Measurement(catalog, case.name, manager.name, parameters, graph, skip)


def _by_default(case: Case) -> CasePlan:
    """Plan a case that the table does not know: once, with the program's own defaults."""
    values: Parameters = {p.name: p.default for p in case.parameters if p.default is not None}
    # Without a mode to choose, the default values say it all.
    modes: tuple[Any, ...] = case.modes if "mode" in values else (None,)

    def points(_: Scale) -> Iterator[Parameters]:
        for mode in modes:
            yield {**values, "mode": mode} if mode else dict(values)

    return CasePlan(case.name, points, any_scope=True)


def unclaimed(entry: CasePlan, case: Case, manager: Manager, parameters: Parameters) -> str | None:
    """Say why a manager is not measured with these parameters, or give None if it claims them."""
    claims = manager.capabilities
    one_a_warp = parameters.get("mode") == "warp"
    if not manager.available:
        return manager.reason or "not available on this backend"
    if entry.pages and not claims.numbered_pages:
        return "does not hand out numbered pages"
    if claims.scope == "object" and not entry.any_scope:
        return "hands out objects of fixed types; the case asks for bytes"
    if claims.scope == "warp" and not entry.any_scope and not one_a_warp:
        return "serves warps; in this case every thread allocates by itself"
    if not claims.frees and (case.needs_frees or float(parameters.get("free_percent", 100)) < 100):
        return "cannot free single blocks"
    size = int(parameters.get("size_max", 0))
    if claims.largest_block is not None and size > claims.largest_block:
        return f"its largest block is {binary(claims.largest_block, 'B')}"
    heap = int(parameters.get("heap_bytes", 0))
    blocks = int(parameters.get("threads", 0)) // (_WARP if one_a_warp else 1)
    if case.name not in FILLING and heap and blocks * size > heap:
        return f"needs {binary(blocks * size, 'B')}, the heap has {binary(heap, 'B')}"
    return None
