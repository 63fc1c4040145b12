# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a copy of a shared library in which device code of one architecture alone is left.

usage: keep_architecture.py LIBRARY COPY ARCHITECTURE

The code of every other architecture (90 is sm_90's number), and all PTX, is overwritten with zeros.
The copy is as long as the library but packs to a fraction: libcudf.so, which has five
architectures, from 301 MB in its wheel to 48 MB. Needs readelf.
"""

import re
import struct
import subprocess
import sys
from pathlib import Path

MAGIC = 0xBA55ED50
MACHINE_CODE = 2


def blank(code: bytearray, begin: int, end: int, keep: int) -> dict[tuple[int, int], int]:
    """Overwrite what is not machine code of ``keep``; bytes by kind and architecture.

    ``begin`` to ``end`` is the section of device code: containers of a head and entries, each an
    entry head (kind, its own length, the payload's length, the architecture) and a payload.
    """
    found: dict[tuple[int, int], int] = {}
    at = begin
    while at + 16 <= end:
        magic, _, head, length = struct.unpack_from("<IHHQ", code, at)
        if magic != MAGIC:
            at += 8  # padding between containers
            continue
        entry, at = at + head, at + head + length
        while entry < at:
            kind, _, entry_head, payload = struct.unpack_from("<HHIQ", code, entry)
            if entry_head + payload == 0:
                raise ValueError(f"an entry of device code at byte {entry} has no length")
            (architecture,) = struct.unpack_from("<I", code, entry + 28)
            found[kind, architecture] = found.get((kind, architecture), 0) + payload
            if (kind, architecture) != (MACHINE_CODE, keep):
                code[entry + entry_head : entry + entry_head + payload] = bytes(payload)
            entry += entry_head + payload
    return found


def main() -> int:
    """Make the copy; 1 if there is nothing to keep."""
    library, copy, keep = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    sections = subprocess.run(
        ["readelf", "-SW", str(library)], capture_output=True, text=True, check=True
    ).stdout
    section = re.search(r"\.nv_fatbin\s+PROGBITS\s+\w+\s+(\w+)\s+(\w+)", sections)
    if section is None:
        print(f"{library} has no device code", file=sys.stderr)
        return 1
    begin, length = int(section[1], 16), int(section[2], 16)
    code = bytearray(library.read_bytes())
    found = blank(code, begin, begin + length, keep)
    for (kind, architecture), size in sorted(found.items()):
        name = f"sm_{architecture}" if kind == MACHINE_CODE else f"PTX of {architecture}"
        print(f"{name}: {size} bytes")
    if (MACHINE_CODE, keep) not in found:
        print(f"{library} has no code of sm_{keep}", file=sys.stderr)
        return 1
    copy.write_bytes(code)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
