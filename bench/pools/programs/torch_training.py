# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A PyTorch training loop that does not know the allocator: a small transformer, sequences and
batches of changing size, AdamW, a second stream for the data. The pool is one line before it."""

import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # deterministic products

import torch
from common import Clock, digest, pool_for, report

STEPS = 120
VOCABULARY, WIDTH, HEADS, LAYERS = 2000, 512, 8, 6


def train() -> list[float]:
    """Train and give the loss of every step."""
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    device = torch.device("cuda")
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True)
    model = torch.nn.Sequential(
        torch.nn.Embedding(VOCABULARY, WIDTH),
        torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False),
        torch.nn.Linear(WIDTH, VOCABULARY),
    ).to(device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader = torch.cuda.Stream()
    sizes = torch.Generator().manual_seed(2)
    losses = []
    for _ in range(STEPS):
        batch = int(torch.randint(4, 33, (1,), generator=sizes))
        length = int(torch.randint(16, 257, (1,), generator=sizes))
        tokens = torch.randint(0, VOCABULARY, (batch, length), generator=sizes).pin_memory()
        with torch.cuda.stream(loader):
            inputs = tokens.to(device, non_blocking=True)
        torch.cuda.current_stream().wait_stream(loader)
        inputs.record_stream(torch.cuda.current_stream())
        scores = model(inputs)
        loss = torch.nn.functional.cross_entropy(
            scores[:, :-1].reshape(-1, VOCABULARY), inputs[:, 1:].reshape(-1)
        )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    """Run natively or on a pool."""
    pool = pool_for("torch")
    clock = Clock()
    losses = train()
    torch.cuda.synchronize()
    row = {"seconds": clock.seconds(), "digest": digest(losses), "last": losses[-1]}
    if pool is None:
        row |= {
            "peak_bytes": torch.cuda.max_memory_allocated(),
            "reserved_bytes": torch.cuda.max_memory_reserved(),
        }
    report(pool, version=torch.__version__, **row)


main()
