# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bindings of PyTorch, Numba and RMM, with modules that have just what the bindings need."""

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from warpheap import native

if native.find() is None:
    pytest.skip("the library of the pools is not built", allow_module_level=True)

import warpheap.numba
import warpheap.rmm
import warpheap.torch

DEVICE = 5


class Allocator:
    """PyTorch's pluggable allocator: which functions it calls, and how many there were."""

    made = 0

    def __init__(self, path: str, allocate: str, deallocate: str) -> None:
        Allocator.made += 1
        self.names = (path, allocate, deallocate)
        self.record: int | None = None

    def allocator(self) -> Any:
        return self

    def set_record_stream_fn(self, address: int) -> None:
        self.record = address


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A PyTorch whose current allocator is a list's last one."""
    changes: list[Any] = [None]
    memory = types.SimpleNamespace(
        CUDAPluggableAllocator=Allocator,
        _get_current_allocator=lambda: changes[-1],
        change_current_allocator=changes.append,
        changes=changes,
    )
    fake = types.SimpleNamespace(cuda=types.SimpleNamespace(memory=memory, MemPool=lambda of: [of]))
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setattr(warpheap.torch, "_pools", {})
    monkeypatch.setattr(warpheap.torch, "_allocator", None)
    monkeypatch.setattr(Allocator, "made", 0)
    yield memory
    native.expect(native.library().warpheap_torch_use(DEVICE, None))


def test_pytorch_has_one_allocator_and_a_pool_for_each_device(torch: Any) -> None:
    pool = warpheap.torch.use("tlsf", device=DEVICE, upstream="reserved", granule_bytes=512)
    assert warpheap.torch.pool(DEVICE) is pool
    assert warpheap.torch.use("tlsf", device=DEVICE) is pool
    warpheap.torch.mem_pool("tlsf", device=DEVICE)
    assert len(torch.changes) == 1 + 1
    assert Allocator.made == 1
    with pytest.raises(KeyError):
        warpheap.torch.pool(DEVICE + 1)


def test_pytorch_calls_functions_of_the_library(torch: Any) -> None:
    pool = warpheap.torch.use("tlsf", device=DEVICE, upstream="reserved", granule_bytes=512)
    plugged = torch.changes[-1]
    path, allocate, deallocate = plugged.names
    assert path == str(native.path())
    assert plugged.record is not None
    library = native.ctypes.CDLL(path)
    taking, giving = getattr(library, allocate), getattr(library, deallocate)
    size, address = native.ctypes.c_ssize_t, native.ctypes.c_void_p
    taking.argtypes, taking.restype = [size, native.ctypes.c_int, address], address
    giving.argtypes = [address, size, native.ctypes.c_int, address]
    block = taking(100, DEVICE, None)
    assert pool.usable_bytes(block) == 512
    giving(block, 100, DEVICE, None)
    assert pool.stats().blocks == 0


@pytest.mark.usefixtures("torch")
def test_pytorch_is_told_that_a_device_has_another_pool() -> None:
    warpheap.torch.use("tlsf", device=DEVICE, upstream="reserved")
    for policy, options in (
        ("best_fit", {}),
        ("tlsf", {"limit_bytes": 1 << 20}),
        ("tlsf", {"upstream": "reserved"}),
    ):
        with pytest.raises(ValueError, match=f"device {DEVICE} already has a pool: 'tlsf'"):
            warpheap.torch.use(policy, device=DEVICE, **options)  # type: ignore[arg-type]


class Pointer:
    """Numba's pointer, which calls its finalizer when it is dropped."""

    def __init__(self, _context: Any, pointer: Any, _size: int, finalizer: Callable[[], None]):
        self.pointer = pointer
        self.drop = finalizer


@pytest.fixture
def numba(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A Numba with one context, that of a device."""

    class HostOnly:
        def __init__(self, context: Any) -> None:
            self.context = context
            self.allocations: dict[int, Any] = {}

        def reset(self) -> None:
            self.allocations.clear()

    chosen: list[Any] = []
    cuda = types.SimpleNamespace(
        HostOnlyCUDAMemoryManager=HostOnly,
        MemoryPointer=Pointer,
        set_memory_manager=chosen.append,
        chosen=chosen,
    )
    monkeypatch.setitem(sys.modules, "numba", types.SimpleNamespace(cuda=cuda))
    # Without NVIDIA's bindings, a pointer is a number of ctypes.
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    monkeypatch.setattr(warpheap.numba, "_pools", {})
    monkeypatch.setattr(warpheap.numba, "_policy", "tlsf")
    monkeypatch.setattr(warpheap.numba, "_options", {})
    return cuda


def numba_manager(numba: Any) -> Any:
    """Make the memory manager of the device's context, as Numba does."""
    context = types.SimpleNamespace(device=types.SimpleNamespace(id=DEVICE))
    manager = numba.chosen[-1](context)
    manager.initialize()
    return manager


def test_numba_frees_what_it_drops_and_all_at_a_reset(numba: Any) -> None:
    pool = warpheap.numba.use("tlsf", device=DEVICE, upstream="reserved")
    manager = numba_manager(numba)
    first, _second = manager.memalloc(1000), manager.memalloc(2000)
    assert pool.stats().bytes_in_use == 1024 + 2048
    first.drop()
    assert pool.stats().bytes_in_use == 2048
    manager.allocations[0x1000] = "mapped memory of the host, which is Numba's"
    manager.reset()
    assert pool.stats().blocks == 0
    assert not manager.allocations
    pool.check()


def test_a_pointer_of_numba_from_before_a_reset_frees_nobodys_block(numba: Any) -> None:
    pool = warpheap.numba.use("tlsf", device=DEVICE, upstream="reserved")
    manager = numba_manager(numba)
    late, later = manager.memalloc(1000), manager.memalloc(1000)
    manager.reset()
    later.drop()
    again = manager.memalloc(1000)
    assert again.pointer.value == late.pointer.value, "the address of a block that is gone"
    late.drop()
    assert pool.stats().blocks == 1
    again.drop()
    assert pool.stats().blocks == 0
    assert pool.stats().deallocations == 3


@pytest.mark.usefixtures("numba")
def test_numba_has_a_pool_for_each_device_with_the_same_options() -> None:
    pool = warpheap.numba.use("best_fit", device=DEVICE, upstream="reserved", granule_bytes=512)
    assert warpheap.numba.pool(DEVICE) is pool
    other = warpheap.numba.pool(DEVICE + 1)
    assert other is not pool
    assert (other.policy, other.device) == ("best_fit", DEVICE + 1)
    assert other.usable_bytes(other.allocate(1)) == 512


class CallbackMemoryResource:
    """RMM's resource that calls functions of Python."""

    def __init__(self, allocate: Callable[..., int], deallocate: Callable[..., None]) -> None:
        self.allocate, self.deallocate = allocate, deallocate


class Stream:
    """A stream that says what it is through the protocol of CUDA streams."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def test_rmm_allocates_and_frees_in_its_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    mr = types.SimpleNamespace(CallbackMemoryResource=CallbackMemoryResource)
    monkeypatch.setitem(sys.modules, "rmm", types.SimpleNamespace(mr=mr))
    resource = warpheap.rmm.resource("tlsf", upstream="reserved", granule_bytes=512)
    one, two = Stream(0x10), Stream(0x20)
    first = resource.allocate(100, one)
    assert resource.pool.usable_bytes(first) == 512
    resource.deallocate(first, 100, one)
    assert resource.pool.stats().pending_blocks == 0, "the only stream so far"
    second = resource.allocate(100, one)
    resource.deallocate(second, 100, two)
    assert resource.pool.stats().pending_blocks == 1, "another stream"
    with pytest.raises(ValueError, match="not a live block"):
        resource.deallocate(second, 100, two)
    resource.pool.close()
