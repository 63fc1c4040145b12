# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the built programs that the tool drives, and the sources that they were built from."""

from __future__ import annotations

import hashlib
import os
import shutil
from functools import lru_cache
from pathlib import Path

from warpheap.console import warn
from warpheap.errors import EXIT_FAILED, UserError

BACKENDS = ("cpu", "cuda")
VERIFY = "warpheap-verify"
BUILD_VARIABLE = "WARPHEAP_BUILD"
_PACKAGE = Path(__file__).resolve().parent
_CLONE = "clone the repository of warpheap and run it there"
UNKNOWN = "unknown"  # the start of a commit that is not known
RECORD = ".revision"  # what the build adds to a program's name: see cmake/WarpheapRevision.cmake
_DIGITS = 8  # of a digest, as record_revision.cmake has it


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


def revision(program: Path) -> str:
    """Say which source a program was built from, as its build recorded it.

    That is the ``git describe`` of the checkout; "-dirty." and the first digits of the program's
    digest are added if the checkout had changes, because then the commit alone does not tell two
    builds apart. Outside a checkout: the version and the digest. Where git did not answer, or the
    record is not of this program: UNKNOWN and the digest, with a warning on standard error.
    """
    file = program.resolve()
    state = file.stat()
    return _revision(file, state.st_mtime_ns, state.st_size)


@lru_cache
def _revision(program: Path, _time: int, _size: int) -> str:
    """Look once at each build of a program: a survey asks for every row."""
    whole = digest(program, 64)
    record = program.with_name(program.name + RECORD)
    try:
        recorded, _, commit = record.read_text(encoding="utf-8").strip().partition(" ")
        reason = None if commit and recorded == whole else f"{record} is of another program"
    except FileNotFoundError:
        reason = f"{record} is missing"
    except (OSError, ValueError):
        reason = f"{record} cannot be read"
    if reason is None and not is_known(commit):
        reason = "git did not tell it to the build; 'warpheap doctor' says more"
    if reason is None:
        return commit
    warn(
        f"the commit that {program} was built from is unknown: {reason}. Rows say so, and no "
        "earlier row is reused. Remove the program and build it again"
    )
    return f"{UNKNOWN}.{whole[:_DIGITS]}"


def is_known(commit: str) -> bool:
    """Tell whether what revision() returned names a commit, so that a row of it may be reused."""
    return not commit.startswith(UNKNOWN)


def digest(path: Path, length: int = _DIGITS) -> str:
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
