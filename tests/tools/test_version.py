# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The version is the same wherever it is written, so that a tag needs no further change."""

import re
import tomllib
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def first(pattern: str, file: str) -> str:
    found = re.search(pattern, (PROJECT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, f"{file} has no {pattern}"
    return found.group(1)


class VersionTest(unittest.TestCase):
    def test_every_place_has_the_version_of_the_changelog(self) -> None:
        newest = first(r"^## \[(\d+\.\d+\.\d+)\]", "CHANGELOG.md")
        pyproject = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
        self.assertEqual(pyproject["project"]["version"], newest)
        self.assertEqual(first(r"^  VERSION (\S+)$", "CMakeLists.txt"), newest)
        self.assertEqual(first(r'__version__ = "(.*)"', "python/warpheap/__init__.py"), newest)


if __name__ == "__main__":
    unittest.main()
