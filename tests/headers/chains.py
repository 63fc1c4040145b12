# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the sources of the test that each header compiles alone, and twice.

Usage: chains.py INCLUDE MODEL OUT SUFFIX HEADER...: INCLUDE is the folder of the headers, and MODEL
the folder of simt/ that is compiled, cpu or cuda. Writes a source for each chain of headers to the
folder OUT, and prints its name.

Each header of a chain includes the one before it, itself or through others. So what a translation
unit has seen when it comes to a header is what the header includes anyway: the header gets nothing
that it would not get alone. The number of chains is the smallest possible (Dilworth's theorem).
"""

import re
import sys
from pathlib import Path

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(if|endif|include)(?:\w*)(?:[ \t]+\"([^\"]+)\")?", re.MULTILINE
)


def direct_includes(text: str, model: str) -> set[str]:
    """What a header includes for certain: under no condition, or because of the model."""
    found = set()
    depth = 0
    for word, name in _DIRECTIVE.findall(text):
        depth += {"if": 1, "endif": -1, "include": 0}[word]
        if name and (depth == 0 or f"/simt/{model}/" in name):
            found.add(name)
    return found


def all_includes(direct: dict[str, set[str]]) -> dict[str, set[str]]:
    """For each header, what it includes directly and through others."""
    closed: dict[str, set[str]] = {}

    def close(name: str) -> set[str]:
        if name not in closed:
            closed[name] = set()
            for other in direct[name]:
                closed[name] |= {other} | close(other)
        return closed[name]

    for name in direct:
        close(name)
    return closed


def chains(includes: dict[str, set[str]]) -> list[list[str]]:
    """The fewest chains: a maximum matching of headers with those that follow in their chains."""
    above = {name: sorted(top for top in includes if name in includes[top]) for name in includes}
    below: dict[str, str] = {}

    def extend(name: str, seen: set[str]) -> bool:
        for top in above[name]:
            if top not in seen:
                seen.add(top)
                if top not in below or extend(below[top], seen):
                    below[top] = name
                    return True
        return False

    for name in sorted(includes):
        extend(name, set())
    found = []
    for last in sorted(set(includes) - set(below.values())):
        chain = [last]
        while chain[-1] in below:
            chain.append(below[chain[-1]])
        found.append(chain[::-1])
    return found


def source(chain: list[str]) -> str:
    """Includes a chain's headers, lowest first, and all of them again."""
    return "".join(f'#include "{name}"\n' for name in chain * 2)


def main() -> int:
    folder, model, out, suffix, *names = sys.argv[1:]
    texts = {name: (Path(folder) / name).read_text(encoding="utf-8") for name in names}
    direct = {name: direct_includes(text, model) & set(names) for name, text in texts.items()}
    for chain in chains(all_includes(direct)):
        file = Path(out) / f"{re.sub(r'[^a-z0-9]', '_', chain[-1])}.{suffix}"
        file.parent.mkdir(parents=True, exist_ok=True)
        # What is written anew is compiled anew.
        if not file.exists() or file.read_text(encoding="utf-8") != source(chain):
            file.write_text(source(chain), encoding="utf-8")
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
