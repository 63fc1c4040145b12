# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan: what is measured, what is skipped and why, and how an unknown case is treated."""

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from warpheap import catalog, plan, row_fields
from warpheap.catalog import Catalog, Manager
from warpheap.errors import UserError
from warpheap.graphs.csr import Graph
from warpheap.plan_points import CASES, CasePlan, Parameters, Scale
from warpheap.row_fields import CaseFields, Description, Field

GIB = 1 << 30
ROOT = Path(__file__).resolve().parents[2]
SHORT_PLAN = ROOT / "bench/workloads/gpu_rows.py"


FIELDS = (Field("graph", kind="graph", role="axis"), Field("rounds", role="axis"), Field("mode"))


def manager(name: str) -> Manager:
    return Manager(name, True, None)


def programs(
    *managers: Manager, backend: str = "cpu", memory: int = 0, cases: list[CaseFields] | None = None
) -> Catalog:
    offered = cases or [
        CaseFields(e.case, parameters={"graph": None} if e.case == "graph_init" else {})
        for e in CASES
    ]
    described = Description({f.name: f for f in FIELDS}, {case.name: case for case in offered})
    known = (Path("bench"), backend, "a device", memory, None, None, True, None)
    return Catalog(*known, tuple(managers), described, {})


def points_of_all_levels(entry: CasePlan) -> Iterator[Parameters]:
    for level in plan.LEVELS:
        for backend in ("cpu", "cuda"):
            yield from entry.points(Scale(level, backend, GIB))


GRAPHS = [Graph(name, f"{name}.mtx", "00", 4, 3, Path(f"{name}.csr")) for name in ("a", "b")]


def test_every_manager_is_in_every_case_and_point() -> None:
    managers = [manager("any"), manager("page"), manager("w")]
    made = plan.make([programs(*managers)], "quick", GRAPHS)
    points = {
        name: {
            (m.case, str(m.parameters), m.graph and m.graph.name) for m in made if m.manager == name
        }
        for name in ("any", "page", "w")
    }
    assert points["any"] == points["page"] == points["w"]
    assert len({wanted.key() for wanted in made}) == len(made)


def test_quick_plan_is_small_and_full_has_the_papers_range() -> None:
    quick = plan.make([programs(manager("any"))], "quick", GRAPHS)
    assert len(quick) < 60
    full = plan.make([programs(manager("any"), backend="cuda", memory=139 * GIB)], "full", GRAPHS)
    alloc = [wanted.parameters for wanted in full if wanted.case == "alloc"]
    halves = [p for p in alloc if "free_percent" in p]
    assert [(p["threads"], p["size_max"]) for p in halves] == [(1 << 20, 256)]
    alloc = [p for p in alloc if "free_percent" not in p]
    mixed = [p for p in alloc if p["size_min"] < p["size_max"]]
    assert {p["distribution"] for p in mixed} == {"powers", "uniform"}
    assert {p["size_max"] for p in alloc} == {1 << k for k in range(4, 14)}
    assert {p["mode"] for p in alloc} == {"thread", "warp"}
    assert (min(p["threads"] for p in alloc), max(p["threads"] for p in alloc)) == (1024, 1 << 20)
    assert {p["heap_bytes"] for p in alloc} == {16 * GIB}
    assert {p["iterations"] for p in alloc} == {20}
    scaling = {wanted.parameters["threads"] for wanted in full if wanted.case == "scaling"}
    assert scaling == {1 << k for k in range(21)}


def test_cpu_never_gets_more_than_64_ki_threads() -> None:
    full = plan.make([programs(manager("any"))], "full", GRAPHS)
    assert max(int(wanted.parameters.get("threads", 0)) for wanted in full) == 1 << 16


def test_graphs_multiply_the_points_of_their_case_only() -> None:
    made = plan.make([programs(manager("any"))], "quick", GRAPHS)
    assert {w.graph.name for w in made if w.case == "graph_init" and w.graph} == {"a", "b"}
    assert all(w.graph is None for w in made if w.case != "graph_init")


def test_a_case_without_an_entry_is_measured_with_its_defaults() -> None:
    case = CaseFields("new", parameters={"rounds": 7, "mode": "thread", "unset": None})
    made = plan.make([programs(manager("any"), cases=[case])], "quick")
    assert [wanted.parameters for wanted in made] == [{"rounds": 7, "mode": "thread"}]


def test_the_table_gives_parameters_that_the_cases_have() -> None:
    """Against what the programs said when the published rows' description was written."""
    known = row_fields.find(ROOT / "results" / "rows.jsonl")
    for entry in CASES:
        for point in points_of_all_levels(entry):
            assert set(point) <= set(known.cases[entry.case].parameters), entry.case


def test_the_table_names_a_parameter_only_to_measure_other_values_than_its_default() -> None:
    known = row_fields.find(ROOT / "results" / "rows.jsonl")
    for entry in CASES:
        defaults = known.cases[entry.case].parameters
        points = list(points_of_all_levels(entry))
        # Two fields that one flag sets, the least and the largest size, are named together.
        alone = {name for name in defaults if not known.fields[name].alias}
        for name in {name for point in points for name in point} & alone:
            values = {point[name] for point in points if name in point}
            assert values != {defaults[name]}, f"{entry.case}: {name} need not be named"


@pytest.mark.parametrize("quick", [False, True])
def test_the_short_plan_has_the_first_point_of_every_case_before_any_second(quick: bool) -> None:
    """And its points are of parameters that the cases have."""
    spec = importlib.util.spec_from_file_location("gpu_rows", SHORT_PLAN)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    known = row_fields.find(ROOT / "results" / "rows.jsonl")
    catalog = replace(programs(manager("warpheap"), manager("rw_malloc")), described=known)
    options = argparse.Namespace(cases=list(script.PLANS), managers=[], quick=quick)
    made = script.plan(catalog, options, GRAPHS)
    for wanted in made:
        assert set(wanted.parameters) <= set(known.cases[wanted.case].parameters), wanted.case
    growth = "graph_expand"  # of the standard plan, and to 100 million edges
    cases = [
        "join",
        "group_by",
        "graph_update",
        "graph_update",
        growth,
        "work_generation",
        "access",
    ]
    first = made[: 2 * len([*cases, growth])]
    assert [wanted.case for wanted in first if wanted.manager == "warpheap"] == [*cases, growth]
    assert [wanted.manager for wanted in first[:2]] == ["rw_malloc", "warpheap"]
    assert len({wanted.key() for wanted in made}) == len(made)


def test_the_short_plan_needs_no_package_but_pythons_own(fake_build: Path, tmp_path: Path) -> None:
    program = str(fake_build / "warpheap-bench-cpu")
    words = ["-S", "-B", str(SHORT_PLAN), str(tmp_path / "out"), "--program", program]
    ran = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: unknown case 'join'")


@pytest.mark.parametrize("memory, heap", [(0, 16), (139, 16), (24, 16), (16, 8), (3, 2)])
def test_heap_fits_the_device(memory: int, heap: int) -> None:
    assert plan.heap_bytes("full", programs(backend="cuda", memory=memory * GIB)) == heap * GIB


def test_unknown_names() -> None:
    for arguments in ({"managers": ["x"]}, {"cases": ["x"]}):
        with pytest.raises(UserError, match=r"unknown (manager|case) 'x'"):
            plan.make([programs(manager("any"))], "quick", **arguments)
    with pytest.raises(UserError, match="unknown backend 'hip'"):
        catalog.load_all(None, ["hip"])


def test_levels_scale_iterations() -> None:
    assert (Scale("quick", "cpu", 1).iterations, Scale("full", "cpu", 1).iterations) == (5, 20)
