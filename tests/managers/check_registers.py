# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles plain_kernels.cu and says which of its kernels cannot be launched with 1024 threads a
block: check_registers.py NVCC INCLUDE."""

import pathlib
import re
import subprocess
import sys

# A multiprocessor has 65,536.
LIMIT = 65536 // 1024
ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", re.DOTALL)


def manager_of(kernel: str) -> str:
    """The letters of the kernel_name in a mangled name, which has each as `Lc<number>E`."""
    return "".join(chr(int(letter)) for letter in re.findall(r"Lc(\d+)E", kernel)).rstrip("\0")


def registers(nvcc: str, include: str) -> dict[str, int]:
    source = pathlib.Path(__file__).with_name("plain_kernels.cu")
    options = ["-arch=sm_90", "-O3", "-std=c++20", "-DNDEBUG", f"-I{include}", "-Xptxas=-v"]
    run = subprocess.run(
        [nvcc, *options, "-cubin", "-o", "/dev/null", str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    found = {manager_of(kernel): int(count) for kernel, count in ENTRY.findall(run.stdout)}
    if run.returncode != 0 or not found or "" in found:
        sys.exit(f"no registers were found in what nvcc says:\n{run.stdout}")
    return found


def main() -> None:
    found = registers(*sys.argv[1:])
    for manager, count in sorted(found.items(), key=lambda entry: entry[1]):
        print(f"{manager:16} {count:4}")
    above = {manager: count for manager, count in found.items() if count > LIMIT}
    if above:
        sys.exit(
            "\n".join(
                f"{manager}: a kernel that calls malloc once needs {count} registers; "
                f"{LIMIT} are possible in blocks of 1024 threads"
                for manager, count in above.items()
            )
        )


if __name__ == "__main__":
    main()
