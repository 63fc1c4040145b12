# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One stable look a manager: colour, marker and dash, the same in every figure and every run.

All colours have a contrast of at least 3:1 to the white and to the dark page. Variants of one
manager share a hue; marker and dash tell them apart without colour.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

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


_LOOKS = {
    "bump": Look("#8e9398", "o", DOTTED),
    "bump_warp": Look("#65696f", "s", DOTTED),
    "bump_sharded": Look("#7c8186", "D", DASHED),
    "cuda": Look("#478809", "P"),
    "rw": Look("#1a73d5", "o"),
    "rw_bm": Look("#0e97a9", "s"),
    "corw": Look("#9769dc", "^"),
    "crw": Look("#b17d03", "v"),
    "rw_malloc": Look("#ca549d", "D"),
    "gallatin": Look("#c33d53", "X"),
    "ouroboros_s_p": Look("#c46d01", "o"),
    "ouroboros_s_c": Look("#c46d01", "o", DASHED),
    "ouroboros_va_p": Look("#a38207", "s"),
    "ouroboros_va_c": Look("#a38207", "s", DASHED),
    "ouroboros_vl_p": Look("#7c9209", "^"),
    "ouroboros_vl_c": Look("#7c9209", "^", DASHED),
    "xmalloc": Look("#a947a3", "<"),
    "scatter_alloc": Look("#be3d70", ">"),
    "fdg_malloc": Look("#994eb7", "p"),
    "reg_eff_a": Look("#0e8c41", "o", DOTTED),
    "reg_eff_aw": Look("#0e8c41", "s", DOTTED),
    "reg_eff_c": Look("#029e72", "^"),
    "reg_eff_cf": Look("#029e72", "v", DASHED),
    "reg_eff_cm": Look("#098777", "D"),
    "reg_eff_cfm": Look("#098777", "X", DASHED),
    "kma": Look("#9b690b", "h"),
    "halloc": Look("#5f7ceb", "h"),
    "dynasoar": Look("#d35182", "p"),
    "bulk_allocator": Look("#06999a", "<"),
    "warpheap": Look("#d55c13", "*"),
    "first_fit": Look("#1a73d5", "o"),
    "best_fit": Look("#0e97a9", "s"),
    "next_fit": Look("#5f7ceb", "^"),
    "simple_segregated": Look("#ca549d", "v"),
    "segregated_fit": Look("#be3d70", "D"),
    "tlsf": Look("#d55c13", "*"),
    "binary_buddy": Look("#0e8c41", "o", DASHED),
    "double_buddy": Look("#029e72", "s", DASHED),
    "fibonacci_buddy": Look("#7c9209", "^", DASHED),
    "hybrid_pool": Look("#9769dc", "P"),
    "cuda_malloc": Look("#8e9398", "X", DOTTED),
    "cuda_malloc_async": Look("#65696f", "P", DOTTED),
    "rmm_pool": Look("#b17d03", "h", DASHED),
    "rmm_arena": Look("#9b690b", "p", DASHED),
}
_OTHER_COLOURS = sorted({look.colour for look in _LOOKS.values()})
_OTHER_MARKERS = "os^vDXP<>ph*"
_OTHER_DASHES = (SOLID, DASHED, DOTTED)


def look(manager: str) -> Look:
    """Give the look of a manager; a name that is not in the table gets one from its hash."""
    if manager in _LOOKS:
        return _LOOKS[manager]
    number = int.from_bytes(hashlib.sha256(manager.encode()).digest()[:8], "little")
    number, colour = divmod(number, len(_OTHER_COLOURS))
    number, marker = divmod(number, len(_OTHER_MARKERS))
    dash = _OTHER_DASHES[number % len(_OTHER_DASHES)]
    return Look(_OTHER_COLOURS[colour], _OTHER_MARKERS[marker], dash)
