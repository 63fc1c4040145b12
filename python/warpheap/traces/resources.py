# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a trace can be replayed on: our pools, the driver's allocators, and RMM's if it is there.

A resource is made for one replay, so that every replay starts with a fresh one.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpheap import native
from warpheap.errors import UserError, unknown
from warpheap.traces.trace import Trace

PEERS = ("rmm_pool", "rmm_arena")
DRIVER = ("cuda_malloc", "cuda_malloc_async")
HOST_UPSTREAMS = ("host", "reserved", "reserved_pages")
MOST_PARTS = 1024
PEER_LIBRARY = "libwarpheap_rmm_peers.so"
_IN_PARTS = re.compile(r"(\w+)_in_([1-9][0-9]*)_parts")
_WORDS = ctypes.POINTER(ctypes.c_uint32)


class Unavailable(Exception):  # noqa: N818  the reason of a skipped row, not a fault
    """The resource is not available here; the message is the reason."""


@dataclass(frozen=True)
class Size:
    """How much memory a resource starts with and may take at most, in bytes; 0: unlimited."""

    initial: int = 0
    limit: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a replay measured. Latencies are in nanoseconds, one per event, if calls were timed."""

    latencies: NDArray[np.uint32] | None
    wall_ns: int
    failures: int
    peak_bytes: int
    span_bytes: int
    clock_overhead_ns: float


def in_parts(name: str) -> tuple[str, int]:
    """Split ``POLICY_in_N_parts``, the name of a pool in parts, into its policy and N.

    Any other name has one part.
    """
    found = _IN_PARTS.fullmatch(name)
    return (found.group(1), int(found.group(2))) if found else (name, 1)


@dataclass(frozen=True)
class Resource:
    """A name, and where its memory comes from."""

    name: str
    upstream: str
    device: int

    @property
    def is_on_device(self) -> bool:
        """Whether its memory is a device's."""
        return self.upstream not in HOST_UPSTREAMS

    @property
    def is_ours(self) -> bool:
        """Whether it is one of our pools, which also report what they hold."""
        return self.name not in PEERS + DRIVER

    @contextmanager
    def made(self, size: Size) -> Iterator[Instance]:
        """Make the resource; raises Unavailable, or MemoryError if its start does not fit."""
        kind = _Peer if self.name in PEERS else _Own
        instance = kind(self, size)
        try:
            yield instance
        finally:
            instance.close()


class Instance:
    """A resource that exists: the C functions that replay on it."""

    def __init__(self, functions: Any, prefix: str) -> None:
        self.handle = ctypes.c_void_p()
        self._functions, self._prefix = functions, prefix

    def function(self, name: str) -> Callable[..., int]:
        """Return a function of the library that this resource is from."""
        found: Callable[..., int] = getattr(self._functions, self._prefix + name)
        return found

    def expect(self, status: int) -> None:
        """Turn a status into an exception."""
        raise NotImplementedError

    def close(self) -> None:
        """Return all memory."""
        raise NotImplementedError

    def replay(self, trace: Trace, *, timed: bool, stop_at_failure: bool = False) -> Outcome:
        """Make the calls of a trace; time each of them, or only their total."""
        latencies = np.zeros(trace.events, dtype=np.uint32) if timed else None
        result = native.ReplayResult()
        status = self.function("replay")(
            self.handle,
            ctypes.byref(view(trace)),
            int(stop_at_failure),
            None if latencies is None else latencies.ctypes.data_as(_WORDS),
            ctypes.byref(result),
        )
        self.expect(status)
        return Outcome(
            latencies,
            result.wall_ns,
            result.failures,
            result.peak_bytes,
            result.span_bytes,
            result.clock_overhead_ns,
        )

    def replay_threads(self, traces: list[Trace]) -> tuple[int, int]:
        """Make the calls of each trace in its own thread; returns (nanoseconds, failures)."""
        views = (native.TraceView * len(traces))(*(view(trace) for trace in traces))
        wall, failures = ctypes.c_uint64(), ctypes.c_uint64()
        status = self.function("replay_threads")(
            self.handle, views, len(traces), ctypes.byref(wall), ctypes.byref(failures)
        )
        self.expect(status)
        return wall.value, failures.value


class _Own(Instance):
    def __init__(self, resource: Resource, size: Size) -> None:
        super().__init__(native.library(), "warpheap_")
        policy, parts = in_parts(resource.name)
        options = native.Options(size.initial, size.limit, 0, 0, 0, parts)
        status = self.function("pool_create")(
            policy.encode(),
            resource.upstream.encode(),
            resource.device,
            ctypes.byref(options),
            ctypes.byref(self.handle),
        )
        if status not in (native.OK, native.OUT_OF_MEMORY, native.INVALID_ARGUMENT):
            raise Unavailable(native.last_error())
        native.expect(status)

    def expect(self, status: int) -> None:
        native.expect(status)

    def close(self) -> None:
        self.function("pool_destroy")(self.handle)


class _Peer(Instance):
    def __init__(self, resource: Resource, size: Size) -> None:
        super().__init__(_peer_library(), "warpheap_peer_")
        self.expect(
            self.function("create")(
                resource.name.encode(),
                resource.device,
                ctypes.c_size_t(size.initial),
                ctypes.c_size_t(size.limit),
                ctypes.byref(self.handle),
            )
        )

    def expect(self, status: int) -> None:
        if status == native.OK:
            return
        text: bytes = self._functions.warpheap_peer_last_error()
        if status == native.OUT_OF_MEMORY:
            raise MemoryError(text.decode())
        raise Unavailable(text.decode())

    def close(self) -> None:
        self.function("destroy")(self.handle)


def view(trace: Trace) -> native.TraceView:
    """Make the C view of a trace, which must outlive the view."""
    return native.TraceView(
        trace.operations.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)),
        trace.streams.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64)),
        trace.events,
    )


def known() -> list[str]:
    """List every name, with those that need more software at the end."""
    text: bytes = native.library().warpheap_pool_names()
    return [*text.decode().split(), *PEERS]


def upstream(asked: str) -> str:
    """Return the upstream to use: the requested one, or device memory if there is a driver."""
    names: bytes = native.library().warpheap_upstream_names()
    if asked:
        if asked not in names.decode().split():
            raise unknown("upstream", asked, names.decode().split())
        return asked
    return "cuda_malloc" if has_driver() else "reserved"


@cache
def has_driver() -> bool:
    """Tell whether there is a CUDA driver with a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return (
        not driver.cuInit(0)
        and not driver.cuDeviceGetCount(ctypes.byref(count))
        and count.value > 0
    )


@cache
def _peer_library() -> ctypes.CDLL:
    found = native.find()
    path = (found.parent.parent / "bench" / "pools" / PEER_LIBRARY) if found else Path(PEER_LIBRARY)
    if not path.exists():
        raise Unavailable(
            f"{PEER_LIBRARY} is not built: it needs RMM 26 (-DWARPHEAP_RMM_ROOT=..., docs/host.md)"
        )
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise Unavailable(f"{path} does not load: {error}") from error
    library.warpheap_peer_last_error.restype = ctypes.c_char_p
    library.warpheap_peer_destroy.argtypes = [ctypes.c_void_p]
    library.warpheap_peer_destroy.restype = None
    return library


def check(names: list[str]) -> None:
    """Raise the error for the first unknown name."""
    if not names:
        raise UserError("no resource was named")
    listed = known()
    for name in names:
        policy, parts = in_parts(name)
        if policy not in listed:
            raise unknown("resource", policy, listed)
        if policy != name and policy in PEERS + DRIVER:
            raise UserError(f"'{name}': {policy} is not one of our pools, and has no parts")
        if parts > MOST_PARTS:
            raise UserError(f"'{name}': a pool has at most {MOST_PARTS} parts")
