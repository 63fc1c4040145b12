# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba on a warpheap pool, through its external memory manager.

    import warpheap.numba
    pool = warpheap.numba.use("tlsf")       # before the first CUDA array

or, without a change of the program, NUMBA_CUDA_MEMORY_MANAGER=warpheap.numba in the environment.
"""

from __future__ import annotations

from typing import Any

from warpheap.pool import Pool

_policy = "tlsf"
_options: dict[str, Any] = {}
_pools: dict[int, Pool] = {}


def use(policy: str = "tlsf", *, device: int = 0, **options: Any) -> Pool:
    """Make every array that Numba allocates come from a pool, one for each device.

    To be called before Numba has used a device. ``options`` are those of warpheap.pool.Pool.
    Returns the pool of ``device``.
    """
    from numba import cuda  # noqa: PLC0415

    # Numba takes a class, of which it makes one object for each context.
    global _policy, _options
    _policy, _options = policy, options
    cuda.set_memory_manager(manager())
    return pool(device)


def pool(device: int = 0) -> Pool:
    """Return the pool of a device, made when it is first asked for."""
    if device not in _pools:
        _pools[device] = Pool(_policy, device=device, **_options)
    return _pools[device]


def manager() -> Any:
    """Make the class that ``numba.cuda.set_memory_manager`` takes."""
    from numba import cuda  # noqa: PLC0415

    class PoolManager(cuda.HostOnlyCUDAMemoryManager):  # type: ignore[misc]
        """Device memory from the pool; pinned and mapped host memory as Numba has it."""

        def initialize(self) -> None:
            """Make the pool of this context's device."""
            self._pool = pool(self.context.device.id)

        def memalloc(self, size: int) -> Any:
            """Allocate in the default stream, as Numba's own manager does."""
            address = self._pool.allocate(size)
            self.allocations[address] = size
            allocations = self.allocations
            owner = self._pool

            def release() -> None:
                # After a reset of the context there is nothing left to give back.
                if allocations.pop(address, None) is not None:
                    owner.deallocate(address)

            return cuda.MemoryPointer(self.context, _device_pointer(address), size, release)

        def reset(self) -> None:
            """Take back whatever is still in use."""
            for address in list(self.allocations):
                self._pool.deallocate(address)
            super().reset()

        def get_memory_info(self) -> Any:
            """Refuse, as the driver's figures would leave out what the pool has free."""
            raise NotImplementedError("ask the pool: warpheap.numba.pool(device).stats()")

        def get_ipc_handle(self, memory: Any) -> Any:
            """Refuse: another process cannot tell a block from its region."""
            raise NotImplementedError("blocks of a pool cannot be shared between processes")

        @property
        def interface_version(self) -> int:
            """The version of Numba's interface that this is written for."""
            return 1

    return PoolManager


def _device_pointer(address: int) -> Any:
    try:
        from cuda.bindings.driver import CUdeviceptr  # noqa: PLC0415
    except ImportError:  # numba without NVIDIA's bindings calls the driver through ctypes
        import ctypes  # noqa: PLC0415

        return ctypes.c_uint64(address)
    return CUdeviceptr(address)


def __getattr__(name: str) -> Any:
    # What Numba looks for in the module that NUMBA_CUDA_MEMORY_MANAGER names.
    if name == "_numba_memory_manager":
        return manager()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
