# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graph files of the common formats, read into the CSR form that the benchmarks take.

``load`` is the way in; ``files`` opens what is compressed, one module reads one format.
"""

from __future__ import annotations

from pathlib import Path

from warpheap.errors import UserError
from warpheap.graphs import csr, edge_list, files, matrix_market, metis
from warpheap.graphs.csr import Graph
from warpheap.graphs.errors import GraphError

__all__ = ["Graph", "GraphError", "load", "shipped"]

_DATA = Path(__file__).resolve().parent.parent / "data"
_READERS = {".mtx": matrix_market.read, ".graph": metis.read, ".metis": metis.read}
_BANNER = b"%%MatrixMarket"


def shipped() -> list[Path]:
    """Give the graph files that come with the package."""
    return sorted(_DATA.glob("*.mtx"))


def load(path: Path, csr_folder: Path) -> Graph:
    """Read a graph file of any known format and write it as CSR into a folder.

    A name that is no file but that of a shipped graph (``email.mtx``) means that one. Known are
    Matrix Market (.mtx), METIS (.graph, .metis) and lists of edges (anything else), each plain or
    as .gz or .xz, or alone of its kind in a .tar.gz. Raises GraphError (FILE:LINE: reason) if the
    content is malformed. O(entries log entries) time, O(entries) memory.
    """
    if not path.is_file():
        by_name = {file.name: file for file in shipped()}
        if path.name != str(path) or path.name not in by_name:
            known = ", ".join(by_name)
            raise UserError(f"graph {path}: there is no such file; shipped graphs: {known}")
        path = by_name[path.name]
    source = files.open_graph(path)
    suffix = Path(source.inner_name).suffix.lower()
    reader = _READERS.get(suffix)
    if reader is None:
        reader = matrix_market.read if source.content.startswith(_BANNER) else edge_list.read
    return csr.build(path, source.content, reader(source), csr_folder)
