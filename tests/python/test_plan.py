# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan: what is measured, what is skipped and why, and how an unknown case is treated."""

from pathlib import Path
from typing import Any

import pytest

from warpheap import catalog, plan
from warpheap.catalog import Capabilities, Case, Catalog, Manager, Parameter
from warpheap.errors import UserError
from warpheap.graphs.csr import Graph
from warpheap.plan_cases import CASES, CasePlan, Scale

GIB = 1 << 30


def manager(name: str, **claims: Any) -> Manager:
    known: dict[str, Any] = {
        "largest_block": None,
        "alignment": 16,
        "frees": True,
        "scope": "thread",
        "reuse": "all",
        "growth": False,
    }
    reason = claims.pop("reason", None)
    capabilities = Capabilities(**(known | claims))
    return Manager(name, "", "", "", "", None, None, reason is None, reason, capabilities)


def programs(
    *managers: Manager, backend: str = "cpu", memory: int = 0, cases: Any = None
) -> Catalog:
    offered = cases or [Case(e.case, "", ("thread", "warp"), ()) for e in CASES]
    known = (Path("bench"), backend, "a device", memory, None, None, True, None)
    return Catalog(*known, tuple(managers), tuple(offered), {})


GRAPHS = [Graph(name, f"{name}.mtx", "00", 4, 3, Path(f"{name}.csr")) for name in ("a", "b")]


def test_every_manager_is_in_every_case_and_point() -> None:
    managers = [
        manager("any"),
        manager("page", scope="page", largest_block=256),
        manager("w", scope="warp"),
    ]
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
    assert len(quick) < 50
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
    assert {p["iterations"] for p in alloc} == {10}
    scaling = {wanted.parameters["threads"] for wanted in full if wanted.case == "scaling"}
    assert scaling == {1 << k for k in range(21)}


def test_cpu_never_gets_more_than_64_ki_threads() -> None:
    full = plan.make([programs(manager("any"))], "full", GRAPHS)
    assert max(int(wanted.parameters.get("threads", 0)) for wanted in full) == 1 << 16


def test_graphs_multiply_the_points_of_their_case_only() -> None:
    made = plan.make([programs(manager("any"))], "quick", GRAPHS)
    assert {w.graph.name for w in made if w.case == "graph_init" and w.graph} == {"a", "b"}
    assert all(w.graph is None for w in made if w.case != "graph_init")


ASKED = {"threads": 1024, "size_max": 512, "heap_bytes": 1 << 20}
BYTES, PAGES = CasePlan("c", lambda _: iter(())), CasePlan("p", lambda _: iter(()), pages=True)
ANY = CasePlan("a", lambda _: iter(()), any_scope=True)


@pytest.mark.parametrize(
    "entry, case, claims, asked, reason",
    [
        (BYTES, "c", {}, {}, None),
        (BYTES, "c", {"reason": "needs CUDA"}, {}, "needs CUDA"),
        (BYTES, "c", {"reason": ""}, {}, "not available on this backend"),
        (
            BYTES,
            "c",
            {"scope": "object"},
            {},
            "hands out objects of fixed types; the case asks for",
        ),
        (ANY, "c", {"scope": "object"}, {}, None),
        (BYTES, "c", {"scope": "warp"}, {}, "serves warps; in this case every thread allocates"),
        (BYTES, "c", {"scope": "warp"}, {"mode": "warp"}, None),
        (PAGES, "c", {"scope": "page"}, {}, "does not hand out numbered pages"),
        (PAGES, "c", {"scope": "page", "numbered_pages": True}, {}, None),
        (BYTES, "frees", {"frees": False}, {}, "cannot free single blocks"),
        (BYTES, "c", {"frees": False}, {"free_percent": 50}, "cannot free single blocks"),
        (BYTES, "c", {"frees": False}, {}, None),
        (BYTES, "c", {"largest_block": 256}, {}, "its largest block is 256 B"),
        (BYTES, "c", {"largest_block": 512}, {}, None),
        (BYTES, "c", {}, {"size_max": 2048}, "needs 2 MiB, the heap has 1 MiB"),
        (BYTES, "c", {}, {"size_max": 2048, "mode": "warp"}, None),
        (BYTES, "utilization", {}, {"size_max": 2048}, None),
    ],
)
def test_reasons(
    entry: CasePlan, case: str, claims: dict[str, Any], asked: dict[str, Any], reason: str | None
) -> None:
    of = Case(case, "", (), (), needs_frees=case == "frees")
    found = plan.unclaimed(entry, of, manager("m", **claims), ASKED | asked)
    assert found == reason if reason is None else str(found).startswith(reason)


def test_a_case_without_an_entry_is_measured_with_its_defaults() -> None:
    case = Case(
        "new",
        "",
        ("thread", "warp"),
        (Parameter("rounds", "", 7, ""), Parameter("mode", "", "thread", "")),
    )
    made = plan.make([programs(manager("any"), cases=[case])], "quick")
    assert [wanted.parameters for wanted in made] == [
        {"mode": "thread", "rounds": 7},
        {"mode": "warp", "rounds": 7},
    ]


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
    assert (Scale("quick", "cpu", 1).iterations, Scale("full", "cpu", 1).iterations) == (5, 10)
