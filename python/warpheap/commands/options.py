# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options that several commands share."""

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
