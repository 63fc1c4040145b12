# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How readable a colour is, how far two are apart, and new ones that keep a distance."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from itertools import count

# The report's light and dark page (page.css), and what readers need: of each from a page, and of
# any two from one another.
PAGES = ("#ffffff", "#14171c")
LEAST_CONTRAST = 3.0
LEAST_DISTANCE = 15.0

_WHITE_OF_D65 = (0.95047, 1.0, 1.08883)
_TO_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)


def _xyz(colour: str) -> tuple[float, float, float]:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    x, y, z = (sum(a * b for a, b in zip(row, light, strict=True)) for row in _TO_XYZ)
    return x, y, z


def contrast(one: str, other: str) -> float:
    """Return the contrast of two sRGB colours as WCAG defines it, 1 to 21."""
    low, high = sorted((_xyz(one)[1], _xyz(other)[1]))
    return (high + 0.05) / (low + 0.05)


def lab(colour: str) -> tuple[float, float, float]:
    """Return the CIE L*a*b* coordinates of an sRGB colour, for the white of D65."""
    parts = (v / white for v, white in zip(_xyz(colour), _WHITE_OF_D65, strict=True))
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in parts)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def readable(colour: str) -> bool:
    """Tell whether a colour stands out from both pages."""
    return all(contrast(colour, page) >= LEAST_CONTRAST for page in PAGES)


def unlike(name: str, taken: Iterable[str]) -> str:
    """Make a colour from a name alone: readable, and apart from all colours that are taken.

    About one in sixteen of all colours is, beside those of the table in ``style``, so that the
    first that the name leads to is soon found.
    """
    others = [lab(colour) for colour in taken]
    digests = (hashlib.sha256(f"{name} {attempt}".encode()) for attempt in count())
    candidates = filter(readable, ("#" + digest.hexdigest()[:6] for digest in digests))
    return next(
        colour
        for colour in candidates
        if all(math.dist(lab(colour), other) >= LEAST_DISTANCE for other in others)
    )
