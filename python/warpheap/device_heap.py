# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The heap behind ``malloc`` and ``free`` of kernels, for the frameworks that compile kernels.

warpheap.numba and warpheap.cupy build on this module. What they need of warpheap is compiled by
nvcc for the GPU at hand when it is first needed, which takes about a minute, and kept in a cache
folder: ``$WARPHEAP_CACHE``, or ``warpheap`` in ``$XDG_CACHE_HOME`` or ``~/.cache``.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from ctypes import POINTER, Structure, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

from warpheap import native

CACHE_VARIABLE = "WARPHEAP_CACHE"
STATE = "warpheap_malloc_state"
_PACKAGE = Path(__file__).resolve().parent


class CompilerMissing(RuntimeError):  # noqa: N818  it is a state of the machine, not a fault
    """nvcc or warpheap's sources were not found, or nvcc failed; the message says what to do."""


@dataclass(frozen=True)
class Statistics:
    """``warpheap_malloc_statistics`` of warpheap/malloc.h, field by field."""

    heap_bytes: int
    largest_block: int
    blocks_in_use: int
    bytes_in_use: int
    failures: int
    impossible: int
    unserved: int


class _Statistics(Structure):
    _fields_: ClassVar = [(field.name, c_uint64) for field in fields(Statistics)]


@dataclass(frozen=True)
class Sources:
    """Where warpheap's headers and the sources of warpheap::malloc are."""

    include: Path
    malloc: Path


def sources() -> Sources:
    """Find the sources in the installed package or in the checkout; raises CompilerMissing."""
    root = _PACKAGE.parent.parent
    for include, malloc in (
        (_PACKAGE / "include", _PACKAGE / "share/warpheap/malloc"),
        (root / "include", root / "src/malloc/cuda"),
    ):
        if (include / "warpheap/malloc.h").exists() and (malloc / "device_malloc.cu").exists():
            return Sources(include, malloc)
    raise CompilerMissing(
        f"warpheap's headers were found neither in {_PACKAGE} nor in {root}: install the package"
    )


def find_nvcc() -> Path:
    """Find nvcc: $NVCC, $CUDA_HOME/bin, PATH, /usr/local/cuda/bin; raises CompilerMissing."""
    named = os.environ.get("NVCC")
    if named:
        found = shutil.which(named)
        if found is None:
            raise CompilerMissing(f"NVCC is '{named}', but no such program was found")
        return Path(found)
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    folders = [f"{home}/bin" for home in homes if home]
    places = [*folders, *os.environ.get("PATH", "").split(os.pathsep), "/usr/local/cuda/bin"]
    found = shutil.which("nvcc", path=os.pathsep.join(places))
    if found is None:
        raise CompilerMissing(
            "nvcc was not found, and kernels that allocate are compiled with it: install the CUDA "
            "toolkit, 12.4 or newer, and put nvcc into PATH or its folder's parent into CUDA_HOME"
        )
    return Path(found)


def _cache() -> Path:
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warpheap"


def _digest(found: Sources, *words: str) -> str:
    digest = hashlib.sha256("\0".join(words).encode())
    for folder in (found.include, found.malloc):
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def compile_malloc(architecture: str, *arguments: str) -> None:
    """Call nvcc as the sources of warpheap::malloc need it; raises CompilerMissing.

    ``architecture`` is what its option -arch takes: sm_90, native, ...
    """
    found = sources()
    command = [str(find_nvcc()), "-std=c++20", "-O3", f"-arch={architecture}", "-rdc=true"]
    command += ["-I", str(found.include)]
    command += ["--options-file", str(found.malloc / "compile_options.txt"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shown = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
        raise CompilerMissing(f"'{' '.join(command)}' failed:\n{shown}")


@dataclass(frozen=True)
class Built:
    """What was compiled for one architecture."""

    library: Path
    """The host functions of warpheap/malloc.h."""
    device_code: Path
    """A fatbin of relocatable device code: malloc, free and their variable."""


def build(compute_capability: str) -> Built:
    """Compile for a compute capability such as "90", unless that was done before.

    Raises CompilerMissing, with the compiler's message if it fails.
    """
    found, nvcc = sources(), find_nvcc()
    version = subprocess.run(
        [str(nvcc), "--version"], capture_output=True, text=True, check=False
    ).stdout
    folder = _cache() / f"malloc-{_digest(found, version, compute_capability)}"
    built = Built(folder / "libwarpheap_malloc.so", folder / "device_malloc.fatbin")
    if built.library.exists() and built.device_code.exists():
        return built
    folder.parent.mkdir(parents=True, exist_ok=True)
    # In a folder of its own until it is whole: several processes may be at it.
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        architecture = f"sm_{compute_capability}"
        source = str(found.malloc / "device_malloc.cu")
        hooks = str(found.malloc / "launch_hooks.cu")
        visible = '-DWARPHEAP_MALLOC_API=__attribute__((visibility("default")))'
        options = ["--options-file", str(found.malloc / "link_options.txt")]
        library = ["-shared", "-Xcompiler", "-fPIC", visible, *options, source, hooks]
        compile_malloc(architecture, *library, "-o", f"{place}/{built.library.name}")
        code = f"{place}/{built.device_code.name}"
        compile_malloc(architecture, "-fatbin", source, "-o", code)
        made = Path(place) / "whole"
        made.mkdir()
        for file in (built.library, built.device_code):
            (Path(place) / file.name).rename(made / file.name)
        try:
            made.rename(folder)
        except OSError:
            if not built.library.exists():  # else another process was faster
                raise
    return built


class DeviceHeap:
    """The heap of the current device, and what gives it to compiled kernels.

    ``bytes`` and ``manager`` as for ``warpheap_malloc_use``: 0 and "" choose what the environment
    says, or the default. A device has one heap in a process; raises ValueError if the device has
    another one already, or the wish cannot be met, and CompilerMissing.
    """

    def __init__(self, compute_capability: str, *, bytes: int = 0, manager: str = "") -> None:
        size, name_in_c = native.size("bytes", bytes), native.text("manager", manager)
        self.built = build(compute_capability)
        self._library = ctypes.CDLL(str(self.built.library))
        for name, result, arguments in (
            ("warpheap_malloc_use", c_int, [c_size_t, c_char_p]),
            ("warpheap_malloc_get_statistics", c_int, [POINTER(_Statistics)]),
            ("warpheap_malloc_attach", c_int, [c_void_p, c_size_t]),
            ("warpheap_malloc_state_bytes", c_size_t, []),
            ("warpheap_malloc_error", c_char_p, []),
        ):
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        self._expect(self._library.warpheap_malloc_use(size, name_in_c))

    def _expect(self, status: int) -> None:
        if status != 0:
            raise ValueError(self._library.warpheap_malloc_error().decode())

    @property
    def state_bytes(self) -> int:
        """Size of the variable that ``attach`` fills."""
        return int(self._library.warpheap_malloc_state_bytes())

    def attach(self, address: int, size: int) -> None:
        """Pass the heap to the device code whose ``warpheap_malloc_state`` is at ``address``."""
        self._expect(self._library.warpheap_malloc_attach(address, size))

    def stats(self) -> Statistics:
        """Report the state of the heap; waits for the device."""
        raw = _Statistics()
        self._expect(self._library.warpheap_malloc_get_statistics(ctypes.byref(raw)))
        return Statistics(**{field.name: getattr(raw, field.name) for field in fields(Statistics)})
