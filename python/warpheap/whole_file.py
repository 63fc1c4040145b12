# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that appear complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """Open what becomes the file when the context ends, and is removed if that fails.

    Its name is this process's own, so that two processes may write the same file.
    """
    partial = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as out:
            yield out
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def write_text(file: Path, text: str) -> None:
    """Write a file's whole text."""
    with replacing(file) as out:
        out.write(text.encode())
