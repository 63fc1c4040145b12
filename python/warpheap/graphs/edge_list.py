# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists of edges, one per line, as published by SNAP and others, parsed by pandas.

The first two columns are node ids, separated by commas, tabs or spaces; further columns (times,
weights) are left out. Lines that start with '#' or '%' are comments, and the first line of a table
with commas may name the columns. Ids are not negative; they may start anywhere and have gaps: nodes
are numbered by rank.
"""

from __future__ import annotations

import io
from typing import NoReturn

import numpy as np
import pandas as pd

from warpheap.graphs.csr import Edges
from warpheap.graphs.errors import GraphError, quoted
from warpheap.graphs.files import Source
from warpheap.graphs.limits import MAX_ID, check_size, whole

_COMMENTS = ("#", "%")


def read(source: Source) -> Edges:
    """Read a list of edges."""
    first_line, first = next(
        ((n, text) for n, text in source.lines() if text.strip() and text[0] not in _COMMENTS),
        (1, ""),
    )
    if not first:
        raise GraphError(source.name, 1, "has no edges")
    comma = "," in first
    # A number such as -1 is not an id, but it does not name a column either.
    named = comma and not any(_is_id(word.replace("-", "")) for word in first.split(",")[:2])
    if named:
        first_line += 1
    check_size(source.name, None, 0, source.content.count(b"\n"))
    try:
        table = pd.read_csv(
            io.BytesIO(_without_comments(source.content)),
            sep="," if comma else r"\s+",
            header=0 if named else None,
            usecols=[0, 1],
            dtype=np.int64,
            skipinitialspace=comma,
            engine="c",
            on_bad_lines="error",
        )
    except MemoryError:
        raise
    except Exception as error:  # pandas raises many types, and few of its messages name the line
        _blame_line(source, first_line, comma, error)
    if table.empty:
        raise GraphError(source.name, 1, "has no edges")
    pairs = table.to_numpy()
    if (pairs < 0).any():
        _blame_line(source, first_line, comma, None)
    ids, ranks = np.unique(pairs, return_inverse=True)
    start, end = ranks.reshape(-1, 2).astype(np.int64).T
    return Edges(len(ids), start, end, first_line)


def _without_comments(content: bytes) -> bytes:
    """Drop comment lines; pandas only knows one comment character, which may be anywhere."""
    if not any(mark.encode() in content for mark in _COMMENTS):
        return content
    marks = tuple(mark.encode() for mark in _COMMENTS)
    return b"\n".join(line for line in content.split(b"\n") if not line.startswith(marks))


def _is_id(word: str) -> bool:
    number = whole(word.strip())
    return number is not None and number <= MAX_ID


def _blame_line(source: Source, first_line: int, comma: bool, error: Exception | None) -> NoReturn:
    """Find the first line that is not an edge."""
    for number, text in source.lines():
        if number < first_line or not text.strip() or text.startswith(_COMMENTS):
            continue
        words = text.split(",") if comma else text.split()
        if len(words) < 2:
            raise GraphError(
                source.name, number, f"expected two node ids: {quoted(text)}"
            ) from error
        for word in words[:2]:
            if not _is_id(word):
                reason = f"{quoted(word)} is not a node id (a whole number from 0 to {MAX_ID})"
                raise GraphError(source.name, number, reason) from error
    raise GraphError(source.name, None, f"cannot be read: {error}") from error
