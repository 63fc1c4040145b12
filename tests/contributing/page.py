# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the examples of CONTRIBUTING.md, so that tests build the page's own text.

usage: page.py TITLE PATH OUT

writes the file PATH of the example under the heading TITLE to OUT.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"<!-- (?:file: (?P<path>\S+)|registry) -->\n```\w+\n(?P<text>.*?)```\n", re.DOTALL
)


@dataclass
class Example:
    """Files by path, and the two lines that a registry gets: an include and an entry."""

    files: dict[str, str]
    include: str = ""
    entry: str = ""

    def added_to(self, registry: str, beginning: str, end: str) -> str:
        """The text of a registry with both lines: the include behind the last one of the same
        folder, the entry before the first line that ends with ``end``, in the list that begins with
        a line that starts with ``beginning``. Raises ValueError if there is no such place.
        """
        lines = registry.splitlines(keepends=True)
        folder = self.include.split("/")[:2]
        includes = [number for number, line in enumerate(lines) if line.split("/")[:2] == folder]
        begins = [number for number, line in enumerate(lines) if line.startswith(beginning)]
        if not includes or len(begins) != 1:
            raise ValueError(f"the registry has no include like {self.include}, or no {beginning}")
        rest = lines[begins[0] :]
        place = begins[0] + next(n for n, line in enumerate(rest) if line.rstrip().endswith(end))
        lines.insert(place, f"{self.entry}\n")
        lines.insert(includes[-1] + 1, f"{self.include}\n")
        return "".join(lines)


def example(title: str) -> Example:
    """What stands under a heading of the page. Raises KeyError for an unknown heading, and
    ValueError for an example that would write over a file or is empty.
    """
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = {text.split("\n", 1)[0]: text for text in page.split("\n## ")}
    found = Example({})
    for block in BLOCK.finditer(sections[title]):
        if block["path"]:
            found.files[block["path"]] = block["text"]
        else:
            found.include, found.entry = block["text"].splitlines()
    if not found.files:
        raise ValueError(f"'{title}' has no file")
    for path in found.files:
        if (ROOT / path).exists():
            raise ValueError(f"'{title}' adds {path}, which is there")
    return found


if __name__ == "__main__":
    if len(sys.argv) != 4:
        print(__doc__)
        sys.exit(2)
    Path(sys.argv[3]).write_text(example(sys.argv[1]).files[sys.argv[2]], encoding="utf-8")
