# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How large a graph may be, checked before memory is allocated for what a file claims."""

from __future__ import annotations

import os

from warpheap.graphs.errors import GraphError

MAX_NODES = 2**32  # the CSR file's neighbours are u32
MAX_ID = 2**63 - 1  # of a list of edges, whose nodes are numbered anew
_MAX_DIGITS = 100  # of a number that is read at all; Python refuses those of thousands of digits
# What the readers and the CSR file need at their peak, a node and an entry, in bytes.
_NODE_BYTES, _ENTRY_BYTES = 24, 80


def whole(word: str) -> int | None:
    """Read a whole number without a sign; None for any other word."""
    plain = word.isascii() and word.isdigit() and len(word) <= _MAX_DIGITS
    return int(word) if plain else None


def memory_bytes() -> int:
    """Return the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_size(name: str, line: int | None, nodes: int, entries: int) -> None:
    """Refuse a graph whose nodes cannot be numbered or that exceeds this machine's memory."""
    if nodes > MAX_NODES:
        raise GraphError(name, line, f"{nodes} nodes; at most {MAX_NODES} can be used")
    needed = _NODE_BYTES * nodes + _ENTRY_BYTES * entries
    there = memory_bytes()
    if needed > there:
        counts = f"{nodes} nodes and {entries} entries" if entries else f"{nodes} nodes"
        reason = f"{counts} need {needed} bytes of memory to be read"
        raise GraphError(name, line, f"{reason}; this machine has {there}")
