# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check that a program refuses wrong numbers in its command line, and names number and limit.

    refused_numbers.py PROGRAM ARGUMENT...

An argument is what the program is given at this place, such as `all`, or a number, NAME=GOOD,LIMIT,
with the words in which the program states its limit: `LANES=8,a whole number from 1 to 64`. The
program must refuse a negative number, one that is too large and other text there, with all other
arguments good. It must also refuse a line that ends before NAME, unless that is optional and
written NAME?=GOOD,LIMIT.
"""

from __future__ import annotations

import subprocess
import sys

WRONG = ("-5", "nan", "five", "5x", "1e30")
WRONG_VALUE, MISSING = 105, 106  # the exit statuses of CLI11


def refusal(command: list[str], status: int) -> str:
    """Run a program that has to fail with this status; return what it said."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=20, stdin=subprocess.DEVNULL
    )
    if done.returncode != status or done.stdout:
        sys.exit(f"{command}: exit status {done.returncode}, not {status}\n{done.stdout}")
    return done.stderr


def main(program: str, *arguments: str) -> int:
    """Run as a program."""
    line, numbers = [program], []
    for argument in arguments:
        name, _, rest = argument.partition("=")
        good, _, limit = rest.partition(",")
        if limit:
            numbers.append((len(line), name, limit))
        line.append(good or name)
    if not numbers:
        sys.exit(__doc__)
    for place, written, limit in numbers:
        name = written.removesuffix("?")
        for wrong in WRONG:
            said = refusal([*line[:place], wrong, *line[place + 1 :]], WRONG_VALUE)
            if f"{name}: {wrong} is not {limit}" not in said:
                sys.exit(f"{name} {wrong}: {said}")
        if name == written:
            said = refusal(line[:place], MISSING)
            if f"{name} is required" not in said:
                sys.exit(f"without {name}: {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
