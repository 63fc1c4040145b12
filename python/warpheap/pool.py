# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pool of device memory from Python. Addresses are numbers; memory is never read or written."""

from __future__ import annotations

import ctypes

from warpheap import native
from warpheap.closing import Closing
from warpheap.native import Stats

DEFAULT_POLICY = "tlsf"
# Grows in place, so that a pool holds hardly more than is in use.
DEFAULT_UPSTREAM = "virtual_memory"
_LARGEST = native.LARGEST_SIZE


def policies() -> list[str]:
    """List the names that Pool takes as ``policy``."""
    text: bytes = native.library().warpheap_pool_names()
    return text.decode().split()


def upstreams() -> list[str]:
    """List the names that Pool takes as ``upstream``."""
    text: bytes = native.library().warpheap_upstream_names()
    return text.decode().split()


class Pool(Closing):
    """Device memory under one of the policies.

    ``policy`` and ``upstream`` are names of policies() and upstreams(); ``device`` is the number of
    a CUDA device. Sizes are in bytes; 0 means the default: nothing at first, no limit, growth by at
    least 2 MiB, blocks aligned to 256. Over ``virtual_memory``, a pool that holds ``spare_percent``
    more than the most that was in use at once (default: 10 for tlsf) moves the memory of its holes
    to where a request fits before it takes more. Of several ``parts`` each has a lock and memory of
    its own: threads take them in turn and do not wait for each other, and the pool comes to hold
    more. Raises ValueError for an unknown name or a size out of range, MemoryError when out of
    memory, RuntimeError if the driver fails.
    """

    def __init__(
        self,
        policy: str = DEFAULT_POLICY,
        *,
        upstream: str = DEFAULT_UPSTREAM,
        device: int = 0,
        initial_bytes: int = 0,
        limit_bytes: int = 0,
        region_bytes: int = 0,
        granule_bytes: int = 0,
        spare_percent: int = 0,
        parts: int = 1,
    ) -> None:
        self._handle = ctypes.c_void_p()
        if parts == 0:
            raise ValueError("parts is 0: a pool has at least one part")
        self._library = native.library()
        options = native.Options(
            native.size("initial_bytes", initial_bytes),
            native.size("limit_bytes", limit_bytes),
            native.size("region_bytes", region_bytes),
            native.size("granule_bytes", granule_bytes),
            native.size("spare_percent", spare_percent),
            native.size("parts", parts),
        )
        native.expect(
            self._library.warpheap_pool_create(
                native.text("policy", policy),
                native.text("upstream", upstream),
                device,
                options,
                ctypes.byref(self._handle),
            )
        )
        self.policy, self.upstream, self.device = policy, upstream, device
        self._allocate_quickly = native.quick("warpheap_pool_allocate_quickly")
        self._deallocate_quickly = native.quick("warpheap_pool_deallocate_quickly")

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return not self._handle

    @property
    def handle(self) -> ctypes.c_void_p:
        """The pool's pointer for the C interface; raises ValueError after close()."""
        if not self._handle:
            raise ValueError("the pool is closed")
        return self._handle

    def allocate(self, size: int, stream: int = 0, alignment: int = 256) -> int:
        """Return the address of ``size`` bytes for work in ``stream``; 0 for 0 bytes."""
        # Most calls end here, and Python's lock does not change hands. What follows serves the
        # others, and refuses a closed pool and numbers that ctypes would take modulo 2^64.
        if 0 <= size <= _LARGEST and 0 <= alignment <= _LARGEST:
            address: int = self._allocate_quickly(self._handle, size, alignment, stream)
            if address:
                return address
        native.size("size", size)
        native.size("alignment", alignment)
        memory = ctypes.c_void_p()
        native.expect(
            self._library.warpheap_pool_allocate(
                self.handle, size, alignment, stream, ctypes.byref(memory)
            )
        )
        return memory.value or 0

    def deallocate(self, address: int, stream: int = 0) -> None:
        """Free a block; raises ValueError for an address that is not a live block."""
        if not self._deallocate_quickly(self._handle, address, stream):
            native.expect(self._library.warpheap_pool_deallocate(self.handle, address, stream))

    def truncate(self, address: int, size: int) -> int:
        """Keep the first ``size`` bytes of a block; returns the number of bytes taken back."""
        taken = ctypes.c_size_t()
        native.size("size", size)
        native.expect(
            self._library.warpheap_pool_truncate(self.handle, address, size, ctypes.byref(taken))
        )
        return taken.value

    def usable_bytes(self, address: int) -> int:
        """Return the real size of a block; 0 for an address that is not a live block."""
        return int(self._library.warpheap_pool_usable_bytes(self.handle, address))

    def stats(self) -> Stats:
        """Return the statistics."""
        raw = native.PoolStats()
        self._library.warpheap_pool_get_stats(self.handle, ctypes.byref(raw))
        return Stats(**{name: getattr(raw, name) for name in native.STATS})

    def trim(self, keep_bytes: int = 0) -> int:
        """Return unused memory to the upstream, as long as more than ``keep_bytes`` stay held.

        That means regions without a block and, over ``virtual_memory``, whole pages of holes.
        """
        native.size("keep_bytes", keep_bytes)
        return int(self._library.warpheap_pool_trim(self.handle, keep_bytes))

    def check(self) -> None:
        """Verify the invariants; raises RuntimeError with the first violation."""
        native.expect(self._library.warpheap_pool_check(self.handle))

    def close(self) -> None:
        """Wait for the streams that used the pool and give back everything."""
        if self._handle:
            self._library.warpheap_pool_destroy(self._handle)
            self._handle = ctypes.c_void_p()
