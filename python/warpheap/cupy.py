# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy on a warpheap pool, and CuPy's kernels with a heap to allocate from.

import warpheap.cupy
pool = warpheap.cupy.use("tlsf")                   # arrays
...
print(pool.stats())

heap = warpheap.cupy.DeviceHeap(bytes=1 << 30)     # malloc and free in RawKernel, RawModule
module = heap.raw_module(code)
module.get_function("kernel")((grid,), (block,), (heap.argument, ...))
"""

from __future__ import annotations

import sys
from typing import Any

from warpheap import device_heap
from warpheap.pool import Pool

# As with CuPy's own pool, a block is freed in the stream that it was allocated in, whose handle
# must be valid then. This keeps the stream of each live block, by the identity of the block's
# owner: also if the stream, the array and the allocator are all in a cycle of garbage.
_streams: dict[int, Any] = {}


def use(policy: str = "tlsf", *, device: int | None = None, **options: Any) -> Pool:
    """Make every array of this process come from a pool; earlier arrays keep their memory.

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

    current_device = cupy.cuda.runtime.getDevice
    current_stream = cupy.cuda.get_current_stream

    class Owner:
        """What CuPy drops with the last array that uses a block."""

        __slots__ = ("address",)

        def __init__(self, address: int) -> None:
            self.address = address

        def __del__(self, is_exiting: Any = sys.is_finalizing) -> None:
            if is_exiting():
                return
            stream = _streams.pop(id(self))
            try:
                pool.deallocate(self.address, stream.ptr)
            except ValueError:
                if not pool.closed:  # then the block is gone already
                    raise

    def allocate(size: int) -> Any:
        device = current_device()
        if device != pool.device:
            raise ValueError(
                f"this pool is for device {pool.device}, but device {device} is current"
            )
        stream = current_stream()
        try:
            address = pool.allocate(size, stream.ptr)
        except MemoryError as error:
            raise cupy.cuda.memory.OutOfMemoryError(
                size, pool.stats().bytes_in_use, pool.stats().reserved_bytes
            ) from error
        owner = Owner(address)
        _streams[id(owner)] = stream
        memory = cupy.cuda.UnownedMemory(address, size, owner, device)
        return cupy.cuda.MemoryPointer(memory, 0)

    return allocate


HEADER = "warpheap/malloc/selected_heap.hpp"


class DeviceHeap(device_heap.DeviceHeap):
    """A heap for CuPy's kernels, on the current device.

    Kernels include ``HEADER`` and take ``const warpheap::malloc_ref* heap``; they call
    ``heap->malloc(bytes)``, which returns null when out of memory, and ``heap->free(block)``. They
    are compiled by nvcc, not NVRTC, which has no C++ standard library. ``bytes``, ``manager`` and
    errors as for warpheap.device_heap.DeviceHeap.
    """

    def __init__(self, *, bytes: int = 0, manager: str = "") -> None:
        try:
            import cupy  # noqa: PLC0415
        except ImportError as error:
            raise ImportError(
                "warpheap.cupy needs CuPy: pip install cupy-cuda13x (or cupy-cuda12x)"
            ) from error

        try:
            device = cupy.cuda.Device()
            capability = device.compute_capability
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise RuntimeError(f"warpheap.cupy found no CUDA device: {error}") from error
        cupy.cuda.runtime.free(0)  # the device's context is current from here on
        super().__init__(capability, bytes=bytes, manager=manager)
        self._state = cupy.zeros(self.state_bytes, dtype=cupy.uint8)
        # The heap is written in a queue of its own.
        cupy.cuda.get_current_stream().synchronize()
        self.attach(self._state.data.ptr, self.state_bytes)

    @property
    def argument(self) -> Any:
        """What a kernel takes as its ``heap``. Valid as long as this object exists."""
        return self._state

    def options(self) -> tuple[str, ...]:
        """Return the compiler options with which kernels find the header."""
        return ("-std=c++20", f"-I{device_heap.sources().include}")

    def raw_module(self, code: str, **arguments: Any) -> Any:
        """Compile code that includes the header, as ``cupy.RawModule`` does, with nvcc.

        ``arguments`` go to ``cupy.RawModule``; ``options`` are added to ours.
        """
        import cupy  # noqa: PLC0415

        options = (*self.options(), *arguments.pop("options", ()))
        return cupy.RawModule(code=code, backend="nvcc", options=options, **arguments)
