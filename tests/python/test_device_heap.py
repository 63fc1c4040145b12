# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Heaps for the kernels of Numba and CuPy, as far as that goes without a GPU: what is missing is
named, and what is compiled is kept."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest

import warpheap.cupy
import warpheap.numba
from warpheap import device_heap


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPHEAP_CACHE", str(tmp_path / "cache"))
    for name in ("NVCC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)


def fake_nvcc(folder: Path, body: str) -> Path:
    """A program in the place of nvcc, which notes its calls."""
    program = folder / "bin" / "nvcc"
    program.parent.mkdir(parents=True, exist_ok=True)
    calls = folder / "calls"
    program.write_text(f'#!/bin/sh\necho "$*" >> {calls}\n{body}\n')
    program.chmod(0o755)
    return program


WRITES_ITS_OUTPUT = 'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made > "$2"; shift; done'


def test_the_sources_of_the_checkout_are_found() -> None:
    found = device_heap.sources()
    assert (found.include / "warpheap/malloc/selected_heap.hpp").exists()
    sources = ("device_malloc.cu", "launch_hooks.cu")
    headers = ("entry.hpp", "malloc_heaps.hpp", "module_state.hpp")
    for name in (*sources, *headers, "link_options.txt"):
        assert (found.malloc / name).exists()


def test_an_installation_without_headers_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(device_heap, "_PACKAGE", tmp_path / "somewhere/python/warpheap")
    with pytest.raises(device_heap.CompilerMissing, match=str(tmp_path)):
        device_heap.sources()


def test_a_named_compiler_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVCC", "/nowhere/nvcc")
    with pytest.raises(device_heap.CompilerMissing, match="NVCC is '/nowhere/nvcc'"):
        device_heap.find_nvcc()


def test_without_a_compiler_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(device_heap.shutil, "which", lambda *_, **__: None)
    with pytest.raises(device_heap.CompilerMissing, match=r"CUDA\s+toolkit, 12.4 or newer"):
        device_heap.build("90")


def test_cuda_home_comes_before_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = fake_nvcc(tmp_path / "home", "")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert device_heap.find_nvcc() == program


def test_what_was_compiled_is_kept_for_each_architecture(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NVCC", str(fake_nvcc(tmp_path, WRITES_ITS_OUTPUT)))
    first = device_heap.build("90")
    assert first.library.read_text() == first.device_code.read_text() == "made\n"

    def compilations() -> list[str]:
        return [c for c in (tmp_path / "calls").read_text().splitlines() if "--version" not in c]

    assert len(compilations()) == 2
    assert all("-arch=sm_90" in call for call in compilations())
    assert device_heap.build("90") == first
    assert len(compilations()) == 2
    assert device_heap.build("100").library != first.library
    assert len(compilations()) == 4
    left = {path.name for path in (tmp_path / "cache").iterdir()}
    assert left == {first.library.parent.name, device_heap.build("100").library.parent.name}


def test_the_message_of_a_failed_compilation_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NVCC", str(fake_nvcc(tmp_path, "echo sm_7 is unsupported >&2; exit 1")))
    with pytest.raises(device_heap.CompilerMissing, match="sm_7 is unsupported"):
        device_heap.build("7")
    assert not list((tmp_path / "cache").iterdir()), "nothing half done is kept"


def test_text_that_is_not_a_size_is_named() -> None:
    with pytest.raises(ValueError, match="bytes is -1"):
        device_heap.DeviceHeap("90", bytes=-1)


@pytest.mark.parametrize("name", ["warp\0heap", "warp\udcffheap"])
def test_a_name_that_c_cannot_read_is_named_before_anything_is_compiled(name: str) -> None:
    with pytest.raises(ValueError, match="manager is 'warp") as raised:
        device_heap.DeviceHeap("90", manager=name)
    assert type(raised.value) is ValueError


@pytest.mark.parametrize(
    ("module", "package", "advice"),
    [(warpheap.cupy, "cupy", "cupy-cuda13x"), (warpheap.numba, "numba", "numba-cuda")],
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, module: Any, package: str, advice: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=advice):
        module.DeviceHeap()


def test_cupy_without_a_device_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class CUDARuntimeError(RuntimeError):
        pass

    def device() -> None:
        raise CUDARuntimeError("cudaErrorNoDevice")

    runtime = types.SimpleNamespace(CUDARuntimeError=CUDARuntimeError)
    cuda = types.SimpleNamespace(Device=device, runtime=runtime)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=cuda))
    with pytest.raises(RuntimeError, match="no CUDA device: cudaErrorNoDevice"):
        warpheap.cupy.DeviceHeap()


def fake_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """A numba-cuda without a device."""
    cuda = types.ModuleType("numba.cuda")
    cuda.__dict__.update(Fatbin=object, is_available=lambda: False, cuda_error=lambda: "no driver")
    numba = types.ModuleType("numba")
    numba.__dict__.update(cuda=cuda)
    arrays = types.ModuleType("numba.cuda.np.arrayobj")
    for module in (numba, cuda, types.ModuleType("numba.cuda.np"), arrays):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def test_each_kernel_of_numba_has_a_list_of_its_own_to_link() -> None:
    heap = object.__new__(warpheap.numba.DeviceHeap)
    heap._code = "malloc"
    heap.link.append("Numba's run-time")  # as numba-cuda does when it compiles a kernel
    assert heap.link == ["malloc"]


def test_numba_without_a_device_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_numba(monkeypatch)
    with pytest.raises(RuntimeError, match="no CUDA device: no driver"):
        warpheap.numba.DeviceHeap()


def test_a_numpy_that_numba_cuda_cannot_use_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_numba(monkeypatch)
    monkeypatch.delitem(sys.modules, "numba.cuda.np.arrayobj")
    (tmp_path / "arrayobj.py").write_text("import types\ntypes.row_stack\n")
    monkeypatch.setattr(sys.modules["numba.cuda.np"], "__path__", [str(tmp_path)], raising=False)
    with pytest.raises(ImportError, match=r"row_stack.*pip install 'numpy<2\.5'"):
        warpheap.numba.DeviceHeap()
