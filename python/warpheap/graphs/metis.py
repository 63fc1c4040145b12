# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""METIS graph files (chapter 4.1.1 of the METIS 5 manual): one line per node, with its neighbours.

No maintained Python library reads the format, so this module does; NumPy converts the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpheap.graphs.csr import Edges, Indices
from warpheap.graphs.errors import GraphError, quoted
from warpheap.graphs.files import Source
from warpheap.graphs.limits import MAX_ID, check_size, whole


def read(source: Source) -> Edges:
    """Read a METIS graph; weights are skipped. Every edge must be listed by both of its nodes."""
    lines = ((n, text) for n, text in source.lines() if not text.lstrip().startswith("%"))
    header_line, header = next(((n, text) for n, text in lines if text.strip()), (1, ""))
    nodes, edges, skip, stride = _header(source, header_line, header)
    check_size(source.name, header_line, nodes, 0)
    lists: list[Indices] = []
    places: list[int] = []
    last = header_line
    for node in range(nodes):
        last, text = next(lines, (last, None))
        if text is None:
            raise GraphError(source.name, last, f"the file ends after {node} of {nodes} nodes")
        lists.append(_neighbours(source, last, text, nodes, skip, stride))
        places.append(last)
    _nothing_left(source, lines, nodes)
    degrees = np.array([len(entry) for entry in lists], dtype=np.int64)
    target = np.concatenate(lists) - 1 if lists else np.empty(0, np.int64)
    edge_source = np.repeat(np.arange(nodes, dtype=np.int64), degrees)
    _check_both_ends(source, edge_source, target, nodes, places)
    if len(target) != 2 * edges:
        raise GraphError(
            source.name,
            header_line,
            f"declares {edges} edges, that is {2 * edges} entries; the nodes list {len(target)}",
        )
    return Edges(nodes, edge_source, target, header_line)


def _check_both_ends(
    source: Source, start: Indices, end: Indices, nodes: int, places: list[int]
) -> None:
    """Refuse an edge that one of its nodes does not list. O(entries log entries)."""
    count = np.uint64(nodes)
    a, b = start.astype(np.uint64), end.astype(np.uint64)
    lonely = np.flatnonzero(~np.isin(a * count + b, b * count + a))
    if len(lonely):
        node, neighbour = int(start[lonely[0]]), int(end[lonely[0]])
        raise GraphError(
            source.name,
            places[node],
            f"the edge {node + 1} {neighbour + 1} is listed by node {node + 1} only; "
            f"node {neighbour + 1} (line {places[neighbour]}) must list it, too",
        )


def _header(source: Source, line: int, text: str) -> tuple[int, int, int, int]:
    """Parse 'nodes edges [fmt [ncon]]'; fmt has a digit for node sizes, node weights, edge weights.

    Gives nodes, edges, how many numbers of a line precede its neighbours, and numbers a neighbour.
    """
    words = text.split()
    numbers = [number for number in map(whole, words) if number is not None]
    if not 2 <= len(words) <= 4 or len(numbers) != len(words):
        raise GraphError(source.name, line, f"expected 'nodes edges [fmt [ncon]]': {quoted(text)}")
    weights = words[2].zfill(3) if len(words) > 2 else "000"
    if len(weights) != 3 or set(weights) - {"0", "1"}:
        raise GraphError(source.name, line, f"fmt must be three digits 0 or 1, not {words[2]}")
    constraints = numbers[3] if len(numbers) > 3 else 1
    skip = int(weights[0]) + int(weights[1]) * constraints
    return numbers[0], numbers[1], skip, 1 + int(weights[2])


def _neighbours(
    source: Source, line: int, text: str, nodes: int, skip: int, stride: int
) -> Indices:
    words = text.split()
    try:
        numbers = np.array(words, dtype=np.int64)
    except (ValueError, OverflowError) as error:
        bad = next((word for word in words if not _is_number(word)), text)
        reason = f"{quoted(bad)} is not a whole number up to {MAX_ID}"
        raise GraphError(source.name, line, reason) from error
    if len(numbers) < skip or (len(numbers) - skip) % stride:
        raise GraphError(
            source.name,
            line,
            f"{len(numbers)} numbers do not fit fmt: {skip} for the node, then {stride} an edge",
        )
    neighbours = numbers[skip::stride]
    outside = neighbours[(neighbours < 1) | (neighbours > nodes)]
    if len(outside):
        raise GraphError(source.name, line, f"neighbour {outside[0]} is not within 1..{nodes}")
    return neighbours


def _is_number(word: str) -> bool:
    number = whole(word.removeprefix("-"))
    return number is not None and number <= MAX_ID


def _nothing_left(source: Source, lines: Iterator[tuple[int, str]], nodes: int) -> None:
    for line, text in lines:
        if text.strip():
            raise GraphError(source.name, line, f"more lines than the {nodes} nodes declared")
