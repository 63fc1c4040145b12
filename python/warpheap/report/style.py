# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One stable look per manager: colour, marker and dash, the same in every figure and every run.

All colours have a contrast of at least 3:1 to the white and to the dark page, and any two are 15 or
more apart in CIE Lab (a test holds them to both). Variants of one manager share a hue and differ in
lightness; marker and dash tell them apart without colour. These looks were chosen by eye, so the
table cannot be derived. A manager that is not in it needs no entry: its name alone decides its
look, with a colour apart from all of the table.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache

from warpheap.report import colours

# Replaced by the page's own text colour in SVG, so that one figure serves light and dark pages.
INK_SENTINEL = "#123456"
INK_PRINT = "#1f2328"
LIMIT_PROBE = "bump_sharded"

Dash = str | tuple[int, tuple[float, ...]]
SOLID: Dash = "solid"
DASHED: Dash = (0, (4, 1.5))
DOTTED: Dash = (0, (1, 1.2))


@dataclass(frozen=True)
class Look:
    """How a manager is drawn."""

    colour: str
    marker: str
    dash: Dash = SOLID


_MANAGERS = {
    "bump": Look("#82969b", "o", DOTTED),
    "bump_warp": Look("#73645a", "s", DOTTED),
    "bump_sharded": Look("#826e91", "D", DASHED),
    "cuda": Look("#1eaa00", "P"),
    "rw": Look("#1464fa", "o"),
    "rw_bm": Look("#00a0b9", "s"),
    "corw": Look("#910aff", "^"),
    "crw": Look("#cd8205", "v"),
    "rw_malloc": Look("#c3058c", "D"),
    "gallatin": Look("#ff195a", "X"),
    "ouroboros_s_p": Look("#f05f00", "o"),
    "ouroboros_s_c": Look("#af4619", "o", DASHED),
    "ouroboros_va_p": Look("#a59164", "s"),
    "ouroboros_va_c": Look("#875f00", "s", DASHED),
    "ouroboros_vl_p": Look("#8c9b05", "^"),
    "ouroboros_vl_c": Look("#646919", "^", DASHED),
    "xmalloc": Look("#8250af", "<"),
    "scatter_alloc": Look("#b93250", ">"),
    "fdg_malloc": Look("#fa0fff", "p"),
    "reg_eff_a": Look("#789b64", "o", DOTTED),
    "reg_eff_aw": Look("#327300", "s", DOTTED),
    "reg_eff_c": Look("#00a564", "^"),
    "reg_eff_cf": Look("#0a734b", "v", DASHED),
    "reg_eff_cm": Look("#00a596", "D"),
    "reg_eff_cfm": Look("#326e69", "X", DASHED),
    "kma": Look("#c87d69", "h"),
    "halloc": Look("#5091ff", "h"),
    "dynasoar": Look("#d273aa", "p"),
    "bulk_allocator": Look("#0a6e96", "<"),
    "warpheap": Look("#ff050f", "*"),
}
_POOLS = {
    "first_fit": Look("#5064a5", "o"),
    "best_fit": Look("#0f9be1", "s"),
    "next_fit": Look("#b90fcd", "^"),
    "simple_segregated": Look("#a07df5", "v"),
    "segregated_fit": Look("#af910a", "D"),
    "tlsf": Look("#cd7d46", "*"),
    "binary_buddy": Look("#5046fa", "o", DASHED),
    "double_buddy": Look("#ff05b9", "s", DASHED),
    "fibonacci_buddy": Look("#9b4b73", "^", DASHED),
    "slabs_over_tlsf": Look("#05912d", "P"),
    "cuda_malloc": Look("#5f7355", "X", DOTTED),
    "cuda_malloc_async": Look("#af8791", "P", DOTTED),
    "rmm_pool": Look("#c8192d", "h", DASHED),
    "rmm_arena": Look("#eb0a6e", "p", DASHED),
}
_LOOKS = _MANAGERS | _POOLS
_ORDER = {name: place for place, name in enumerate(_LOOKS)}
_OTHER_MARKERS = "os^vDXP<>ph*"
_OTHER_DASHES = (SOLID, DASHED, DOTTED)


def rank(manager: str) -> int:
    """Place a manager in the order of the table; managers not in it come last."""
    return _ORDER.get(manager, len(_ORDER))


@cache
def look(manager: str) -> Look:
    """Return the look of a manager; a name that is not in the table gets one from its hash."""
    if manager in _LOOKS:
        return _LOOKS[manager]
    number = int.from_bytes(hashlib.sha256(manager.encode()).digest()[:8], "little")
    number, marker = divmod(number, len(_OTHER_MARKERS))
    dash = _OTHER_DASHES[number % len(_OTHER_DASHES)]
    colour = colours.unlike(manager, (known.colour for known in _LOOKS.values()))
    return Look(colour, _OTHER_MARKERS[marker], dash)
