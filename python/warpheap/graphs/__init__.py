# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graph files of the common formats, read into the CSR form that the benchmarks take.

``load`` is the way in; ``files`` opens what is compressed, one module reads one format.
"""

from __future__ import annotations

from pathlib import Path

from warpheap.errors import UserError
from warpheap.graphs import csr, edge_list, files, limits, matrix_market, metis
from warpheap.graphs.csr import Graph
from warpheap.graphs.errors import GraphError

__all__ = ["Graph", "GraphError", "load", "shipped"]

_DATA = Path(__file__).resolve().parent.parent / "data"
_READERS = {".mtx": matrix_market.read, ".graph": metis.read, ".metis": metis.read}
_BANNER = b"%%MatrixMarket"


def shipped() -> list[Path]:
    """Return the graph files that come with the package."""
    return sorted(_DATA.glob("*.mtx"))


def load(path: Path, csr_folder: Path, folder_flag: str = "--csr-dir") -> Graph:
    """Read a graph file of any known format and write it as CSR into a folder.

    The name of a shipped graph (``email.mtx`` or ``email``) means that one, unless a file has it.
    Known are Matrix Market (.mtx), METIS (.graph, .metis) and lists of edges (anything else), each
    plain or as .gz or .xz, or alone of its kind in a .tar.gz. Raises GraphError (FILE:LINE: reason)
    if the content is malformed or too large, and UserError with ``folder_flag``, which chooses the
    folder, if that cannot be written. O(entries log entries) time, O(entries) memory.
    """
    path = _find(path)
    source = files.open_graph(path)
    suffix = Path(source.inner_name).suffix.lower()
    reader = _READERS.get(suffix)
    if reader is None:
        reader = matrix_market.read if source.content.startswith(_BANNER) else edge_list.read
    file = path.name if path.resolve().parent == _DATA else str(path.absolute())
    try:
        edges = reader(source)
        return csr.build(file, source, edges, csr_folder)
    except MemoryError:
        reason = f"does not fit into the memory of this machine, {limits.memory_bytes()} bytes"
        raise GraphError(source.name, None, reason) from None
    except OSError as error:
        raise UserError(
            f"{csr_folder.absolute()}: {error.strerror}; converted graphs are written there, "
            f"{folder_flag} names another folder"
        ) from error


def _find(path: Path) -> Path:
    """Return the file with this path, or the shipped graph with this name."""
    if path.is_file():
        return path
    if path.is_dir():
        raise UserError(f"graph {path}: is a folder; a file is needed")
    if path.exists():
        raise UserError(f"graph {path}: is not a regular file")
    for file in shipped():
        if str(path) in (file.name, file.stem):
            return file
    known = ", ".join(file.name for file in shipped())
    raise UserError(f"graph {path}: there is no such file; shipped graphs: {known}")
