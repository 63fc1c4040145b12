# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs clang-tidy over the C++ sources with the checks of .clang-tidy.

Usage: tidy.py: all headers in one translation unit, and every source of src and examples.
The options of the compiler are the same for all of them, so no build folder is needed; what
includes the CUDA toolkit is left out. One process a core. Prints what clang-tidy finds; exits 1 if
that is anything, or if it cannot compile a source.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"
FOLDERS = ("src", "examples")
OPTIONS = (
    *("-std=c++20", "-DWARPHEAP_CPU", f"-I{INCLUDE}", f"-I{ROOT}", f"-I{ROOT}/src/host"),
    *("-DWARPHEAP_RUNTIME_ASAN=0", "-DWARPHEAP_RUNTIME_TSAN=0"),
)
OURS = f"{ROOT}/(include/warpheap|src|examples)/"


def sources() -> list[Path]:
    """Every source that needs no CUDA toolkit."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.cpp"))
    return sorted(path for path in found if "cuda" not in path.parts)


def all_headers(folder: Path) -> Path:
    """A translation unit in ``folder`` that includes every header but those of CUDA."""
    names = (str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.hpp"))
    lines = (f'#include "{name}"\n' for name in sorted(names) if "/cuda/" not in name)
    file = folder / "all_headers.cpp"
    file.write_text("".join(lines), encoding="utf-8")
    return file


def check(source: Path) -> str:
    """What clang-tidy has to say about a source; empty if it finds nothing."""
    command = ("clang-tidy", "--quiet", f"--config-file={ROOT}/.clang-tidy")
    done = subprocess.run(
        [*command, f"--header-filter={OURS}", source, "--", *OPTIONS],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode == 0 and not done.stdout:
        return ""
    return done.stdout or f"{source}: clang-tidy failed: {done.stderr}"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [all_headers(Path(folder)), *sources()]
        reports = [report for report in pool.map(check, work) if report]
    print("\n".join(reports), end="")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
