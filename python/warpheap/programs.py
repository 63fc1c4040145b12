# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the built programs that the tool drives, and the checkout that they come from."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from warpheap import __version__
from warpheap.errors import EXIT_FAILED, UserError

BACKENDS = ("cpu", "cuda")
VERIFY = "warpheap-verify"
BUILD_VARIABLE = "WARPHEAP_BUILD"


def bench_name(backend: str) -> str:
    """Name the benchmark program of a backend."""
    return f"warpheap-bench-{backend}"


def find(name: str, build_dir: Path | None = None) -> Path | None:
    """Find a built program, or give None.

    Looked at: ``build_dir``, or else $WARPHEAP_BUILD, or else the presets under build/ of this
    checkout and of the current folder, or else $PATH. Of several presets a release build wins
    (times of other builds mean nothing), and of several of those the newest program.
    """
    variable = os.environ.get(BUILD_VARIABLE)
    named = build_dir or (Path(variable) if variable else None)
    if named is not None:
        return _best([named / name, named / "bench" / name, *named.glob(f"*/bench/{name}")])
    roots = dict.fromkeys((Path.cwd(), checkout(Path(__file__).parent) or Path.cwd()))
    built = _best([path for root in roots for path in root.glob(f"build/*/bench/{name}")])
    if built is not None:
        return built
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None


def require(name: str, build_dir: Path | None = None) -> Path:
    """Find a built program or raise the error that says how to build it."""
    path = find(name, build_dir)
    if path is None:
        where = build_dir or os.environ.get(BUILD_VARIABLE) or "build/*/bench"
        raise UserError(
            f"{name} is not built (looked in {where}); "
            "'./dev survey' builds it, --build-dir names another build folder",
            EXIT_FAILED,
        )
    return path


def checkout(inside: Path) -> Path | None:
    """Give the root of the git checkout that holds a path, or None."""
    for folder in (inside, *inside.parents):
        if (folder / ".git").exists():
            return folder
    return None


@lru_cache
def revision(program: Path) -> str:
    """Say which source a program comes from, as far as can be known.

    The ``git describe`` of the checkout around the program or around this package; "-dirty." and
    the first digits of the program's digest are added if the checkout has changes, because then the
    commit alone does not tell two builds apart. Outside a checkout: the package's version.
    """
    root = checkout(program.resolve().parent) or checkout(Path(__file__).resolve().parent)
    if root is None:
        return f"v{__version__}"
    try:
        described = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--tags", "--abbrev=12", "--dirty"],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return f"v{__version__}"
    return f"{described}.{digest(program)}" if described.endswith("-dirty") else described


def digest(path: Path, length: int = 8) -> str:
    """Give the first hexadecimal digits of a file's SHA-256."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()[:length]


def _best(candidates: list[Path]) -> Path | None:
    built = [path for path in candidates if path.is_file() and os.access(path, os.X_OK)]
    key = lambda path: ("release" in str(path.parent), path.stat().st_mtime)  # noqa: E731
    return max(built, key=key, default=None)
