# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix Market files, parsed by SciPy. An entry of a square matrix is an edge."""

from __future__ import annotations

import io
from typing import NoReturn

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from warpheap.graphs.csr import Edges
from warpheap.graphs.errors import GraphError, quoted
from warpheap.graphs.files import Source

_BANNER = "%%matrixmarket"
_VALUES = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read(source: Source) -> Edges:
    """Read a coordinate matrix of any field and symmetry; every stored entry is an edge."""
    try:
        matrix = scipy_io.mmread(io.BytesIO(source.content))
    except Exception as error:  # SciPy's readers raise different types in different versions
        _blame_line(source, error)
    if not sparse.issparse(matrix):
        raise GraphError(source.name, 1, "a dense 'array' matrix; a graph needs 'coordinate'")
    if matrix.shape[0] != matrix.shape[1]:
        rows, columns = matrix.shape
        reason = f"the matrix is {rows} x {columns}; the adjacency matrix of a graph is square"
        raise GraphError(source.name, _size_line(source), reason)
    entries = matrix.tocoo()
    source_ids = entries.row.astype(np.int64)
    return Edges(int(matrix.shape[0]), source_ids, entries.col.astype(np.int64))


def _size_line(source: Source) -> int:
    return next((n for n, line in source.lines() if line.strip() and not line.startswith("%")), 1)


def _blame_line(source: Source, error: Exception) -> NoReturn:
    """Find the first line that breaks the format; SciPy's own message does not always name it."""

    def fail(line: int, reason: str) -> NoReturn:
        raise GraphError(source.name, line, reason) from error

    lines = source.lines()
    number, banner = next(lines)
    words = banner.lower().split()
    if len(words) != 5 or words[0] != _BANNER or words[1] != "matrix":
        fail(number, f"no Matrix Market banner: {quoted(banner)}")
    if words[3] not in _VALUES or words[4] not in _SYMMETRIES:
        fail(number, f"unknown field or symmetry: {quoted(banner)}")
    if words[2] != "coordinate":
        fail(number, f"a graph needs 'coordinate', not {words[2]!r}")
    content = ((n, line.split()) for n, line in lines if line.strip() and not line.startswith("%"))
    number, size = next(content, (number, []))
    if len(size) != 3 or not all(word.isdigit() for word in size):
        fail(number, f"expected 'rows columns entries': {quoted(' '.join(size))}")
    rows, columns, declared = (int(word) for word in size)
    fields, found = 2 + _VALUES[words[3]], 0
    for number, entry in content:
        found += 1
        if found > declared:
            fail(number, f"more entries than the {declared} that the size line declares")
        reason = _fault(entry, fields, (rows, columns))
        if reason:
            fail(number, f"{reason}: {quoted(' '.join(entry))}")
    if found < declared:
        fail(number, f"the file ends after {found} of {declared} entries")
    fail(1, f"cannot be read: {error}")


def _fault(entry: list[str], fields: int, shape: tuple[int, int]) -> str | None:
    """Say what is wrong with an entry, or give None."""
    if len(entry) != fields:
        return f"expected {fields} fields, found {len(entry)}"
    for word, limit, axis in zip(entry, shape, ("row", "column"), strict=False):
        if not word.lstrip("+-").isdigit():
            return f"the {axis} is no whole number"
        if not 1 <= int(word) <= limit:
            return f"the {axis} {word} is not within 1..{limit}"
    for word in entry[2:]:
        try:
            float(word)
        except ValueError:
            return "the value is no number"
    return None
