# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ``warpheap`` application: one sub-command a module of ``warpheap.commands``."""

from importlib import import_module

import typer

from warpheap import __version__
from warpheap.console import out

# The modules of warpheap.commands, in the order of --help. Each has register(app).
COMMANDS = ("list", "doctor", "bench", "survey", "report", "publish", "verify", "replay")

app = typer.Typer(
    name="warpheap",
    help="Measure, verify and compare memory managers for massively parallel processors.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        out.print(f"warpheap {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Measure, verify and compare memory managers for massively parallel processors."""


for _name in COMMANDS:
    import_module(f"warpheap.commands.{_name}").register(app)


def main() -> None:
    """Run the command line; returns to the shell through SystemExit."""
    app(prog_name="warpheap")
