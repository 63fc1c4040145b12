# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads the shared library of the pools, and calls it through ctypes: no compiler, no framework."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64
from ctypes import c_void_p as pointer
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

LIBRARY_VARIABLE = "WARPHEAP_LIBRARY"
LIBRARY_NAME = "libwarpheap_c.so"
_SANITIZED = ("asan", "tsan")

OK, OUT_OF_MEMORY, INVALID_ARGUMENT = 0, 1, 2
NO_STREAM = ctypes.c_size_t(-1).value


class Options(ctypes.Structure):
    """``warpheap_pool_options``: sizes in bytes, 0 means the default."""

    _fields_: ClassVar = [
        ("initial_bytes", c_size_t),
        ("limit_bytes", c_size_t),
        ("region_bytes", c_size_t),
        ("granule_bytes", c_size_t),
        ("spare_percent", c_size_t),
        ("parts", c_size_t),
    ]


@dataclass(frozen=True)
class Stats:
    """The statistics of a pool: ``warpheap_pool_stats`` of host/c/pool_stats.h, field by field."""

    bytes_in_use: int
    peak_bytes: int
    blocks: int
    peak_blocks: int
    allocations: int
    deallocations: int
    failures: int
    last_failed_bytes: int
    reserved_bytes: int
    peak_reserved_bytes: int
    regions: int
    pending_bytes: int
    pending_blocks: int
    moved_bytes: int


STATS = tuple(field.name for field in fields(Stats))


class PoolStats(ctypes.Structure):
    """``warpheap_pool_stats``."""

    _fields_: ClassVar = [(name, c_uint64) for name in STATS]


class TraceView(ctypes.Structure):
    """``warpheap_trace``."""

    _fields_: ClassVar = [
        ("operations", POINTER(c_int64)),
        ("streams", POINTER(c_uint64)),
        ("count", c_size_t),
    ]


class ReplayResult(ctypes.Structure):
    """``warpheap_replay_result``."""

    _fields_: ClassVar = [
        ("wall_ns", c_uint64),
        ("cpu_ns", c_uint64),
        ("failures", c_uint64),
        ("peak_bytes", c_uint64),
        ("span_bytes", c_uint64),
        ("clock_overhead_ns", c_double),
    ]


TIMELINE = (
    "event",
    "bytes_in_use",
    "reserved_bytes",
    "free_bytes",
    "largest_free_bytes",
    "free_blocks",
)


class TimelinePoint(ctypes.Structure):
    """``warpheap_timeline_point``."""

    _fields_: ClassVar = [(name, c_uint64) for name in TIMELINE]


_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "warpheap_last_error": (c_char_p, []),
    "warpheap_pool_names": (c_char_p, []),
    "warpheap_upstream_names": (c_char_p, []),
    "warpheap_pool_create": (
        c_int,
        [c_char_p, c_char_p, c_int, POINTER(Options), POINTER(pointer)],
    ),
    "warpheap_pool_destroy": (None, [pointer]),
    "warpheap_pool_allocate": (c_int, [pointer, c_size_t, c_size_t, c_size_t, POINTER(pointer)]),
    "warpheap_pool_deallocate": (c_int, [pointer, pointer, c_size_t]),
    "warpheap_pool_truncate": (c_int, [pointer, pointer, c_size_t, POINTER(c_size_t)]),
    "warpheap_pool_usable_bytes": (c_size_t, [pointer, pointer]),
    "warpheap_pool_get_stats": (None, [pointer, POINTER(PoolStats)]),
    "warpheap_pool_trim": (c_size_t, [pointer, c_size_t]),
    "warpheap_pool_check": (c_int, [pointer]),
    "warpheap_replay": (
        c_int,
        [pointer, POINTER(TraceView), c_int, POINTER(c_uint32), POINTER(ReplayResult)],
    ),
    "warpheap_replay_timeline": (
        c_int,
        [pointer, POINTER(TraceView), c_size_t, POINTER(TimelinePoint)],
    ),
    "warpheap_replay_threads": (
        c_int,
        [pointer, POINTER(TraceView), c_size_t, POINTER(c_uint64), POINTER(c_uint64)],
    ),
    "warpheap_pool_allocate_quickly": (c_size_t, [pointer, c_size_t, c_size_t, c_size_t]),
    "warpheap_pool_deallocate_quickly": (c_int, [pointer, c_size_t, c_size_t]),
    "warpheap_torch_use": (c_int, [c_int, pointer]),
}


LARGEST_SIZE = ctypes.c_size_t(-1).value


def size(name: str, value: int) -> int:
    """Check a number of bytes; raises ValueError: ctypes would take the value modulo 2^64."""
    if not 0 <= value <= LARGEST_SIZE:
        raise ValueError(f"{name} is {value}: a number from 0 to {LARGEST_SIZE} is needed")
    return value


def text(name: str, value: str) -> bytes:
    """Encode a name for C; raises ValueError if C would take it to end before it does."""
    if "\0" in value:
        raise ValueError(f"{name} is {value!r}: a name must not contain a null character")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {value!r}: a name must be valid UTF-8") from None


class LibraryMissing(RuntimeError):  # noqa: N818  it is a state of the installation, not a fault
    """The shared library was not found or does not load; the message says how to get it."""


def find() -> Path | None:
    """Find the library: $WARPHEAP_LIBRARY, or beside this file, or the newest under build/.

    A CUDA build of the checkout wins over a release build, and that over its other builds; those
    with a sanitizer do not load into Python.
    """
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        return Path(named)
    here = Path(__file__).resolve().parent
    if (here / LIBRARY_NAME).exists():
        return here / LIBRARY_NAME
    built = (
        file
        for file in here.parent.parent.glob(f"build/*/src/{LIBRARY_NAME}")
        if not file.parent.parent.name.endswith(_SANITIZED)
    )

    def worth(file: Path) -> tuple[bool, bool, float]:
        preset = file.parent.parent.name
        return "cuda" in preset, "release" in preset, file.stat().st_mtime

    return max(built, key=worth, default=None)


@cache
def library() -> ctypes.CDLL:
    """Load the library once; raises LibraryMissing."""
    path = find()
    if path is None:
        raise LibraryMissing(
            f"{LIBRARY_NAME} was not found; {LIBRARY_VARIABLE} names one that is elsewhere. In a "
            "checkout 'cmake --preset cpu-release && cmake --build build/cpu-release --target "
            "warpheap_c' builds it (preset cuda-release with the CUDA toolkit); an installation "
            "always has it"
        )
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryMissing(f"{path} does not load: {error}") from error
    declared: ctypes.CDLL = _declared(loaded)
    return declared


def _declared(loaded: Any) -> Any:
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def quick(name: str) -> Any:
    """Return a function of the library that keeps Python's lock: it must not wait for anything.

    To give the lock up and take it again costs more than such a function, and wakes other threads
    for nothing.
    """
    return getattr(_keeping_the_lock(), name)


@cache
def _keeping_the_lock() -> Any:
    return _declared(ctypes.PyDLL(str(path())))


def path() -> Path:
    """Return the path of the loaded library, for frameworks that load it themselves."""
    library()
    found = find()
    assert found is not None
    return found.resolve()


def last_error() -> str:
    """Return the message of this thread's last call that failed."""
    text: bytes = library().warpheap_last_error()
    return text.decode()


def expect(status: int) -> None:
    """Turn a status into an exception: MemoryError, ValueError or RuntimeError."""
    if status == OK:
        return
    kinds = {OUT_OF_MEMORY: MemoryError, INVALID_ARGUMENT: ValueError}
    raise kinds.get(status, RuntimeError)(last_error())
