# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel carries the headers, the CMake package and the pools; others find them in it."""

import configparser
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
CONSUMER = Path(__file__).parent / "consumer"
# In one process, so that the wheel is built once.
pytestmark = pytest.mark.xdist_group("wheel")


def run(*command: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=cwd)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def unpacked_wheel(folder: Path, **defines: str) -> Path:
    """The wheel of this checkout, unpacked as pip does it; ``defines``: CMake's variables."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel")
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    settings = (f"--config-settings=cmake.define.{name}={text}" for name, text in defines.items())
    run(*pip, *options, *settings, PROJECT)
    (wheel,) = folder.glob("*.whl")
    # Compiled, for this platform and any Python 3.
    assert "-py3-none-linux" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site-packages")
    for program in folder.glob("site-packages/warpheap/bin/*"):
        program.chmod(0o755)  # zipfile drops the modes
    return folder / "site-packages"


@pytest.fixture(scope="module")
def site_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel without the programs and hardly optimised, since both take long."""
    folder = tmp_path_factory.mktemp("wheel")
    return unpacked_wheel(folder, WARPHEAP_BENCH="OFF", CMAKE_CXX_FLAGS_RELEASE="-Og -DNDEBUG")


def test_the_wheel_holds_every_header_and_the_tool(site_packages: Path) -> None:
    def files(root: Path, pattern: str) -> set[str]:
        return {str(file.relative_to(root)) for file in root.rglob(pattern)}

    package = site_packages / "warpheap"
    for pattern in ("*.hpp", "*.h"):
        assert files(package / "include", pattern) == files(PROJECT / "include", pattern)
    assert files(PROJECT / "python/warpheap", "*.py") == files(package, "*.py")
    # What warpheap::malloc and the heaps for kernels of Python are compiled from.
    malloc = "src/malloc/cuda"
    assert files(package / "share/warpheap/malloc", "*") == files(PROJECT / malloc, "*")
    # What the fields of rows mean that come without a description.
    fields = (package / "share/warpheap/fields.json").read_text()
    assert fields == (PROJECT / "results/fields.json").read_text()


def test_a_project_finds_the_package_through_the_entry_point(
    site_packages: Path, tmp_path: Path
) -> None:
    (metadata,) = site_packages.glob("*.dist-info/entry_points.txt")
    entry_points = configparser.ConfigParser()
    entry_points.read(metadata)
    (module,) = entry_points["cmake.prefix"].values()
    prefix = site_packages.joinpath(*module.split("."))
    run("cmake", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", "-S", CONSUMER, "-B", tmp_path)
    assert f"warpheap_DIR:PATH={prefix}/" in (tmp_path / "CMakeCache.txt").read_text()
    run("cmake", "--build", tmp_path)
    run(tmp_path / "consumer")


def test_the_pools_of_the_wheel_work(site_packages: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from warpheap import native, pool, programs\n"
        f"assert native.path().is_relative_to({str(site_packages)!r}), native.path()\n"
        "made = pool.Pool('tlsf', upstream='host')\n"
        "block = made.allocate(1000)\n"
        "assert made.stats().blocks == 1\n"
        "made.deallocate(block)\n"
        "made.check()\n"
        "commit = programs.revision(native.path())\n"
        "assert programs.is_known(commit), commit\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "WARPHEAP_LIBRARY"}
    environment["PYTHONPATH"] = str(site_packages)
    run(sys.executable, program, env=environment)


def test_drop_in_compiles_the_sources_of_the_wheel(site_packages: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f'#!/bin/sh\necho "$*" >> {calls}\n')
    nvcc.chmod(0o755)
    environment = os.environ | {"PYTHONPATH": str(site_packages), "NVCC": str(nvcc)}
    run(sys.executable, "-m", "warpheap", "drop-in", env=environment, cwd=tmp_path)
    for call in calls.read_text().splitlines():
        assert f"{site_packages}/warpheap/share/warpheap/malloc/" in call
        assert f"-I {site_packages}/warpheap/include" in call


@pytest.mark.nightly
def test_the_commands_work_with_the_programs_of_the_wheel(tmp_path: Path) -> None:
    folder = unpacked_wheel(tmp_path, WARPHEAP_BENCH="AUTO")
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WARPHEAP_")}
    environment = kept | {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}

    def tool(*arguments: str) -> None:
        run(sys.executable, "-m", "warpheap", *arguments, env=environment, cwd=tmp_path)

    tool("list")
    tool("bench", "--case", "alloc", "--manager", "rw_malloc")
    tool("survey", "--quick", "--manager", "rw_malloc", "--case", "init")
    assert (tmp_path / "out/survey/report.html").exists()
    tool("verify", "--manager", "bump", "--schedules", "10")
