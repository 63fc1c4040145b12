# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba on a warpheap pool, and Numba's kernels with a heap to allocate from.

Arrays come from a pool through Numba's external memory manager:

    import warpheap.numba
    pool = warpheap.numba.use("tlsf")       # before the first CUDA array

or, without a change of the program, NUMBA_CUDA_MEMORY_MANAGER=warpheap.numba in the environment.

Kernels of numba-cuda allocate from a heap of the device:

    heap = warpheap.numba.DeviceHeap(bytes=1 << 30)
    malloc, free, pointer = heap.malloc, heap.free, heap.pointer

    @cuda.jit
    def kernel(out):
        block = malloc(8 * n)                     # an address; 0 when out of memory
        if block != 0:
            values = carray(pointer(block), n, np.int64)    # numba.cuda.np.numpy_support.carray
            ...
            free(block)

With ``@cuda.jit(link=heap.link)`` so do arrays that a kernel makes, where Numba's run-time is on
(``numba.cuda.core.config.CUDA_ENABLE_NRT = True``): it calls the same malloc and free.
"""

from __future__ import annotations

import importlib
from typing import Any

from warpheap import device_heap
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
    """Return the pool of a device, created when it is first requested."""
    if device not in _pools:
        _pools[device] = Pool(_policy, device=device, **_options)
    return _pools[device]


def manager() -> Any:
    """Make the class that ``numba.cuda.set_memory_manager`` takes."""
    from numba import cuda  # noqa: PLC0415

    class PoolManager(cuda.HostOnlyCUDAMemoryManager):  # type: ignore[misc]
        """Device memory from the pool; pinned and mapped host memory as in Numba."""

        def __init__(self, *context: Any, **named: Any) -> None:
            super().__init__(*context, **named)
            # Ours alone: `allocations` has Numba's own host memory, too.
            self._live: set[int] = set()

        def initialize(self) -> None:
            """Make the pool of this context's device."""
            self._pool = pool(self.context.device.id)

        def memalloc(self, size: int) -> Any:
            """Allocate in the default stream, as Numba's own manager does."""
            address = self._pool.allocate(size)
            self._live.add(address)
            live, owner = self._live, self._pool

            def release() -> None:
                # After a reset there is nothing left to give back: another block may have the
                # address by then.
                if address in live:
                    live.remove(address)
                    owner.deallocate(address)

            return cuda.MemoryPointer(self.context, _device_pointer(address), size, release)

        def reset(self) -> None:
            """Take back whatever is still in use."""
            gone, self._live = self._live, set()
            while gone:
                self._pool.deallocate(gone.pop())
            super().reset()

        def get_memory_info(self) -> Any:
            """Refuse, because the driver's figures would omit the pool's free memory."""
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


class DeviceHeap(device_heap.DeviceHeap):
    """A heap for numba-cuda's kernels, on the current device.

    - ``malloc``: device function ``uint64(uint64)``, the address of a block or 0;
    - ``free``: device function ``uint64(uint64)``, which returns 0;
    - ``pointer``: the address as a pointer, for ``carray``;
    - ``link``: for ``cuda.jit(link=...)`` of kernels that call neither.

    ``bytes``, ``manager`` and errors as for warpheap.device_heap.DeviceHeap; raises ImportError
    where numba-cuda is missing or does not work with the installed NumPy.
    """

    def __init__(self, *, bytes: int = 0, manager: str = "") -> None:
        try:
            from numba import cuda  # noqa: PLC0415
            from numba.cuda import Fatbin  # noqa: PLC0415
        except ImportError as error:
            raise ImportError(
                "warpheap.numba.DeviceHeap needs numba-cuda, 0.30 or newer: "
                "pip install 'numba-cuda[cu13]' (or 'numba-cuda[cu12]')"
            ) from error
        _require_arrays()
        if not cuda.is_available():
            raise RuntimeError(
                f"warpheap.numba found no CUDA device: {cuda.cuda_error() or 'no driver'}"
            )
        cuda.current_context()
        major, minor = cuda.get_current_device().compute_capability
        super().__init__(f"{major}{minor}", bytes=bytes, manager=manager)
        self._code = Fatbin(
            self.built.device_code.read_bytes(),
            name=self.built.device_code.name,
            setup_callback=self._attach_to,
        )
        self.malloc, self.free = _declared(self._code)
        self.pointer = _pointer()

    @property
    def link(self) -> list[Any]:
        """Return a new list each time: Numba adds its own run-time to a kernel's."""
        return [self._code]

    def _attach_to(self, code: Any) -> None:
        """Pass the heap to a module that Numba has loaded, before its first kernel."""
        from cuda.bindings import driver  # noqa: PLC0415

        status, address, size = driver.cuLibraryGetGlobal(code.handle, device_heap.STATE.encode())
        if int(status) != 0:
            raise RuntimeError(f"{device_heap.STATE} is not in the module: {status}")
        self.attach(int(address), int(size))


def _require_arrays() -> None:
    """Refuse a NumPy that numba-cuda cannot use: it would fail in the first kernel with arrays."""
    try:
        importlib.import_module("numba.cuda.np.arrayobj")
    except ModuleNotFoundError:
        return  # it lies elsewhere in this numba-cuda, which is newer than those that fail
    except AttributeError as error:  # numba-cuda 0.30 takes functions that NumPy 2.5 has no more
        raise ImportError(
            f"this numba-cuda does not work with the installed NumPy ({error}): "
            "pip install 'numpy<2.5'"
        ) from error


def _declared(link: Any) -> tuple[Any, Any]:
    """Declare malloc and free of the code in ``link``, as Numba's kernels call them."""
    from numba import cuda, types  # noqa: PLC0415

    malloc = cuda.declare_device("malloc", types.uint64(types.uint64), link=link, abi="c")
    free = cuda.declare_device("warpheap_free", types.uint64(types.uint64), link=link, abi="c")
    return malloc, free


def _pointer() -> Any:
    """Make the function that turns an address into a pointer."""
    from numba import types  # noqa: PLC0415
    from numba.cuda.extending import intrinsic  # noqa: PLC0415

    @intrinsic  # type: ignore[untyped-decorator]
    def pointer(_typing: Any, address: Any) -> Any:
        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.voidptr(types.uint64), lower

    return pointer


def __getattr__(name: str) -> Any:
    # What Numba looks for in the module that NUMBA_CUDA_MEMORY_MANAGER names.
    if name == "_numba_memory_manager":
        return manager()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
