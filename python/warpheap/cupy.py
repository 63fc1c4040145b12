# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy on a warpheap pool.

import warpheap.cupy
pool = warpheap.cupy.use("tlsf")
...
print(pool.stats())
"""

from __future__ import annotations

import weakref
from typing import Any

from warpheap.pool import Pool


def use(policy: str = "tlsf", *, device: int | None = None, **options: Any) -> Pool:
    """Make every array of this process come from a pool; arrays made before keep their memory.

    ``device`` is the current one unless given; arrays of another device are refused. ``options``
    are those of warpheap.pool.Pool. It is undone by
    ``cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)``.
    """
    import cupy  # noqa: PLC0415

    made = Pool(policy, device=cupy.cuda.Device().id if device is None else device, **options)
    cupy.cuda.set_allocator(allocator(made))
    return made


def allocator(pool: Pool) -> Any:
    """Make the function that ``cupy.cuda.set_allocator`` and ``using_allocator`` take."""
    import cupy  # noqa: PLC0415

    class Owner:
        """What CuPy drops with the last array that uses a block."""

    def release(address: int, stream: Any) -> None:
        pool.deallocate(address, stream.ptr)

    def allocate(size: int) -> Any:
        device = cupy.cuda.Device().id
        if device != pool.device:
            raise ValueError(f"this pool is of device {pool.device}, and {device} is current")
        stream = cupy.cuda.get_current_stream()
        try:
            address = pool.allocate(size, stream.ptr)
        except MemoryError as error:
            raise cupy.cuda.memory.OutOfMemoryError(
                size, pool.stats().bytes_in_use, pool.stats().reserved_bytes
            ) from error
        owner = Owner()
        # As with CuPy's own pool a block is freed in the stream that it was allocated in. Its
        # handle must be valid then: the finalizer keeps the stream, also when the stream and the
        # array are in a cycle of garbage.
        weakref.finalize(owner, release, address, stream).atexit = False
        memory = cupy.cuda.UnownedMemory(address, size, owner, device)
        return cupy.cuda.MemoryPointer(memory, 0)

    return allocate
