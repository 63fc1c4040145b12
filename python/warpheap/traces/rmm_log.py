# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RMM's log format: ``Thread,Time,Action,Pointer,Size,Stream``, plain, .gz or .xz."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from warpheap.errors import UserError
from warpheap.traces.trace import Trace

HEADER = "Thread,Time,Action,Pointer,Size,Stream"
_FIELDS = HEADER.count(",") + 1
_FAILURE = "allocate failure"
_HEXADECIMAL = re.compile(r"(0[xX])?[0-9a-fA-F]{1,16}")


def read(path: Path) -> Trace:
    """Read a log; raises UserError with file, line and reason if it is malformed.

    Failed requests are left out, as are frees of null, and of memory that the log never allocated:
    a log may begin after its program did. The number of the latter is ``unmatched_frees``. A block
    that is freed twice, or with another size than it was allocated with, is an error.
    """
    operations: list[int] = []
    streams: list[int] = []
    # The number of the live allocation at an address, or None once it is freed; and its size.
    known: dict[int, tuple[int | None, int]] = {}
    asked = unmatched = 0
    for number, line in _lines(path):
        fields = line.split(",")
        if len(fields) != _FIELDS:
            raise _bad(path, number, f"{len(fields)} fields; {_FIELDS} are expected ({HEADER})")
        _, _, action, where, amount, queue = fields
        address = _word(path, number, where, "pointer")
        size = _count(path, number, amount)
        stream = _word(path, number, queue, "stream")
        block, allocated = known.get(address, (None, 0))
        if action == "allocate":
            if block is not None and address != 0:
                raise _bad(path, number, f"{where} is allocated, but it is in use already")
            known[address] = (asked, size)
            operations.append(size)
            asked += 1
        elif action == "free":
            if block is None and address == 0:
                continue
            if address not in known:
                unmatched += 1
                # A second free of it is one too many, whenever it was allocated.
                known[address] = (None, 0)
                continue
            if block is None:
                raise _bad(path, number, f"{where} is freed a second time")
            if size != allocated:
                reason = (
                    f"{where} is freed with {size} bytes, but it was allocated with {allocated}"
                )
                raise _bad(path, number, reason)
            known[address] = (None, 0)
            operations.append(-1 - block)
        elif action == _FAILURE:
            continue
        else:
            raise _bad(path, number, f"unknown action '{action}'")
        streams.append(stream)
    if not operations:
        raise UserError(f"{path}: the log has no allocation")
    return Trace(
        _stem(path),
        np.array(operations, dtype=np.int64),
        np.array(streams, dtype=np.uint64),
        unmatched_frees=unmatched,
    )


def write(trace: Trace, path: Path) -> None:
    """Write a trace; each block has a unique address, and the time is the event's number."""
    sizes = trace.operations[trace.asks]
    asked = 0
    with _create(path) as file:
        file.write(HEADER + "\n")
        for event, (operation, stream) in enumerate(
            zip(trace.operations.tolist(), trace.streams.tolist(), strict=True)
        ):
            if operation >= 0:
                action, block = "allocate", asked
                asked += 1
            else:
                action, block = "free", -1 - operation
            seconds, micros = divmod(event, 1_000_000)
            time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}"
            where = (block + 1) << 8
            name = f"{stream:#x}" if stream else "0"
            file.write(f"0,{time},{action},{where:#x},{sizes[block]},{name}\n")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    # A byte that is not text stays visible, so that the error names its line.
    text = _content(path).decode(errors="backslashreplace")
    for number, line in enumerate(io.StringIO(text), start=1):
        content = line.rstrip("\r\n")
        if number == 1:
            if content.replace(" ", "") != HEADER:
                raise _bad(path, 1, f"the header '{HEADER}' is expected")
        elif content:
            yield number, content


def _unpack_xz(stored: bytes) -> bytes:
    """Unpack all streams. ``lzma.decompress`` ends in silence where the next one does not parse."""
    parts = []
    rest = stored
    while rest:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        parts.append(stream.decompress(rest))
        if not stream.eof:
            raise EOFError("it ends within a stream")
        behind = stream.unused_data
        rest = behind.lstrip(b"\0")
        padding = len(behind) - len(rest)
        if padding % 4 != 0:
            raise lzma.LZMAError(f"{padding} zeros after a stream; a multiple of 4 is expected")
    return b"".join(parts)


_DECOMPRESS = {".gz": gzip.decompress, ".xz": _unpack_xz}


def _content(path: Path) -> bytes:
    """Return all bytes of a file; an archive is unpacked completely before a line of it is read."""
    stored = path.read_bytes()
    decompress = _DECOMPRESS.get(path.suffix)
    if decompress is None:
        return stored
    if not stored:
        raise UserError(f"{path}: damaged compressed file: it is empty")
    try:
        return decompress(stored)
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise UserError(f"{path}: damaged compressed file: {error}") from error


def _create(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "wt", encoding="utf-8")
    if path.suffix == ".xz":
        return lzma.open(path, "wt", encoding="utf-8")
    return path.open("w", encoding="utf-8")


def _stem(path: Path) -> str:
    name = path.name
    for suffix in (".gz", ".xz", ".csv", ".txt", ".log"):
        name = name.removesuffix(suffix)
    return name


def _bad(path: Path, number: int, reason: str) -> UserError:
    return UserError(f"{path}:{number}: {reason}")


def _word(path: Path, number: int, text: str, what: str) -> int:
    text = text.strip()
    if text == "(nil)":  # what printf writes for null
        return 0
    if not _HEXADECIMAL.fullmatch(text):
        raise _bad(path, number, f"'{text}' is not a {what}")
    return int(text, 16)


def _count(path: Path, number: int, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) >= 1 << 63:
        raise _bad(path, number, f"'{text}' is not a size in bytes")
    return int(text)
