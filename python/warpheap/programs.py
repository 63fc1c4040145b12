# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the built programs that the tool drives, and the checkout that they come from."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from functools import lru_cache
from pathlib import Path

from warpheap import __version__, process
from warpheap.console import warn
from warpheap.errors import EXIT_FAILED, UserError

BACKENDS = ("cpu", "cuda")
VERIFY = "warpheap-verify"
BUILD_VARIABLE = "WARPHEAP_BUILD"
_PACKAGE = Path(__file__).resolve().parent
_CLONE = "clone the repository of warpheap and run it there"
UNKNOWN = "unknown"  # the start of a commit that git does not tell
_GIT_TIME_LIMIT_S = 30.0


def bench_name(backend: str) -> str:
    """Name the benchmark program of a backend."""
    return f"warpheap-bench-{backend}"


def find(name: str, build_dir: Path | None = None) -> Path | None:
    """Find a built program, or return None.

    Looked at: ``build_dir``, or else $WARPHEAP_BUILD, or else the presets under build/ of the
    current folder and of this checkout, or else this installation's bin/, or else $PATH. Of several
    presets a release build wins (times of other builds mean nothing), and of several of those the
    newest program.
    """
    variable = os.environ.get(BUILD_VARIABLE)
    named = build_dir or (Path(variable) if variable else None)
    if named is not None:
        return _best([named / name, named / "bench" / name, *named.glob(f"*/bench/{name}")])
    roots = dict.fromkeys((Path.cwd(), own_checkout() or Path.cwd()))
    built = _best([path for root in roots for path in root.glob(f"build/*/bench/{name}")])
    if built is not None or (built := _best([_PACKAGE / "bin" / name])) is not None:
        return built
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None


def require(name: str, build_dir: Path | None = None) -> Path:
    """Find a built program or raise the error that says how to build it."""
    path = find(name, build_dir)
    if path is None:
        where = build_dir or os.environ.get(BUILD_VARIABLE) or "build/*/bench"
        raise UserError(
            f"{name} was not found (looked in {where}): {remedy(name)}; "
            "--build-dir names another build folder",
            EXIT_FAILED,
        )
    return path


def remedy(name: str) -> str:
    """Say how to get a program that was not found."""
    if own_checkout() is not None:
        return f"'./dev {'test' if name == VERIFY else 'survey'}' builds it"
    if name == bench_name("cuda"):
        return f"it is built in a checkout, by './dev survey', with nvcc and a GPU: {_CLONE}"
    return (
        "this installation was made without it. Install Boost.Context, CLI11 and nlohmann-json "
        "(apt-get install libboost-context-dev libcli11-dev nlohmann-json3-dev), then warpheap "
        f"again (pip install --force-reinstall --no-deps .), or use a checkout: {_CLONE}"
    )


def own_checkout() -> Path | None:
    """Return the root of the git checkout that holds this package, or None if it is installed."""
    root = _PACKAGE.parent.parent
    return root if (root / ".git").exists() and _PACKAGE.parent.name == "python" else None


def _checkout_of(program: Path) -> Path | None:
    """Return the root of the checkout of warpheap that a program was built in, or None.

    A program of an installed package is in none, even if the environment lies in a checkout.
    """
    folder = program.resolve().parent
    if folder.is_relative_to(_PACKAGE):
        return own_checkout()
    for root in folder.parents:
        if (root / ".git").exists() and (root / "include/warpheap").is_dir():
            return root
    return own_checkout()


@lru_cache
def revision(program: Path) -> str:
    """Say which source a program comes from, as far as possible.

    The ``git describe`` of the checkout around the program or around this package; "-dirty." and
    the first digits of the program's digest are added if the checkout has changes, because then the
    commit alone does not tell two builds apart. Outside a checkout: the package's version and the
    digest. Where git does not answer for a checkout: UNKNOWN and the digest, with a warning on
    standard error.
    """
    root = _checkout_of(program)
    if root is None:
        return f"v{__version__}.{digest(program)}"
    command = ["git", "-C", str(root), "describe", "--always", "--tags", "--abbrev=12", "--dirty"]
    try:
        outcome = process.run(command, _GIT_TIME_LIMIT_S)
        reason = None if outcome.returncode == 0 else _first_line(outcome)
    except OSError as error:
        reason = f"git cannot be started: {error.strerror}"
    if reason is not None:
        remedy = f"git config --global --add safe.directory {shlex.quote(str(root))}"
        warn(
            f"the commit of {root} is unknown: {reason}. Rows say so, and no earlier row is reused."
            + (f" This trusts the checkout: {remedy}" if "ownership" in reason else "")
        )
        return f"{UNKNOWN}.{digest(program)}"
    described = outcome.stdout.strip()
    return f"{described}.{digest(program)}" if described.endswith("-dirty") else described


def is_known(commit: str) -> bool:
    """Tell whether what revision() returned names a commit, so that a row of it may be reused."""
    return not commit.startswith(UNKNOWN)


def _first_line(outcome: process.Outcome) -> str:
    if outcome.timed_out:
        return f"git had not finished after {_GIT_TIME_LIMIT_S:g} s"
    return (outcome.stderr.strip().splitlines() or ["git says nothing"])[0]


def digest(path: Path, length: int = 8) -> str:
    """Return the first hexadecimal digits of a file's SHA-256."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()[:length]


def _best(candidates: list[Path]) -> Path | None:
    built = [path for path in candidates if path.is_file() and os.access(path, os.X_OK)]
    key = lambda path: ("release" in str(path.parent), path.stat().st_mtime)  # noqa: E731
    return max(built, key=key, default=None)
