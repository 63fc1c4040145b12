# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy on a warpheap pool.

import warpheap.cupy
pool = warpheap.cupy.use("tlsf")
...
print(pool.stats())
"""

from __future__ import annotations

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

    def current_stream() -> int:
        return int(cupy.cuda.get_current_stream().ptr)

    class Block:
        """Owns one block: CuPy drops it with the last array that uses the memory."""

        def __init__(self, size: int) -> None:
            self._pool = pool
            self.stream = current_stream()
            self.address = pool.allocate(size, self.stream)

        def __del__(self) -> None:
            # As CuPy's own pool: freed in the stream that it was allocated in.
            if getattr(self, "address", 0):
                self._pool.deallocate(self.address, self.stream)

    def allocate(size: int) -> Any:
        device = cupy.cuda.Device().id
        if device != pool.device:
            raise ValueError(f"this pool is of device {pool.device}, and {device} is current")
        try:
            block = Block(size)
        except MemoryError as error:
            raise cupy.cuda.memory.OutOfMemoryError(
                size, pool.stats().bytes_in_use, pool.stats().reserved_bytes
            ) from error
        memory = cupy.cuda.UnownedMemory(block.address, size, block, device)
        return cupy.cuda.MemoryPointer(memory, 0)

    return allocate
