# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the unit tests include, and what they are linked with beside the runtime."""

from __future__ import annotations

import re
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / folder for folder in ("include", "tests", "tests/verify", "tests/support")]
_INSIDE = ROOT / "include/warpheap"
_INCLUDE = re.compile(r'^#\s*include ["<]([^">]+)[">]', re.MULTILINE)
# The headers that declare what is defined elsewhere in src/, and where.
_DEFINED = {
    "host/pools/make_pool.hpp": ("make_pool.cpp",),
    "host/c/pool.h": ("c/pool.cpp", "make_named.cpp", "no_device.cpp"),
    "host/c/range.h": ("c/range.cpp",),
    "host/c/replay.h": ("c/replay.cpp",),
    "host/c/status.h": ("c/status.cpp",),
    "host/c/torch.h": ("c/torch.cpp",),
}


class Includes:
    """Reads each file once. Threads may share it."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._direct: dict[Path, list[Path]] = {}
        self._reached: dict[Path, dict[str, int]] = {}
        self._lock = threading.Lock()

    def of(self, source: Path) -> dict[str, int]:
        """Tell which headers of the project a source includes, as paths in include/warpheap.

        With each, over how many others, the nearest first. Those that it includes under a condition
        count. To ask the compiler would take a minute.
        """
        found: dict[Path, int] = {}
        here, distance = [source], 0
        while here:
            new = [place for one in here for place in self._places(one) if place not in found]
            here, distance = list(dict.fromkeys(new)), distance + 1
            found |= dict.fromkeys(here, distance)
        return {
            str(path.relative_to(_INSIDE)): far
            for path, far in found.items()
            if _INSIDE in path.parents
        }

    def parts(self, source: Path) -> list[Path]:
        """Tell which sources of src/host a test is linked with: what it and they call."""
        found: dict[Path, None] = {}
        left = [source]
        while left:
            headers = self.of(left.pop())
            named = (name for header in headers for name in _DEFINED.get(header, ()))
            new = dict.fromkeys(ROOT / "src/host" / name for name in named)
            left += [part for part in new if part not in found]
            found |= new
        return list(found)

    def reached(self, source: Path) -> dict[str, int]:
        """Tell which headers a test has code of: a part's are as far as the test is from them."""
        if source not in self._reached:
            found = self.of(source)
            for part in self.parts(source):
                for header, far in self.of(part).items():
                    found.setdefault(header, far)
            self._reached[source] = found
        return self._reached[source]

    def _places(self, source: Path) -> list[Path]:
        with self._lock:
            if source not in self._direct:
                names = _INCLUDE.findall(source.read_text())
                self._direct[source] = [*filter(None, (_place(source, name) for name in names))]
            return self._direct[source]


def _place(source: Path, name: str) -> Path | None:
    """Find what a source includes by that name, if it is a file of this checkout."""
    places = (folder / name for folder in (source.parent, *FOLDERS))
    return next((place.resolve() for place in places if place.is_file()), None)
