# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix Market files, parsed by SciPy. An entry of a square matrix is an edge."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from typing import NoReturn

import numpy as np
from scipy import io as scipy_io

from warpheap.graphs.csr import Edges
from warpheap.graphs.errors import GraphError, quoted
from warpheap.graphs.files import Source
from warpheap.graphs.limits import check_size, whole

_BANNER = ("%%matrixmarket", "matrix")
_VALUES = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}
_LEAST_ENTRY_BYTES = 4  # "1 1" and the line's end
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
# SciPy 1.15 and newer want to be told which of its two sparse classes to give.
_OPTIONS = {"spmatrix": False} if "spmatrix" in signature(scipy_io.mmread).parameters else {}


@dataclass(frozen=True)
class _Header:
    size_line: int
    nodes: int
    entries: int
    fields: int  # of an entry: row, column and the value's parts


def read(source: Source) -> Edges:
    """Read a coordinate matrix of any field and symmetry; every stored entry is an edge."""
    header = _header(source)
    if header.entries * _LEAST_ENTRY_BYTES > len(source.content):
        _blame_entry(source, header)  # SciPy would take the memory first
    check_size(source.name, header.size_line, header.nodes, header.entries)
    try:
        entries = scipy_io.mmread(io.BytesIO(source.content), **_OPTIONS).tocoo()
    except MemoryError:
        raise
    except Exception as error:  # SciPy's readers raise different types in different versions
        _blame_entry(source, header, error)
    rows, columns = entries.row.astype(np.int64), entries.col.astype(np.int64)
    return Edges(header.nodes, rows, columns, header.size_line)


def _header(source: Source) -> _Header:
    """Check the banner and the size line, which SciPy's readers do not all check alike."""
    lines = _content(source)
    number, banner = next(source.lines(), (1, ""))
    words = banner.lower().split()
    if len(words) != 5 or tuple(words[:2]) != _BANNER:
        raise GraphError(source.name, number, f"{quoted(banner)} is not a Matrix Market banner")
    if words[2] != "coordinate":
        reason = f"a graph needs a 'coordinate' matrix, not {words[2]!r}"
        raise GraphError(source.name, number, reason)
    if words[3] not in _VALUES or words[4] not in _SYMMETRIES:
        raise GraphError(source.name, number, f"unknown field or symmetry: {quoted(banner)}")
    number, size = next(lines, (number, []))
    counts = [count for count in map(whole, size) if count is not None]
    if len(size) != 3 or len(counts) != 3:
        reason = f"expected 'rows columns entries': {quoted(' '.join(size))}"
        raise GraphError(source.name, number, reason)
    rows, columns, entries = counts
    if rows != columns:
        reason = f"the matrix is {rows} x {columns}; the adjacency matrix of a graph is square"
        raise GraphError(source.name, number, reason)
    return _Header(number, rows, entries, 2 + _VALUES[words[3]])


def _content(source: Source) -> Iterator[tuple[int, list[str]]]:
    lines = source.lines()
    return ((n, line.split()) for n, line in lines if line.strip() and not line.startswith("%"))


def _blame_entry(source: Source, header: _Header, error: Exception | None = None) -> NoReturn:
    """Find the first entry that breaks the format; SciPy's message does not always name it."""
    found, number = 0, header.size_line
    for number, entry in _content(source):
        if number == header.size_line:
            continue
        found += 1
        reason = _fault(entry, header)
        if found > header.entries:
            reason = f"more entries than the {header.entries} that the size line declares"
        if reason:
            raise GraphError(source.name, number, reason) from error
    if found < header.entries:
        reason = f"the file ends after {found} of {header.entries} entries"
        raise GraphError(source.name, number, reason) from error
    raise GraphError(source.name, None, f"cannot be read: {error}") from error


def _fault(entry: list[str], header: _Header) -> str | None:
    """Say what is wrong with an entry, or return None."""
    text = quoted(" ".join(entry))
    if len(entry) != header.fields:
        return f"expected {header.fields} fields, found {len(entry)}: {text}"
    for word, axis in zip(entry, ("row", "column"), strict=False):
        index = whole(word)
        if index is None:
            return f"the {axis} is not a whole number: {text}"
        if not 1 <= index <= header.nodes:
            return f"the {axis} {word} is not within 1..{header.nodes}: {text}"
    for word in entry[2:]:
        try:
            float(word)
        except ValueError:
            return f"the value is not a number: {text}"
    return None
