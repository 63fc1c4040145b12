# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors that are meant for the user, and the guard that keeps stack traces away from them."""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

EXIT_FAILED = 1  # what was asked for ran, and something in it is wrong
EXIT_USAGE = 2  # what was asked for cannot be run
EXIT_INTERNAL = 70  # a defect of the tool itself (EX_SOFTWARE)
EXIT_INTERRUPTED = 130  # 128 + SIGINT

_MOST_NAMES = 60  # that an error lists if a command prints them, too
_NEAREST = 3

P = ParamSpec("P")
R = TypeVar("R")


class UserError(Exception):
    """A message for the user and the exit status that goes with it."""

    def __init__(self, message: str, exit_code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def encodable(text: str) -> str:
    """Replace bytes of a file name that are not UTF-8 by escapes, as in 'road\\udcff'."""
    return text.encode("utf-8", "backslashreplace").decode()


def unknown(kind: str, name: str, known: Iterable[str], lister: str = "") -> UserError:
    """Make the error for a name that is not in a list: it contains the list and the nearest entry.

    ``kind`` is a singular noun such as "manager". Where a command ``lister`` prints the names, an
    error about many of them names it and the nearest ones instead.
    """
    names = list(known)
    brief = bool(lister) and len(names) > _MOST_NAMES
    near = difflib.get_close_matches(name, names, n=_NEAREST if brief else 1)
    hint = f" (did you mean {_alternatives(near)}?)" if near else ""
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    listed = f"known {plural}: {', '.join(names) or 'none'}"
    if brief:
        listed = f"'{lister}' prints all {len(names)} {plural}"
    return UserError(f"unknown {kind} '{name}'{hint}; {listed}")


def check_names(kind: str, asked: Iterable[str], known: Iterable[str], lister: str = "") -> None:
    """Raise the error of unknown() for the first asked name that is not known."""
    names = list(known)
    for name in asked:
        if name not in names:
            raise unknown(kind, name, names, lister)


def _alternatives(names: list[str]) -> str:
    *others, last = (f"'{name}'" for name in names)
    return f"{', '.join(others)} or {last}" if others else last


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Wrap a command so that every failure ends as one message and an exit status.

    ``WARPHEAP_DEBUG=1`` lets the stack trace of an internal error through, for developers.
    """

    # Only the tool has them: programs that replay traces with this package raise UserError, too.
    import typer  # noqa: PLC0415

    from warpheap.console import complain, err  # noqa: PLC0415

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except UserError as error:
            complain("error", str(error))
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            err.print("interrupted")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            complain("error", where + str(error.strerror))
            raise typer.Exit(EXIT_USAGE) from None
        except Exception as error:
            if os.environ.get("WARPHEAP_DEBUG"):
                raise
            complain(
                "internal error",
                f"{type(error).__name__}: {error}\n"
                "This is a defect of warpheap. WARPHEAP_DEBUG=1 shows where it happened.",
            )
            raise typer.Exit(EXIT_INTERNAL) from None

    return wrapper
