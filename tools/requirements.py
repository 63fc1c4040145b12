# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the requirements of a pyproject.toml, one per line.

Usage: requirements.py PYPROJECT [EXTRA...]: the project's own requirements, or with extras those of
the extras alone. Needs nothing but Python 3.11, so that it runs before anything is installed.
"""

import sys
import tomllib
from pathlib import Path


def requirements(pyproject: str, extras: list[str]) -> list[str]:
    """Requirement strings of the text of a pyproject.toml; KeyError if it lacks an extra."""
    project = tomllib.loads(pyproject)["project"]
    if not extras:
        return list(project["dependencies"])
    optional = project["optional-dependencies"]
    return [requirement for extra in extras for requirement in optional[extra]]


def main(arguments: list[str]) -> int:
    file, *extras = arguments
    try:
        found = requirements(Path(file).read_text(encoding="utf-8"), extras)
    except KeyError as missing:
        print(f"{file} has no {missing}", file=sys.stderr)
        return 1
    print("\n".join(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
