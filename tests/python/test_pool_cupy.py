# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The binding of CuPy, with a CuPy that has just what the binding needs."""

import gc
import sys
import types
from typing import Any, ClassVar

import pytest

import warpheap.cupy


class Stream:
    """A stream that is destroyed with its last reference, as CuPy's are."""

    alive: ClassVar[set[int]] = set()
    current: Any = None

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr
        self.alive.add(ptr)

    def __del__(self) -> None:
        self.alive.discard(self.ptr)


class Pool:
    """Notes the frees, and whether their streams were alive."""

    device = 0

    def __init__(self) -> None:
        self.freed: list[tuple[int, int, bool]] = []

    def allocate(self, _size: int, _stream: int) -> int:
        return 0x1000

    def deallocate(self, address: int, stream: int) -> None:
        self.freed.append((address, stream, stream in Stream.alive))


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    class Array:
        def __init__(self, memory: Any, _offset: int) -> None:
            self.memory = memory

    cuda = types.SimpleNamespace(
        runtime=types.SimpleNamespace(getDevice=lambda: 0),
        get_current_stream=lambda: Stream.current,
        UnownedMemory=lambda _address, _size, owner, _device: owner,
        MemoryPointer=Array,
    )
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=cuda))
    yield cuda
    Stream.current = None


@pytest.mark.usefixtures("cupy")
def test_an_array_keeps_its_stream() -> None:
    pool = Pool()
    Stream.current = Stream(0x10)
    array = warpheap.cupy.allocator(pool)(100)
    Stream.current = Stream(0x20)
    del array
    assert pool.freed == [(0x1000, 0x10, True)]
    assert Stream.alive == {0x20}, "and not for longer"


@pytest.mark.usefixtures("cupy")
def test_a_stream_outlives_an_array_that_dies_in_the_same_cycle() -> None:
    pool = Pool()
    cycle: dict[str, Any] = {"stream": Stream(0x10)}
    Stream.current = cycle["stream"]
    cycle |= {"array": warpheap.cupy.allocator(pool)(100), "self": cycle}
    Stream.current = None
    del cycle
    gc.collect()
    assert pool.freed == [(0x1000, 0x10, True)]
