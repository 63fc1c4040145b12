# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ``warpheap doctor`` looks at: a table of checks, each with the command that mends it.

In a checkout the compilers and build tools are needed; an installation only recommends them.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path

from warpheap import catalog, process, programs, shell
from warpheap.errors import UserError

# The lower bounds of pyproject.toml; a test keeps the two equal.
PACKAGES = {
    "jinja2": "3.1",
    "matplotlib": "3.6",
    "numpy": "1.24",
    "pandas": "1.5",
    "rich": "13.3",
    "scipy": "1.10",
    "typer": "0.7",
}
PYTHON = "3.11"
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_TIME_LIMIT_S = 20.0


@dataclass(frozen=True)
class Finding:
    """One line of the doctor; without ``needed``, a missing item only limits what can be done."""

    name: str
    ok: bool
    found: str
    purpose: str
    remedy: str
    needed: bool


@dataclass(frozen=True)
class Tool:
    """A program that must (or may) be on the PATH in a version of at least ``minimum``."""

    name: str
    minimum: str
    purpose: str
    remedy: str
    needed: bool = True
    version_flag: str = "--version"


_COMPILERS = (
    Tool("g++", "12", "compiles warpheap", "apt-get install g++"),
    Tool("clang++", "14", "compiles warpheap", "apt-get install clang"),
)
_TOOLS = (
    Tool("cmake", "3.25", "builds", "apt-get install cmake"),
    Tool("ninja", "1.10", "builds", "apt-get install ninja-build"),
    Tool("ccache", "4.0", "builds again faster", "apt-get install ccache", needed=False),
    Tool(
        "nvcc",
        "12.4",
        "compiles the CUDA half",
        "install NVIDIA's CUDA toolkit 12.4 or newer and put its bin/ on the PATH",
        needed=False,
    ),
)

_GIT = Tool("git", "2.0", "names the commit that programs are built from", "apt-get install git")


def checks(build_dir: Path | None) -> Iterator[tuple[str, Callable[[], Finding]]]:
    """Return the name and the function of every check; each takes less than a minute."""
    yield "C++ compiler", _compiler
    for tool in _TOOLS:
        yield tool.name, partial(check_tool, tool)
    yield "git", _git
    yield "GPU", _gpu
    yield "Python", _python
    for name, minimum in PACKAGES.items():
        yield name, partial(_package, name, minimum)
    for backend in programs.BACKENDS:
        yield f"bench {backend}", partial(_bench, backend, build_dir)
    yield "verify", partial(_verify, build_dir)


def at_least(version: str, minimum: str) -> bool:
    """Compare dotted versions by their numbers."""
    have, want = (re.findall(r"\d+", text)[:3] for text in (version, minimum))
    return [int(part) for part in have] >= [int(part) for part in want]


def check_tool(tool: Tool) -> Finding:
    """Look for a program and ask it for its version."""
    path = shutil.which(tool.name)
    needed = tool.needed and programs.own_checkout() is not None
    if path is None:
        return Finding(tool.name, False, "not found", tool.purpose, tool.remedy, needed)
    try:
        outcome = process.run([path, tool.version_flag], _TIME_LIMIT_S)
    except OSError as error:
        found = f"cannot be started: {error.strerror}"
        return Finding(tool.name, False, found, tool.purpose, tool.remedy, needed)
    versions = _VERSION.findall(outcome.stdout)
    if not versions:
        return Finding(tool.name, False, "prints no version", tool.purpose, tool.remedy, needed)
    # nvcc and clang print other numbers before or after; the first dotted one is the release.
    ok = at_least(versions[0], tool.minimum)
    found = versions[0] if ok else f"{versions[0]}, older than {tool.minimum}"
    return Finding(tool.name, ok, found, tool.purpose, "" if ok else tool.remedy, needed)


def _compiler() -> Finding:
    tried = [check_tool(tool) for tool in _COMPILERS]
    needed = programs.own_checkout() is not None
    good = [f"{finding.name} {finding.found}" for finding in tried if finding.ok]
    if good:
        return Finding("C++ compiler", True, ", ".join(good), "compiles warpheap", "", needed)
    found = "; ".join(f"{finding.name}: {finding.found}" for finding in tried)
    return Finding("C++ compiler", False, found, "compiles warpheap", tried[0].remedy, needed)


def _git() -> Finding:
    """Look for git, and whether it answers for this checkout: it refuses one of another owner."""
    finding = check_tool(_GIT)
    root = programs.own_checkout()
    if not finding.ok or root is None:
        return finding
    outcome = process.run(["git", "-C", root, "rev-parse", "HEAD"], _TIME_LIMIT_S)
    if outcome.returncode == 0:
        return finding
    fault = (outcome.stderr.strip().splitlines() or ["it does not answer"])[0]
    trust = shell.join(["git", "config", "--global", "--add", "safe.directory", str(root)])
    remedy = trust if "ownership" in fault else "programs that are built here know no commit"
    return replace(finding, ok=False, found=f"{finding.found}: {fault}", remedy=remedy)


def _gpu() -> Finding:
    purpose = "runs the CUDA half"
    path = shutil.which("nvidia-smi")
    if path is None:
        remedy = "install NVIDIA's driver; without a GPU the CPU half does all but timing"
        return Finding("GPU", False, "no nvidia-smi", purpose, remedy, False)
    query = "--query-gpu=name,driver_version,memory.total,compute_cap"
    try:
        outcome = process.run([path, query, "--format=csv,noheader"], _TIME_LIMIT_S)
    except OSError as error:
        return Finding("GPU", False, str(error.strerror), purpose, "check the driver", False)
    lines = [line.strip() for line in outcome.stdout.splitlines() if line.strip()]
    if outcome.returncode != 0 or not lines:
        found = outcome.last_error_line() or (lines or ["nvidia-smi does not answer"])[-1]
        return Finding("GPU", False, found, purpose, "check the driver with nvidia-smi", False)
    return Finding("GPU", True, "; ".join(lines), purpose, "", False)


def _python() -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    ok = at_least(version, PYTHON)
    remedy = "" if ok else f"apt-get install python3 (version {PYTHON} or newer)"
    return Finding("Python", ok, version, "runs this tool", remedy, True)


def _package(name: str, minimum: str) -> Finding:
    try:
        version = installed_version(name)
    except PackageNotFoundError:
        version = ""
    ok = bool(version) and at_least(version, minimum)
    found = version if ok else f"{version or 'not found'}, {minimum} is needed"
    remedy = "" if ok else f"apt-get install python3-{name}, or pip install '{name}>={minimum}'"
    return Finding(f"Python: {name}", ok, found, "used by this tool", remedy, True)


def _bench(backend: str, build_dir: Path | None) -> Finding:
    name = programs.bench_name(backend)
    purpose = f"measures on the {backend.upper()}"
    needed = backend == "cpu"
    remedy = programs.remedy(name)
    path = programs.find(name, build_dir)
    if path is None:
        return Finding(name, False, "not found", purpose, remedy, needed)
    try:
        found = catalog.load(path)
    except UserError as error:
        return Finding(name, False, str(error), purpose, remedy, needed)
    if not found.available:
        return Finding(name, False, str(found.reason), purpose, "see the line of the GPU", needed)
    managers = sum(manager.available for manager in found.managers)
    text = f"{found.device}; {managers} managers, {len(found.described.cases)} cases"
    return Finding(name, True, text, purpose, "", needed)


def _verify(build_dir: Path | None) -> Finding:
    purpose, remedy = "hunts for concurrency errors", programs.remedy(programs.VERIFY)
    path = programs.find(programs.VERIFY, build_dir)
    if path is None:
        return Finding(programs.VERIFY, False, "not found", purpose, remedy, False)
    try:
        subjects = len(catalog.ask(path, "list")["cases"])
    except (UserError, KeyError, TypeError) as error:
        return Finding(programs.VERIFY, False, str(error), purpose, remedy, False)
    return Finding(programs.VERIFY, True, f"{subjects} subjects", purpose, "", False)
