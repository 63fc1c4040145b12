# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers with units, as people read them."""

from __future__ import annotations

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
_DECIMAL = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SECONDS = ((1e3, "s"), (1.0, "ms"), (1e-3, "µs"), (1e-6, "ns"))


def binary(value: float, unit: str = "") -> str:
    """Format a count with a binary prefix: 2048 -> '2 Ki', with unit 'B' -> '2 KiB'.

    Below a Mi only what is a multiple of a Ki gets one: 1,050 B says more than 1.025 KiB.
    """
    if value < 1 << 20 and value % 1024:
        return f"{value:,.10g} {unit}".rstrip()
    prefix = 0
    while abs(value) >= 1024 and prefix + 1 < len(_BINARY):
        value /= 1024
        prefix += 1
    return f"{value:.4g} {_BINARY[prefix]}{unit}".rstrip()


def decimal(value: float) -> str:
    """Format a number with three digits and, from 10,000 on, a decimal prefix: 2.5e6 -> '2.5 M'."""
    for scale, prefix in _DECIMAL:
        if abs(value) >= max(scale, 1e4):
            return f"{value / scale:,.3g} {prefix}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


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
