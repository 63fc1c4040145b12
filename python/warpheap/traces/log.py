# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RMM's log format: ``Thread,Time,Action,Pointer,Size,Stream``, plain, .gz or .xz."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from warpheap.errors import UserError
from warpheap.traces.model import Trace

HEADER = "Thread,Time,Action,Pointer,Size,Stream"
_FIELDS = HEADER.count(",") + 1
_FAILURE = "allocate failure"


def read(path: Path) -> Trace:
    """Read a log; raises UserError with file, line and reason if it is malformed.

    Failed requests are left out, as are frees of memory that the log did not allocate: a log may
    begin after its program did. Their number is ``unmatched_frees``.
    """
    operations: list[int] = []
    streams: list[int] = []
    live: dict[str, int] = {}
    asked = unmatched = 0
    for number, line in _lines(path):
        fields = line.split(",")
        if len(fields) != _FIELDS:
            raise _bad(path, number, f"{len(fields)} fields, {_FIELDS} are expected ({HEADER})")
        _, _, action, where, size, stream = fields
        if action == "allocate":
            if where in live and _number(where) != 0:
                raise _bad(path, number, f"{where} is allocated, and it is in use already")
            operations.append(_count(path, number, size))
            live[where] = asked
            asked += 1
        elif action == "free":
            block = live.pop(where, None)
            if block is None:
                unmatched += 1
                continue
            operations.append(-1 - block)
        elif action == _FAILURE:
            continue
        else:
            raise _bad(path, number, f"unknown action '{action}'")
        streams.append(_stream(path, number, stream))
    if not operations:
        raise UserError(f"{path}: no allocation in it")
    return Trace(
        _stem(path),
        np.array(operations, dtype=np.int64),
        np.array(streams, dtype=np.uint64),
        unmatched_frees=unmatched,
    )


def write(trace: Trace, path: Path) -> None:
    """Write a trace; each block has an address of its own, and the time is the event's number."""
    sizes = trace.operations[trace.asks]
    asked = 0
    with _open(path, "wt") as file:
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
    try:
        with _open(path, "rt") as file:
            for number, line in enumerate(file, start=1):
                text = line.rstrip("\r\n")
                if number == 1:
                    if text.replace(" ", "") != HEADER:
                        raise _bad(path, 1, f"the header '{HEADER}' is expected")
                elif text:
                    yield number, text
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise UserError(f"{path}: damaged compressed file: {error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a text file: {error.reason}") from error


def _open(path: Path, mode: str) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, mode, encoding="utf-8")  # type: ignore[return-value]
    if path.suffix == ".xz":
        return lzma.open(path, mode, encoding="utf-8")  # type: ignore[return-value]
    return path.open(mode.rstrip("t"), encoding="utf-8")


def _stem(path: Path) -> str:
    name = path.name
    for suffix in (".gz", ".xz", ".csv", ".txt", ".log"):
        name = name.removesuffix(suffix)
    return name


def _bad(path: Path, number: int, reason: str) -> UserError:
    return UserError(f"{path}:{number}: {reason}")


def _number(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:  # "(nil)"
        return 0


def _count(path: Path, number: int, text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 63:
        raise _bad(path, number, f"'{text}' is no size in bytes")
    return int(text)


def _stream(path: Path, number: int, text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise _bad(path, number, f"'{text}' is no stream") from None
