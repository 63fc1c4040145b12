# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RMM, and so cuDF and the rest of RAPIDS, on a warpheap pool.

    import rmm, warpheap.rmm
    rmm.mr.set_current_device_resource(warpheap.rmm.resource("tlsf"))

Each call goes through Python. C++ programs use ``warpheap::host::cuda::device_resource`` instead,
which RMM takes as it is (docs/host.md).
"""

from __future__ import annotations

from typing import Any

from warpheap.pool import Pool


def resource(policy: str = "tlsf", *, device: int = 0, **options: Any) -> Any:
    """Make an ``rmm.mr.CallbackMemoryResource`` over a pool, which is its attribute ``pool``.

    ``options`` are those of warpheap.pool.Pool.
    """
    import rmm  # noqa: PLC0415

    made = Pool(policy, device=device, **options)

    def allocate(size: int, stream: Any) -> int:
        return made.allocate(size, _handle(stream))

    def deallocate(address: int, _size: int, stream: Any) -> None:
        made.deallocate(address, _handle(stream))

    class PoolResource(rmm.mr.CallbackMemoryResource):  # type: ignore[misc]
        """The callbacks, and the pool behind them."""

        pool = made

    return PoolResource(allocate, deallocate)


def _handle(stream: Any) -> int:
    # RMM's Stream says what it is through the protocol of CUDA streams: (version, handle).
    return int(stream.__cuda_stream__()[1])
