# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error for a graph file that cannot be used."""

from __future__ import annotations

from warpheap.errors import UserError


class GraphError(UserError):
    """FILE:LINE: reason, or FILE: reason if no line is to blame. Lines count from 1."""

    def __init__(self, name: str, line: int | None, reason: str) -> None:
        where = name if line is None else f"{name}:{line}"
        super().__init__(f"{where}: {reason}")
        self.line = line


def quoted(text: str, limit: int = 60) -> str:
    """Quote a line, cut to a readable length."""
    text = text.strip()
    return repr(text if len(text) <= limit else text[:limit] + "…")
