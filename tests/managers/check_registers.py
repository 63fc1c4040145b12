# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says which kernels of plain_kernels.cu cannot be launched with 1024 threads per block.

`check_registers.py compile NVCC INCLUDE FILE all|two_calls SHARD SHARDS` writes what ptxas says
about all of them, or about those that call malloc twice, to FILE, and the headers that it depends
on to FILE.d: of every SHARDS-th manager from number SHARD on, so that shards compile side by side.
`check_registers.py judge all|two_calls FILE...` exits 1 if one needs too many registers.
"""

import pathlib
import re
import subprocess
import sys

# A multiprocessor has 65,536.
LIMIT = 65536 // 1024
ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", re.DOTALL)
# Kernels of plain_kernels.hpp, and what each calls.
FORMS = {
    "allocate_plainly": "malloc once",
    "allocate_constant": "malloc once, with a constant size",
    "allocate_twice": "malloc twice",
}
WHICH = {"all": set(FORMS), "two_calls": {"allocate_twice"}}

Counts = dict[tuple[str, str], int]


def form_and_manager(kernel: str) -> tuple[str, str]:
    """A mangled name has the form, and each letter of the manager_name as `Lc<number>E`."""
    form = next((form for form in FORMS if form in kernel), "")
    letters = (chr(int(letter)) for letter in re.findall(r"Lc(\d+)E", kernel))
    return form, "".join(letters).rstrip("\0")


def compile_kernels(
    nvcc: str, include: str, said: str, which: str, shard: str, shards: str
) -> None:
    source = pathlib.Path(__file__).with_name("plain_kernels.cu")
    options = ["-arch=sm_90", "-O3", "-std=c++20", "-DNDEBUG", f"-I{include}", "-Xptxas=-v"]
    options.append(f"-DWARPHEAP_ALL_PLAIN_KERNELS={int(which == 'all')}")
    options += [f"-DWARPHEAP_PLAIN_SHARD={shard}", f"-DWARPHEAP_PLAIN_SHARDS={shards}"]
    depends = ["-MD", "-MF", f"{said}.d", "-MT", said]
    run = subprocess.run(
        [nvcc, *options, *depends, "-cubin", "-o", f"{said}.cubin", str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        sys.exit(run.stdout)
    pathlib.Path(said).write_text(run.stdout)


def registers(which: str, said: tuple[str, ...]) -> Counts:
    text = "".join(pathlib.Path(shard).read_text() for shard in said)
    found = {form_and_manager(kernel): int(count) for kernel, count in ENTRY.findall(text)}
    missing = WHICH[which] - {form for form, manager in found if manager}
    if missing or not all(map(all, found)):
        sys.exit(f"no registers were found in what nvcc says:\n{text}")
    return found


def most(found: Counts, manager: str) -> int:
    return max(count for (_, name), count in found.items() if name == manager)


def judge(which: str, *said: str) -> None:
    found = registers(which, said)
    managers = sorted({name for _, name in found}, key=lambda name: most(found, name))
    for manager in managers:
        counts = (found.get((form, manager)) for form in FORMS)
        print(f"{manager:16}", *(f"{'-' if count is None else count:>4}" for count in counts))
    above = [
        f"{manager}: a kernel that calls {FORMS[form]} needs {count} registers; "
        f"{LIMIT} are possible in blocks of 1024 threads"
        for (form, manager), count in found.items()
        if count > LIMIT
    ]
    if above:
        sys.exit("\n".join(above))


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    {"compile": compile_kernels, "judge": judge}[what](*arguments)
