# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measure how long the sources beside this file take to compile, each with one include.

Usage: measure.py [--commit COMMIT]... [--repeats N] >> bench/compile_time/rows.jsonl

For each commit (default: HEAD) the headers of that commit are compiled: warpheap.hpp in kernel.cpp
with g++ and, where there is one, in kernel.cu with nvcc; host/c/range.h in range.c with gcc. One
JSON object a line: processor seconds of the compiler and all its children (the least of the
repeats, since other processes can only add to it), and the lines that the preprocessor hands to the
compiler.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def output(command: Sequence[str | Path]) -> str:
    """Return what a command prints; its errors stay visible."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def headers_of(commit: str, folder: Path) -> Path:
    """Write the headers of a commit into a folder; returns the include path."""
    root = output(["git", "-C", HERE, "rev-parse", "--show-toplevel"]).strip()
    archive = subprocess.run(
        ["git", "-C", root, "archive", commit, "include"], stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder / "include"


def compilers() -> dict[str, tuple[list[str], str]]:
    """Return the compilers of this machine: name, command and source."""
    found = {
        "gcc": (["gcc", "-std=c99", "-O2", "-c"], "range.c"),
        "g++": (["g++", "-std=c++20", "-DWARPHEAP_CPU", "-O2", "-c"], "kernel.cpp"),
    }
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if Path(nvcc).exists():
        found["nvcc"] = ([nvcc, "-std=c++20", "-O2", "-arch=sm_90", "-c"], "kernel.cu")
    return found


def header_of(source: str) -> str:
    """Return the one header that a source beside this file includes."""
    return re.search(r'#include ["<](warpheap/[^">]+)', (HERE / source).read_text()).group(1)


def seconds_of_children() -> float:
    """Return the processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(commit: str, repeats: int) -> list[dict[str, Any]]:
    """Compile with every compiler; returns a row for each."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        include = headers_of(commit, Path(name))
        for compiler, (command, source) in compilers().items():
            if not (include / header_of(source)).exists():
                continue  # younger than the commit
            best = float("inf")
            for _ in range(repeats):
                before = seconds_of_children()
                output([*command, "-I", include, HERE / source, "-o", Path(name) / "kernel.o"])
                best = min(best, seconds_of_children() - before)
            expand = [argument for argument in command if argument != "-c"]
            text = output([*expand, "-E", "-I", include, HERE / source])
            rows.append(
                {
                    "schema": 1,
                    "case": "compile_time",
                    "compiler": compiler,
                    "version": output([command[0], "--version"])
                    .strip()
                    .splitlines()[-2 if compiler == "nvcc" else 0],
                    "source": source,
                    "cpu_seconds": round(best, 2),
                    "preprocessed_lines": sum(1 for line in text.splitlines() if line.strip()),
                    "repeats": repeats,
                    "commit": output(["git", "-C", HERE, "rev-parse", "--short", commit]).strip(),
                    "time": datetime.now(UTC).isoformat(timespec="seconds"),
                }
            )
    return rows


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commit", action="append", help="whose headers are compiled")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    os.environ["CCACHE_DISABLE"] = "1"
    for commit in arguments.commit or ["HEAD"]:
        for row in measured(commit, arguments.repeats):
            print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
