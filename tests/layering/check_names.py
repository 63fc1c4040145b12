# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that each C++ test is named after what it tests, as CONTRIBUTING.md says.

Usage: check_names.py ROOT, where ROOT is the root of a checkout. The tests of tests/FOLDER/ begin
with the name of a header, source or folder of that FOLDER, of a header beside them or in
tests/support/, or of a header that users include. Prints one line a violation, and exits 1 if there
is any.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

HEADERS = {".hpp", ".cuh", ".h"}
CODE = HEADERS | {".cpp", ".cu"}
TEST = "_test"
# What has another name in tests/.
CALLED = {"drop_in": "malloc"}


def homes(root: Path, folder: Path) -> list[Path]:
    """The folders whose code the tests in tests/`folder` are for."""
    own = Path(CALLED.get(folder.name, folder))
    places = (root / "include/warpheap" / own, root / "src" / own, root / own)
    return [place for place in places if place.is_dir()]


def names_in(home: Path, tests: Path) -> Iterator[str]:
    """What the tests in the folder `tests` may test of `home`.

    That is all files and folders below it, but for folders that have tests of their own.
    """
    for path in home.iterdir():
        if path.is_dir() and not (tests / path.name).is_dir():
            yield path.name
            yield from names_in(path, tests / path.name)
        elif path.suffix in CODE:
            yield path.stem


def shared_names(root: Path, tests: Path) -> Iterator[str]:
    """The headers beside the tests, those of all tests, and those that users include."""
    for folder in (tests, root / "tests/support", root / "include/warpheap"):
        yield from (path.stem for path in folder.glob("*") if path.suffix in HEADERS)


def check(root: Path) -> tuple[int, list[str]]:
    """How many tests there are, and a line for each whose name begins with none of its parts."""
    violations = []
    tests = sorted(p for p in (root / "tests").rglob(f"*{TEST}.c*") if p.suffix in CODE)
    for test in tests:
        places = homes(root, test.parent.relative_to(root / "tests"))
        names = {name for home in places for name in names_in(home, test.parent)}
        names |= set(shared_names(root, test.parent))
        if not any(test.stem.startswith(name + "_") for name in names):
            where = [str(place.relative_to(root)) for place in places] + ["tests/support"]
            violations.append(
                f"{test.relative_to(root)}: begins with no name of a file or folder in "
                f"{', '.join(where)} or beside it"
            )
    return len(tests), violations


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: check_names.py ROOT", file=sys.stderr)
        return 2
    count, violations = check(Path(arguments[0]))
    for violation in violations:
        print(violation)
    print(f"{count} tests, {len(violations)} of them not named after a part")
    return 0 if count != 0 and not violations else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
