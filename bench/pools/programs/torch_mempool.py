# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of a PyTorch program on a pool, through torch.cuda.MemPool."""

import torch
from common import NATIVE, Clock, digest, policy, report


def work() -> list[float]:
    """Multiply matrices of changing sizes and give the sums."""
    torch.manual_seed(3)
    sums = []
    for step in range(60):
        size = 256 + 37 * step % 1500
        left = torch.randn(size, size, device="cuda")
        sums.append(float((left @ left).double().sum()))
    return sums


def main() -> None:
    """Run natively or in the part that is on a pool."""
    chosen = policy()
    clock = Clock()
    pool = None
    if chosen == NATIVE:
        sums = work()
    else:
        import warpheap.torch  # noqa: PLC0415

        part = warpheap.torch.mem_pool(chosen)
        with torch.cuda.use_mem_pool(part):
            sums = work()
        pool = warpheap.torch.pool()
    torch.cuda.synchronize()
    row = {"seconds": clock.seconds(), "digest": digest(sums)}
    if pool is None:
        row |= {"reserved_bytes": torch.cuda.max_memory_reserved()}
    report(pool, version=torch.__version__, **row)


main()
