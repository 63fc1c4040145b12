# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel carries the headers and the CMake package, and a C++ project finds them in it."""

import configparser
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
CONSUMER = Path(__file__).parent / "consumer"


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def site_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, unpacked as pip does it."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel")
    run(*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", folder, PROJECT)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site-packages")
    return folder / "site-packages"


def test_the_wheel_holds_every_header_and_the_tool(site_packages: Path) -> None:
    def files(root: Path, pattern: str) -> set[str]:
        return {str(file.relative_to(root)) for file in root.rglob(pattern)}

    package = site_packages / "warpheap"
    assert files(package / "include", "*.hpp") == files(PROJECT / "include", "*.hpp")
    assert files(PROJECT / "python/warpheap", "*.py") == files(package, "*.py")


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
