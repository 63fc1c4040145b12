# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options that several commands share."""

import math
from typing import Any

import typer

from warpheap.programs import BACKENDS, BUILD_VARIABLE


def build_dir() -> Any:
    """Make the option that names where the built programs are."""
    return typer.Option(
        None,
        "--build-dir",
        help="Folder of the built programs (a build preset's, or its bench/).",
        envvar=BUILD_VARIABLE,
        show_default=False,
    )


def backends() -> Any:
    """Make the repeatable option that names backends."""
    return typer.Option(
        [], "--backend", help=f"Only this backend ({' or '.join(BACKENDS)}); may be repeated."
    )


def json_output() -> Any:
    """Make the option for output that a script reads."""
    return typer.Option(False, "--json", help="Print JSON instead of text.")


def number(default: int | None, flag: str, about: str, least: int, most: int | None = None) -> Any:
    """Make an option for a whole number; an error names the number and the limits.

    Typer's own ``min`` and ``max`` are not used: since 0.29.2, its message leaves out the number.
    """
    limits = f"x>={least}" if most is None else f"{least}<=x<={most}"

    def check(value: int | None) -> int | None:
        if value is not None and (value < least or (most is not None and value > most)):
            raise typer.BadParameter(f"{value} is not in the range {limits}.")
        return value

    return typer.Option(default, flag, callback=check, help=f"{about} ({limits})")


def seconds(default: float | None, flag: str, about: str) -> Any:
    """Make an option for a number of seconds."""
    return typer.Option(default, flag, callback=_some_seconds, help=about)


_LEAST_SECONDS = 0.1


def _some_seconds(value: float | None) -> float | None:
    """Refuse too few, infinity, and NaN, which passes every comparison with a limit."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number of seconds.")
    if value is not None and value < _LEAST_SECONDS:
        raise typer.BadParameter(f"{value} is not in the range x>={_LEAST_SECONDS} s.")
    return value
