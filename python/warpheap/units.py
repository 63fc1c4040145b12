# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers with units, as people read them."""

from __future__ import annotations

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
_SECONDS = ((1e3, "s"), (1.0, "ms"), (1e-3, "µs"), (1e-6, "ns"))


def binary(value: float, unit: str = "") -> str:
    """Format a count with a binary prefix: 1536 -> '1.5 Ki'; with unit 'B' -> '1.5 KiB'."""
    prefix = 0
    while abs(value) >= 1024 and prefix + 1 < len(_BINARY):
        value /= 1024
        prefix += 1
    return f"{value:.4g} {_BINARY[prefix]}{unit}".rstrip()


def milliseconds(value: float, digits: int = 3) -> str:
    """Format a time that is given in milliseconds: 0.0105 -> '10.5 µs'."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e3:,.0f} s"
    for scale, unit in _SECONDS:
        if abs(value) >= scale * 0.9995:
            return f"{value / scale:.{digits}g} {unit}"
    return f"{value * 1e6:.{digits}g} ns"
