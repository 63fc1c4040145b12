# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens graph files: plain, .gz, .xz, and the one graph inside a .tar.gz. Nothing is unpacked."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from warpheap.graphs.errors import GraphError

# In a tarball the first of these groups that has a member decides.
_TAR_GROUPS = ((".mtx",), (".graph", ".metis"), (".txt", ".csv", ".tsv", ".edges", ".el"))
_DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError, tarfile.TarError)


@dataclass(frozen=True)
class Source:
    """The unpacked content of a graph file. ``name`` is for messages, ``inner_name`` has the
    suffix that tells the format."""

    name: str
    inner_name: str
    content: bytes

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line without its line break, and its number, counted from 1."""
        lines = self.content.decode("utf-8", errors="replace").split("\n")
        if not lines[-1]:
            lines.pop()  # nothing follows the last line feed
        return enumerate((line.rstrip("\r") for line in lines), start=1)


def open_graph(path: Path) -> Source:
    """Read a whole graph file into memory; raises GraphError if its compression is damaged."""
    name = path.name.lower()
    try:
        if name.endswith((".tar.gz", ".tgz", ".tar.xz")):
            return _from_tar(path)
        if name.endswith(".gz"):
            return _read(path, lambda: gzip.decompress(path.read_bytes()))
        if name.endswith(".xz"):
            return _read(path, lambda: lzma.decompress(path.read_bytes()))
    except PermissionError:
        raise
    except _DAMAGED as error:
        raise GraphError(str(path), None, f"damaged compressed file: {_reason(error)}") from error
    return Source(str(path), path.name, path.read_bytes())


def _reason(error: Exception) -> str:
    """Say in one line what is wrong; tarfile lists a reason for each of its methods."""
    if isinstance(error, tarfile.ReadError):
        return "not a readable tar archive"
    return (str(error).splitlines() or ["it ends too early"])[0]


def _read(path: Path, unpack: Callable[[], bytes]) -> Source:
    return Source(str(path), path.with_suffix("").name, unpack())


def _from_tar(path: Path) -> Source:
    with tarfile.open(path) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        chosen = _choose(path, [member.name for member in members])
        member = next(member for member in members if member.name == chosen)
        file = archive.extractfile(member)
        assert file is not None  # a regular file always has content
        return Source(f"{path}({chosen})", PurePosixPath(chosen).name, file.read())


def _choose(path: Path, names: list[str]) -> str:
    """Pick the graph of a tarball: the member named like the archive, or the only one."""
    stem = path.name.split(".tar")[0].removesuffix(".tgz")
    for suffixes in _TAR_GROUPS:
        group = [name for name in names if name.lower().endswith(suffixes)]
        named = [name for name in group if PurePosixPath(name).stem == stem]
        if len(named or group) == 1:
            return (named or group)[0]
        if group:
            raise GraphError(str(path), None, f"holds several graphs: {', '.join(group)}")
    raise GraphError(str(path), None, f"holds no graph; its members: {', '.join(names) or 'none'}")
