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


def seconds(default: float | None, flag: str, about: str) -> Any:
    """Make an option for a number of seconds."""
    return typer.Option(default, flag, min=0.1, callback=_finite, help=about)


def _finite(value: float | None) -> float | None:
    """Refuse infinity and NaN, which passes every comparison with a limit."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number of seconds.")
    return value
