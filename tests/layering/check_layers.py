# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the layer order of include/warpheap/README.md and the place of CUDA words.

Usage: check_layers.py ROOT, where ROOT is the root of a checkout. Prints one `FILE:LINE: what` a
violation and exits 1 if there is any, 2 if the README's table cannot be read.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

HEADERS = PurePosixPath("include/warpheap")
SOURCE_SUFFIXES = {".hpp", ".cuh", ".h", ".cpp", ".cu"}
# Code outside the headers that both machines compile; programs in .cu files may speak CUDA.
SHARED_FOLDERS = ("src", "bench")

TABLE_ROW = re.compile(r"^\|\s*`([^`]+)`\s*\|([^|]*)\|")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
CUDA_WORD = re.compile(
    r"""
      \b__(?:device|global|host|shared|constant|managed|grid_constant|launch_bounds|noinline)__\b
    | \b__CUDA\w*
    | \b__(?:shfl|ballot|any_sync|all_sync|match|reduce|activemask|syncthreads|syncwarp)\w*
    | \b__(?:threadfence|nanosleep|trap|popc|popcll|ffs|ffsll|clz|clzll|brev|ldg|ldcg|ldca)\w*
    | \b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize)\b
    | \batomic(?:Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)\w*
    | \b(?:asm|__asm__|__asm)\b
    | \b(?:clock64|globaltimer)\b
    | \b(?:cuda|nv|cub|thrust|cooperative_groups)::
    | \bcuda[A-Z]\w*
    | \bcu(?:Mem|Ctx|Device|Module|Launch|Stream|Event|Init|Func|Get)[A-Z]?\w*\s*\(
    | \bCU(?:result|stream|context|device|deviceptr)\b
    """,
    re.VERBOSE,
)
CUDA_INCLUDE = re.compile(r"^(?:cuda|cub|thrust|nv|cooperative_groups)(?:[/_.]|$)")
# What every source with a kernel would compile, although none of it runs on a device.
HEAVY_INCLUDES = {
    *("format", "fstream", "iomanip", "ios", "iostream", "istream", "ostream", "sstream"),
    *("filesystem", "functional", "future", "random", "ranges", "regex", "streambuf", "thread"),
}


@dataclass(frozen=True)
class Layer:
    """One row of the README's table: a folder or a header, and what it may include."""

    name: str
    allowed: frozenset[str]


class TableError(Exception):
    """The table of layers is missing or contradicts itself."""


def read_layers(readme: str) -> dict[str, Layer]:
    """The layers in the order of the table, by name (`core`, `registry.hpp`)."""
    layers: dict[str, Layer] = {}
    for line in readme.splitlines():
        row = TABLE_ROW.match(line)
        if row is None:
            continue
        name, rule = row.group(1).rstrip("/"), row.group(2).strip()
        above = frozenset(layers)
        if rule == "everything above":
            allowed = above
        elif rule == "nothing":
            allowed = frozenset()
        else:
            allowed = frozenset(word.rstrip("/") for word in re.findall(r"`([^`]+)`", rule))
            if not allowed:
                raise TableError(f"layer '{name}': cannot read what it may include from '{rule}'")
        if not allowed <= above:
            names = ", ".join(sorted(allowed - above))
            raise TableError(f"layer '{name}' may include {names}, which is not above it")
        if name in layers:
            raise TableError(f"layer '{name}' is listed twice")
        layers[name] = Layer(name, allowed)
    if not layers:
        raise TableError("no table row such as | `core/` | nothing | ... | was found")
    return layers


def without_comments_and_literals(text: str) -> str:
    """`text` with comments and the contents of literals blanked; lines keep their numbers."""
    token = re.compile(
        r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'""",
        re.VERBOSE | re.DOTALL,
    )
    # A digit separator (1'000) does not begin a literal.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    return token.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def speaks_cuda(file: PurePosixPath) -> bool:
    """Whether `file` is one of the places that know CUDA."""
    if file == HEADERS / "core/config.hpp":
        return True
    if file.is_relative_to(HEADERS):
        return any(file.is_relative_to(HEADERS / place) for place in ("simt/cuda", "host/cuda"))
    return file.suffix == ".cu" or "cuda" in file.parts[:-1]


def cuda_words(file: PurePosixPath, text: str) -> Iterator[tuple[int, str]]:
    """(line, what) of each CUDA word and CUDA include in `text`."""
    if speaks_cuda(file):
        return
    code = without_comments_and_literals(text)
    for number, (line, raw) in enumerate(
        zip(code.split("\n"), text.split("\n"), strict=True), start=1
    ):
        include = INCLUDE.match(raw)
        if include is not None and include.group(1) == "<":
            if CUDA_INCLUDE.match(include.group(2)):
                yield number, f"includes <{include.group(2)}>, which only a CUDA folder may"
            continue
        for word in CUDA_WORD.findall(line):
            yield number, f"CUDA word '{word.strip()}' outside a CUDA folder"


def family(file: PurePosixPath) -> str:
    """What a manager's header belongs to: its folder below managers/, or its own name.

    `managers/walk.hpp` and everything in `managers/walk/` are one family.
    """
    return file.relative_to(HEADERS / "managers").parts[0].removesuffix(".hpp")


def layer_of(path: str, layers: dict[str, Layer]) -> str | None:
    """The layer of a path below include/warpheap, or None if it has none."""
    first = path.split("/", 1)[0]
    return first if first in layers else None


def bad_includes(
    file: PurePosixPath, text: str, layers: dict[str, Layer]
) -> Iterator[tuple[int, str]]:
    """(line, what) of each `#include` of the header `file` that its layer does not allow."""
    own_path = str(file.relative_to(HEADERS))
    own = layer_of(own_path, layers)
    if own is None:
        yield 1, f"'{own_path}' belongs to no layer of {HEADERS}/README.md"
        return
    for number, line in enumerate(text.splitlines(), start=1):
        include = INCLUDE.match(line)
        if include is None:
            continue
        quote, target = include.groups()
        if target in HEAVY_INCLUDES and own not in ("host", "pool.hpp"):
            yield number, f"includes <{target}>, which every user's kernels would compile"
        if not target.startswith("warpheap/"):
            if quote == '"':
                yield number, f'includes "{target}": name headers in full, "warpheap/..."'
            continue
        path = target.removeprefix("warpheap/")
        other = layer_of(path, layers)
        if other is None:
            yield number, f"includes {target}, which belongs to no layer"
        elif other != own and other not in layers[own].allowed:
            yield number, f"'{own}' includes {target}, and '{other}' is not a layer that it may use"
        elif own == other == "managers" and family(file) != family(HEADERS / path):
            yield number, f"manager '{family(file)}' includes another manager, {target}"
        elif crosses_models(own_path, path):
            yield number, f"{own_path} includes the other model's {target}"


def crosses_models(file: str, target: str) -> bool:
    """Whether a header of one model of the machine includes one of the other."""
    models = ("simt/cpu/", "simt/cuda/")
    return any(
        file.startswith(one) and target.startswith(other) for one, other in (models, models[::-1])
    )


def check(root: Path) -> list[str]:
    """Every violation below `root`, as `FILE:LINE: what`.

    Raises TableError if the README's table is unusable.
    """
    layers = read_layers((root / HEADERS / "README.md").read_text(encoding="utf-8"))
    violations = []
    for folder in (str(HEADERS), *SHARED_FOLDERS):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCE_SUFFIXES:
                continue
            file = PurePosixPath(path.relative_to(root).as_posix())
            text = path.read_text(encoding="utf-8")
            found = list(cuda_words(file, text))
            if file.is_relative_to(HEADERS):
                found += bad_includes(file, text, layers)
            violations += [f"{file}:{line}: {what}" for line, what in sorted(found)]
    return violations


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: check_layers.py ROOT", file=sys.stderr)
        return 2
    try:
        violations = check(Path(arguments[0]))
    except (OSError, TableError) as error:
        print(f"{HEADERS}/README.md: {error}", file=sys.stderr)
        return 2
    for violation in violations:
        print(violation)
    print(f"{len(violations)} violations of the layer order")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
