# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does adding a case as CONTRIBUTING.md says work without an edit elsewhere?

usage: test_case.py ROOT SCRATCH COMPILER

The page's file goes into a copy of bench/ in a tree that is otherwise this one, and so does a
workload in a folder of its own. CMake configures that tree. Both are then sources of the survey's
program, the workload's kernels are among those of every manager, and the page's file compiles. What
the case then does is tested with the programs that tests/bench makes of it.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from page import example

WORKLOAD = "bench/workloads/added_by_test"
SETTINGS = (
    *("-DWARPHEAP_TESTS=OFF", "-DWARPHEAP_EXAMPLES=OFF", "-DWARPHEAP_CUDA=OFF"),
    *("-DWARPHEAP_BENCH=ON", "-DCMAKE_BUILD_TYPE=None"),
)


def copy_tree(root: Path, scratch: Path) -> None:
    """bench/ is a copy, all else the tree's own."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    for path in root.iterdir():
        if path.name in ("CMakeLists.txt", "cmake", "include", "src", "tests", "tools"):
            (scratch / path.name).symlink_to(path)
    shutil.copytree(root / "bench", scratch / "bench")


def main(root: Path, scratch: Path, compiler: str) -> int:
    added = example("Add a case").files
    added[f"{WORKLOAD}/kernels.hpp"] = "#pragma once\n"
    added[f"{WORKLOAD}/added_by_test.cpp"] = "// A case.\n"
    copy_tree(root, scratch)
    for path, text in added.items():
        (scratch / path).parent.mkdir(exist_ok=True)
        (scratch / path).write_text(text, encoding="utf-8")
    build = scratch / "build"
    configure = ["cmake", "-G", "Ninja", "-S", scratch, "-B", build]
    subprocess.run([*configure, f"-DCMAKE_CXX_COMPILER={compiler}", *SETTINGS], check=True)
    query = ["ninja", "-C", build, "-t", "query", "bench/warpheap-bench-cpu"]
    inputs = subprocess.run(query, check=True, capture_output=True, text=True).stdout.split()
    objects = "bench/CMakeFiles/warpheap_bench_host.dir"
    for path in added:
        of_path = f"{objects}/{path.removeprefix('bench/')}.o"
        if path.endswith(".cpp") and of_path not in inputs:
            print(f"{path} is not a source of the survey's program")
            return 1
    kernels = (build / "bench/generated/bench/kernel_list.hpp").read_text(encoding="utf-8")
    if f"lanes::{Path(WORKLOAD).name}::kernels" not in kernels:
        print(f"the kernels of {WORKLOAD} are not in the list:\n{kernels}")
        return 1
    [case] = example("Add a case").files
    compiled = f"{objects}/{case.removeprefix('bench/')}.o"
    return subprocess.run(["ninja", "-C", build, compiled], check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) != 4:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
