# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The CSR file that is handed to the benchmark programs.

Little endian: 8 bytes magic, u64 nodes, u64 entries, u64 offsets[nodes + 1],
u32 neighbours[entries] of the undirected simple graph: loops and duplicates dropped, both
directions stored, the neighbours of a node in ascending order.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from warpheap.errors import encodable
from warpheap.graphs.errors import GraphError
from warpheap.graphs.files import Source
from warpheap.graphs.limits import check_size
from warpheap.whole_file import replacing

MAGIC = b"WHCSR\0\0\1"

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Edges:
    """The entries of a graph file: node counts from 0, any direction, loops and repeats allowed.

    ``line`` is the one to blame if there are too few of them, or too many.
    """

    nodes: int
    source: Indices
    target: Indices
    line: int | None = None


@dataclass(frozen=True)
class Graph:
    """A graph ready for a benchmark. ``edges`` counts undirected edges once.

    ``file`` names the graph's file so that ``--graph`` finds it from any folder.
    """

    name: str
    file: str
    digest: str
    nodes: int
    edges: int
    csr_file: Path = field(repr=False)


def build(file: str, source: Source, edges: Edges, folder: Path) -> Graph:
    """Write a graph's CSR file into a folder; its name is the graph's and its content's digest."""
    check_size(source.name, edges.line, edges.nodes, len(edges.source))
    offsets, neighbours = simple_undirected(edges)
    if not len(neighbours):
        reason = "the graph has no edges (loops do not count); at least 1 is needed"
        raise GraphError(source.name, edges.line, reason)
    digest = hashlib.sha256(source.content).hexdigest()[:16]
    name = encodable(Path(file).name.split(".")[0])
    folder.mkdir(parents=True, exist_ok=True)
    csr_file = folder / f"{name}-{digest}.csr"
    write(csr_file, offsets, neighbours)
    return Graph(name, file, digest, edges.nodes, len(neighbours) // 2, csr_file)


def simple_undirected(edges: Edges) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Return offsets and neighbours of the undirected simple graph. O(entries log entries)."""
    proper = edges.source != edges.target
    a, b = edges.source[proper], edges.target[proper]
    row, column = np.concatenate((a, b)), np.concatenate((b, a))
    shape = (edges.nodes, edges.nodes)
    # SciPy sums duplicates on the way to CSR; only the pattern is used after that.
    matrix = sparse.coo_matrix((np.ones(len(row), dtype=np.int8), (row, column)), shape=shape)
    compressed = matrix.tocsr()
    compressed.sort_indices()
    return compressed.indptr.astype(np.uint64), compressed.indices.astype(np.uint32)


def write(file: Path, offsets: npt.NDArray[np.uint64], neighbours: npt.NDArray[np.uint32]) -> None:
    """Write a CSR file; the file appears complete or not at all."""
    with replacing(file) as out:
        out.write(MAGIC)
        np.array([len(offsets) - 1, len(neighbours)], dtype="<u8").tofile(out)
        offsets.astype("<u8").tofile(out)
        neighbours.astype("<u4").tofile(out)


def read(file: Path) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Read a CSR file back: offsets and neighbours. Raises GraphError if it is not one."""
    content = file.read_bytes()
    if not content.startswith(MAGIC) or len(content) < 24:
        raise GraphError(str(file), None, "is not a CSR file of warpheap")
    nodes, entries = (int(value) for value in np.frombuffer(content, "<u8", count=2, offset=8))
    expected = 24 + 8 * (nodes + 1) + 4 * entries
    if len(content) != expected:
        raise GraphError(str(file), None, f"has {len(content)} bytes, its header needs {expected}")
    offsets = np.frombuffer(content, "<u8", count=nodes + 1, offset=24)
    neighbours = np.frombuffer(content, "<u4", count=entries, offset=24 + 8 * (nodes + 1))
    return offsets, neighbours
