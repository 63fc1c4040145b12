# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the rooms of include/warpheap/host include each other as its README's table says.

usage: check_rooms.py ROOT

A room includes itself and rooms above it in the table; a header in no room must be one that the
README names as such.
"""

import re
import sys
from pathlib import Path

HOST = Path("include/warpheap/host")
INCLUDE = re.compile(r'^#include "warpheap/host/([^"]+)"', re.MULTILINE)


def violations(root: Path) -> list[str]:
    text = (root / HOST / "README.md").read_text(encoding="utf-8")
    rooms = re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)
    roomless = re.findall(r"`(\w+\.hpp)`", text.split("\n\n")[1])
    if not rooms or not roomless:
        return [f"{HOST}/README.md: no table of rooms, or no header outside of them"]
    order = {name: number for number, name in enumerate(roomless + rooms)}
    found = []
    for file in sorted((root / HOST).rglob("*.h*")):
        own = file.relative_to(root / HOST).parts[0]
        if own not in order:
            found.append(f"{file.relative_to(root)}: in no room of {HOST}/README.md")
            continue
        for target in INCLUDE.findall(file.read_text(encoding="utf-8")):
            other = target.split("/")[0]
            if order.get(other, len(order)) > order[own]:
                found.append(f"{file.relative_to(root)}: '{own}' includes {target}")
    return found


def main(root: str) -> int:
    found = violations(Path(root))
    print("\n".join([*found, f"{len(found)} violations of the order of rooms"]))
    return bool(found)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
