# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch on a warpheap pool: for the whole process, or for a part of the program.

    import warpheap.torch
    pool = warpheap.torch.use("tlsf")       # before the first tensor on the device
    ...
    print(pool.stats())

PyTorch itself counts nothing under an allocator that is not its own: ``torch.cuda.memory_*`` raise,
``pool.stats()`` takes their place.
"""

from __future__ import annotations

import ctypes
from typing import Any

from warpheap import native
from warpheap.pool import Pool

# A device's pool lives as long as the process: PyTorch frees tensors until the very end.
_pools: dict[int, Pool] = {}
_allocator: Any = None


def use(policy: str = "tlsf", *, device: int = 0, **options: Any) -> Pool:
    """Make every tensor on ``device`` come from a pool instead of PyTorch's own allocator.

    To be called before PyTorch has allocated on any device; once for each device that is used.
    ``options`` are those of warpheap.pool.Pool. Raises RuntimeError if PyTorch was used before.
    """
    import torch  # noqa: PLC0415

    pool = _pool(policy, device, options)
    if torch.cuda.memory._get_current_allocator() is not _plug(torch):
        torch.cuda.memory.change_current_allocator(_plug(torch))
    return pool


def mem_pool(policy: str = "tlsf", *, device: int = 0, **options: Any) -> Any:
    """Make a ``torch.cuda.MemPool`` whose segments come from a pool, for a part of a program.

    ``with torch.cuda.use_mem_pool(mem_pool()): ...`` allocates there. PyTorch's caching allocator
    stays in front of the pool, which is ``pool(device)``.
    """
    import torch  # noqa: PLC0415

    _pool(policy, device, options)
    return torch.cuda.MemPool(_plug(torch).allocator())


def pool(device: int = 0) -> Pool:
    """Return the pool of a device; raises KeyError if there is none."""
    return _pools[device]


def _pool(policy: str, device: int, options: dict[str, Any]) -> Pool:
    if device in _pools:
        known = _pools[device]
        if options or known.policy != policy:
            raise ValueError(f"device {device} already has a pool: '{known.policy}'")
        return known
    made = Pool(policy, device=device, **options)
    native.expect(native.library().warpheap_torch_use(device, made.handle))
    _pools[device] = made
    return made


def _plug(torch: Any) -> Any:
    global _allocator  # noqa: PLW0603  PyTorch takes one allocator for the process
    if _allocator is None:
        _allocator = torch.cuda.memory.CUDAPluggableAllocator(
            str(native.path()), "warpheap_torch_allocate", "warpheap_torch_deallocate"
        )
        # Tensors that further streams use (Tensor.record_stream) are freed after those streams.
        inner = _allocator.allocator()
        if hasattr(inner, "set_record_stream_fn"):
            record = native.library().warpheap_torch_record_stream
            address = ctypes.cast(record, ctypes.c_void_p).value
            inner.set_record_stream_fn(address)
    return _allocator
