#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A stand-in for the benchmark programs: answers by their contract, with made-up times.

The backend is the end of the name it is called by. Managers named after a failure do that:
crash, hang, garble, refuse, fail, skip, starve. Standard library only, so that it starts fast.
"""

import argparse
import json
import math
import os
import signal
import struct
import sys
import time
from pathlib import Path

BACKEND = Path(sys.argv[0]).name.rsplit("-", 1)[-1]
PROBE = "bump_sharded"
# Speed relative to the probe, growth with the size, largest block, frees, scope.
MANAGERS = {
    "bump": (40.0, 0.0, None, False, "thread"),
    "bump_warp": (3.0, 0.0, None, False, "thread"),
    PROBE: (1.0, 0.01, None, False, "thread"),
    "cuda": (20000.0, 0.3, None, True, "thread"),
    "rw": (2.5, 0.0, 256, True, "page"),
    "rw_bm": (1.6, 0.0, 256, True, "page"),
    "corw": (1.4, 0.0, 256, True, "page"),
    "crw": (1.9, 0.0, 256, True, "page"),
    "rw_malloc": (3.0, 0.2, 8192, True, "thread"),
    **dict.fromkeys(os.environ.get("FAKE_EXTRA", "").split(), (1.0, 0.0, None, True, "thread")),
}
FIELDS = [
    {"name": "status", "kind": "text", "role": "identity", "always": True},
    {
        "name": "mode",
        "kind": "text",
        "role": "facet",
        "always": True,
        "choices": ["thread", "warp"],
    },
    {"name": "threads", "kind": "integer", "role": "axis", "always": True, "unit": "threads"},
    {"name": "size_min", "kind": "integer", "role": "facet", "always": True, "alias": "size"},
    {"name": "size_max", "kind": "integer", "role": "axis", "always": True, "alias": "size"},
    {"name": "distribution", "kind": "text", "role": "facet"},
    {"name": "heap_bytes", "kind": "integer", "role": "axis", "always": True, "unit": "bytes"},
    {"name": "iterations", "kind": "integer", "role": "detail", "always": True},
    {"name": "seed", "kind": "integer", "role": "facet", "always": True},
    {"name": "free_percent", "kind": "number", "role": "axis", "least": 0},
    {"name": "pages", "kind": "integer", "role": "facet"},
    {"name": "graph", "kind": "graph", "role": "axis"},
    {"name": "null_returns", "kind": "integer", "role": "result", "always": True},
    {"name": "corrupted", "kind": "integer", "role": "result", "always": True},
    {"name": "malloc_ms", "kind": "summary", "role": "result", "always": True, "unit": "ms"},
    {"name": "free_ms", "kind": "summary", "role": "result", "always": True, "unit": "ms"},
    {"name": "init_ms", "kind": "summary", "role": "result", "unit": "ms"},
    {"name": "tas", "kind": "number", "role": "result", "unit": "steps"},
    {"name": "was", "kind": "number", "role": "result", "unit": "steps"},
]
SIZES = ["threads", "size_min", "size_max"]
TIMED = ["heap_bytes", "iterations", "seed"]
DEFAULTS: dict[str, str | int | float | None] = {
    "mode": "thread",
    "distribution": "uniform",
    "free_percent": 100.0,
    "pages": 1 << 20,
    "seed": 1,
    "graph": None,
}
CASES = {
    "init": (["heap_bytes", "iterations"], ["init_ms"]),
    "alloc": (["mode", *SIZES, "distribution", *TIMED, "free_percent"], []),
    "scaling": ([*SIZES, *TIMED], []),
    "random_walk_steps": (
        ["threads", "pages", "free_percent", "iterations", "seed"],
        ["tas", "was"],
    ),
    "graph_init": (["graph", *TIMED], []),
}
WITHOUT_CUDA = "the built-in allocator needs a CUDA device"


def describe() -> dict:
    gpu = BACKEND == "cuda"
    here = not gpu or bool(os.environ.get("FAKE_GPU"))
    managers = []
    for name, (_, _, largest, frees, scope) in MANAGERS.items():
        usable = gpu or name != "cuda"
        managers.append(
            {
                "name": name,
                "description": f"what {name} is",
                "folder": "fake",
                "authors": "A. Nobody",
                "title": "Walks" if name.startswith("rw") else f"The {name} manager",
                "venue": "Nowhere",
                "year": 2025,
                "doi": "10.1/2",
                "deviations": ["Others walk.", *["No rest."] * (name == "rw")],
                "available": usable,
                "reason": None if usable else WITHOUT_CUDA,
                "capabilities": {
                    "largest_block": largest,
                    "alignment": 16,
                    "frees": frees,
                    "scope": scope,
                    "reuse": "all" if frees else "none",
                    "growth": False,
                    "numbered_pages": scope == "page",
                },
            }
        )
    cases = [
        {
            "name": name,
            "about": f"measures {name}",
            "fills": False,
            "parameters": [{"name": p, "default": DEFAULTS.get(p, 1024)} for p in own],
            "fields": measured,
        }
        for name, (own, measured) in CASES.items()
    ]
    return {
        "schema": 1,
        "backend": BACKEND,
        "device": os.environ.get("FAKE_GPU", "none") if gpu else "CPU model, 2 workers",
        "device_memory_bytes": int(os.environ.get("FAKE_MEMORY", str(139 << 30))) if gpu else 0,
        "driver": "580.1" if gpu else None,
        "toolkit": "13.0" if gpu else None,
        "available": here,
        "reason": None if here else "no CUDA device",
        "managers": managers,
        "fields": FIELDS,
        "cases": cases,
    }


def times(median: float, cold: float) -> dict:
    parts = ("first", "median", "mean", "std", "min", "max")
    values = (median * cold, median, median * 1.02, median * 0.05, median * 0.96, median * 1.1)
    return dict(zip(parts, values, strict=True))


def unclaimed(options: argparse.Namespace) -> str | None:
    _, _, largest, frees, scope = MANAGERS[options.manager]
    if options.manager == "cuda" and BACKEND == "cpu":
        return WITHOUT_CUDA
    if options.case == "random_walk_steps" and scope != "page":
        return "does not hand out numbered pages"
    if not frees and (options.free_percent or 100) < 100:
        return "cannot free single blocks"
    if largest and (options.size_max or 0) > largest:
        return f"{options.size_max} bytes are more than the largest block, which is {largest}"
    return None


def row(options: argparse.Namespace) -> dict:
    speed, growth, _, frees, _ = MANAGERS[options.manager]
    threads = options.threads or 1024
    size = options.size_max or 64
    base = 0.005 + threads * 5e-6 * (1 if BACKEND == "cuda" else 50)
    cost = base * speed * (size / 16) ** growth
    result = {
        "schema": 1,
        "case": options.case,
        "manager": options.manager,
        "backend": BACKEND,
        "device": describe()["device"],
        "mode": options.mode,
        "threads": options.threads,
        "size_min": options.size_min,
        "size_max": options.size_max,
        "heap_bytes": options.heap_bytes,
        "iterations": options.iterations,
        "seed": options.seed,
        "status": "ok",
        "reason": None,
        "null_returns": 0,
        "corrupted": 0,
        "malloc_ms": times(cost, 1.0 + speed / 3),
        "free_ms": times(cost * 0.4, 1.1) if frees else None,
    }
    if options.case == "init":
        result["init_ms"] = times(0.02 + speed * options.heap_bytes / 2**34, 1.5)
        result["malloc_ms"] = result["free_ms"] = None
    if options.case == "random_walk_steps":
        free = options.pages * options.free_percent / 100
        word = 1 if options.manager == "rw" else 32
        model = options.pages / threads * math.log(free / max(free - threads, 1)) / word + 1
        result |= {"tas": model * 1.01, "was": model * 3.1, "word_bits": word}
        result |= {"page_count": options.pages, "free_pages": int(free), "pages": options.pages}
        result |= {"free_percent": options.free_percent}
        result["search"] = os.environ.get("FAKE_WALK", "independent")
    if options.case == "graph_init":
        content = Path(options.graph).read_bytes()
        nodes, entries = struct.unpack_from("<QQ", content, 8)
        result |= {"nodes": nodes, "entries": entries, "graph": options.graph}
        result["malloc_ms"] = times(nodes * 1e-5 * speed, 2.0)
    return result


def main() -> int:
    if sys.argv[1:] == ["list"]:
        print(json.dumps(describe()))
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["run"])
    for name in ("case", "manager", "mode", "graph", "distribution"):
        parser.add_argument(f"--{name}")
    for name in ("threads", "size-min", "size-max", "heap-bytes", "iterations", "seed", "pages"):
        parser.add_argument(f"--{name}", type=int, default=DEFAULTS.get(name))
    parser.add_argument("--free-percent", type=float)
    options = parser.parse_args()
    if marks := os.environ.get("FAKE_RUNS"):
        with Path(marks).open("a") as file:
            file.write(f"{options.case} {options.manager}\n")
    time.sleep(float(os.environ.get("FAKE_SLEEP", "0")))
    if options.manager == "crash":
        print("about to fall over", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if options.manager == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if options.manager == "garble":
        print("{this is not JSON")
        return 0
    if reason := unclaimed(options):
        known = {"schema": 1, "case": options.case, "manager": options.manager}
        print(json.dumps(known | {"backend": BACKEND, "status": "skipped", "reason": reason}))
        return 0
    memory = describe()["device_memory_bytes"]
    too_large = memory and options.heap_bytes and options.heap_bytes > memory
    if options.manager == "refuse" or too_large:
        print(f"heap of {options.heap_bytes} B: the device has {memory} B", file=sys.stderr)
        return 2
    result = row(options)
    if options.manager == "fail":
        result |= {"status": "failed", "reason": "block 7 overlaps block 9", "corrupted": 1}
    if options.manager == "skip":
        result |= {"status": "skipped", "reason": "not this time"}
    if options.manager == "starve":
        result["null_returns"] = 5
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
