# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shell command that repeats a row, for rows without one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from warpheap import shell
from warpheap.report.fields import UNDESCRIBED
from warpheap.row_fields import Description

# A synthetic trace is named after its recipe and its slots.
_SYNTHETIC = re.compile(r"(malloc-large(?:-log)?)-(\d+)")
_POOL_PROGRAMS = ("program", "framework")


def command(row: Mapping[str, Any], known: Description = UNDESCRIBED) -> str:
    """Say how to repeat a row that ``known`` describes; its own ``command`` takes precedence."""
    own = row.get("command")
    if isinstance(own, str):
        return own
    if row.get("case") == "replay":
        return shell.join(_replay(row))
    if row.get("case") in _POOL_PROGRAMS:
        return "bench/pools/gpu_check.py OUT --build DIR --traces DIR --site DIR"
    return shell.join(_bench(row, known))


def _replay(row: Mapping[str, Any]) -> list[str]:
    trace = str(row["trace"])
    synthetic = _SYNTHETIC.fullmatch(trace)
    words = ["warpheap", "replay", synthetic.group(1) if synthetic else trace]
    words += ["--resource", row["manager"]]
    if synthetic:
        words += ["--live", synthetic.group(2)]
    for name in ("events", "seed") if synthetic else ():
        words += _flag(name, row.get(name))
    for name in ("upstream", "initial_bytes", "limit_bytes", "repeats", "threads"):
        words += _flag(name, row.get(name))
    return [*words, "--smallest"] if row.get("smallest_pool_bytes") is not None else words


def _bench(row: Mapping[str, Any], known: Description) -> list[str]:
    words = ["warpheap", "bench", "--backend", row["backend"]]
    words += ["--case", row["case"], "--manager", row["manager"]]
    # A row may have a value of a parameter that its case does not have, such as a mode.
    for parameter in known.parameters(row["case"] if row["case"] in known.cases else None):
        words += _flag(parameter.name, row.get(parameter.name))
    return words


def _flag(name: str, value: Any) -> list[str]:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return []
    text = f"{value:.15g}" if isinstance(value, float) else str(value)
    return [f"--{name.replace('_', '-')}", text]
