# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The binding of CuPy, with a CuPy that has just what the binding needs."""

import gc
import random
import subprocess
import sys
import textwrap
import threading
import types
from pathlib import Path
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
    closed = False

    def __init__(self) -> None:
        self.freed: list[tuple[int, int, bool]] = []
        self.live: set[int] = set()

    def allocate(self, _size: int, _stream: int) -> int:
        address = next(n for n in range(0x1000, 0x100000, 0x100) if n not in self.live)
        self.live.add(address)
        return address

    def deallocate(self, address: int, stream: int) -> None:
        if self.closed or address not in self.live:
            raise ValueError("the pool is closed, or there is no such block")
        self.live.remove(address)
        self.freed.append((address, stream, stream in Stream.alive))


def fake_cuda() -> Any:
    """Make what the binding uses of ``cupy.cuda``."""

    class Array:
        def __init__(self, memory: Any, _offset: int) -> None:
            self.memory = memory

    class OutOfMemoryError(MemoryError):
        """CuPy's."""

    return types.SimpleNamespace(
        runtime=types.SimpleNamespace(getDevice=lambda: 0),
        memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        get_current_stream=lambda: Stream.current,
        UnownedMemory=lambda _address, _size, owner, _device: owner,
        MemoryPointer=Array,
    )


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    cuda = fake_cuda()
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


def test_an_array_of_another_device_is_refused(cupy: Any) -> None:
    pool = Pool()
    Stream.current = Stream(0x70)
    allocate = warpheap.cupy.allocator(pool)
    pool.device = 1
    with pytest.raises(ValueError, match="for device 1, but device 0 is current"):
        allocate(100)
    assert not pool.live
    assert cupy.runtime.getDevice() == 0


def test_a_full_pool_is_cupys_error_of_no_memory(cupy: Any) -> None:
    class Full(Pool):
        def allocate(self, _size: int, _stream: int) -> int:
            raise MemoryError("out of memory")

        def stats(self) -> Any:
            return types.SimpleNamespace(bytes_in_use=300, reserved_bytes=400)

    Stream.current = Stream(0x70)
    with pytest.raises(cupy.memory.OutOfMemoryError) as raised:
        warpheap.cupy.allocator(Full())(100)
    assert raised.value.args == (100, 300, 400)
    assert not warpheap.cupy._streams


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


@pytest.mark.usefixtures("cupy")
def test_arrays_that_die_in_any_order_and_thread_free_each_block_once_in_its_stream() -> None:
    pool = Pool()
    allocate = warpheap.cupy.allocator(pool)
    choice = random.Random(5)
    streams = [Stream(0x10 * n) for n in range(1, 5)]
    of_block: dict[int, int] = {}
    arrays = []
    for n in range(200):
        Stream.current = streams[n % 4]
        arrays.append(allocate(100))
        of_block[arrays[-1].memory.address] = Stream.current.ptr
    choice.shuffle(arrays)
    streams.clear()
    Stream.current = None
    assert Stream.alive == {0x10, 0x20, 0x30, 0x40}, "their arrays keep them"

    def drop(some: list[Any]) -> None:
        while some:
            some.pop()

    parts = [arrays[n::4] for n in range(4)]
    arrays.clear()
    threads = [threading.Thread(target=drop, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not pool.live
    assert sorted(pool.freed) == [(block, of_block[block], True) for block in sorted(of_block)]
    assert not Stream.alive
    assert not warpheap.cupy._streams


@pytest.mark.usefixtures("cupy")
def test_an_array_that_outlives_its_pool_dies_in_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    pool = Pool()
    allocate = warpheap.cupy.allocator(pool)
    Stream.current = Stream(0x10)
    late, wrong = allocate(100), allocate(100)
    pool.live.clear()
    del wrong
    assert len(said) == 1, "a block that an open pool does not have is a mistake"
    said.clear()
    pool.closed = True
    del late
    assert not said
    Stream.current = None
    gc.collect()
    assert not Stream.alive
    assert not warpheap.cupy._streams


def test_the_end_of_the_interpreter_frees_nothing_and_says_nothing() -> None:
    program = """
        import builtins
        from test_pool_cupy import Pool, Stream, fake_cuda
        import sys, types
        sys.modules["cupy"] = types.SimpleNamespace(cuda=fake_cuda())
        import warpheap.cupy
        class Loud(Pool):
            def deallocate(self, address, stream):
                print("freed", address)
        Stream.current = Stream(0x10)
        allocate = warpheap.cupy.allocator(Loud())
        held = allocate(100)
        builtins.the_last_to_go = [allocate(100)]
        cycle = [allocate(100)]
        cycle.append(cycle)
        del cycle
        print("end")
    """
    here = Path(__file__).parent
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={"PYTHONPATH": f"{here}:{here.parents[1] / 'python'}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "end\n", "")
