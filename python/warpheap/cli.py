# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ``warpheap`` application: one sub-command per module of ``warpheap.commands``."""

import sys
from importlib import import_module

import typer

from warpheap import __version__
from warpheap.console import complain, out, print_any_text
from warpheap.errors import EXIT_USAGE

# The modules of warpheap.commands, in the order of --help. Each has register(app).
COMMANDS = ("list", "doctor", "bench", "survey", "report", "publish", "verify", "replay", "drop_in")

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
        out.print(f"warpheap {__version__}")
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
    print_any_text()
    _refuse_empty(sys.argv[1:])
    app(prog_name="warpheap")


def _refuse_empty(words: list[str]) -> None:
    """End with a message if an argument is empty: no option accepts an empty value.

    An unset shell variable is the usual cause, and "" would pass for "." as a folder.
    """
    before = ""
    for number, word in enumerate(words, start=1):
        valueless = word.startswith("-") and word.endswith("=")
        if not word or valueless:
            option = word.removesuffix("=") or (before if before.startswith("-") else "")
            follows = f", after '{before}'," if before else ""
            named = f"the value of '{option}'" if option else f"argument {number}{follows}"
            complain("error", f"{named} is empty")
            raise SystemExit(EXIT_USAGE)
        before = word
