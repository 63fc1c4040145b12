# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what no other tool knows about our source files.

Usage: check_sources.py FILE...: every source starts with the licence line, leaves no open end
(a marker of unfinished work) and has at most 400 lines. Prints `FILE:LINE: what` for each
violation and exits 1 if there is any.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SOURCE = re.compile(
    r"(\.(hpp|cpp|cuh|cu|h|c|py|sh|cmake|cmake\.in|toml|yaml|yml)|CMakeLists\.txt"
    r"|(^|/)(dev|run)|(^|/)\.(clang-format|editorconfig|gersemirc))$"
)
# Split so that this file does not find itself.
OPEN_END = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
LICENCE_WITHIN_LINES = 3
MOST_LINES = 400


def violations(name: str, text: str) -> Iterator[tuple[int, str]]:
    """(line, what) of each rule that the file `name` with the content `text` breaks."""
    if not SOURCE.search(name):
        return
    lines = text.splitlines()
    if LICENCE not in "\n".join(lines[:LICENCE_WITHIN_LINES]):
        yield 1, f"no line '{LICENCE}' at the top"
    for number, line in enumerate(lines, start=1):
        marker = OPEN_END.search(line)
        if marker:
            yield number, f"'{marker.group()}': finish it, or say it in an issue"
    # A table grows with what it lists.
    if len(lines) > MOST_LINES and not name.endswith(".toml"):
        yield MOST_LINES + 1, f"{len(lines)} lines: at most {MOST_LINES}; one concept a file"


def main(names: list[str]) -> int:
    found = 0
    for name in names:
        for line, what in violations(name, Path(name).read_text(encoding="utf-8")):
            print(f"{name}:{line}: {what}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
