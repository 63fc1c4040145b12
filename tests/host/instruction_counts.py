# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the instructions of a call do not grow with the number of live blocks.

usage: instruction_counts.py STEPS_PROGRAM VALGRIND POLICY...

For each policy and each number of live blocks, callgrind counts the instructions of many calls,
which the program marks; divided by the calls, they are the cost of an allocation and a free. It may
differ by a factor of two at most between 10 and 1,000,000 live blocks. Instructions are counted,
not cache misses: with a million blocks the records no longer fit into a cache, and the time of a
call grows with that (docs/host.md).
"""

import re
import subprocess
import sys

LIVE = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
CALLS = 20_000
LARGEST_RATIO = 2.0


def instructions(program: str, valgrind: str, policy: str, live: int) -> int:
    run = subprocess.run(
        [
            valgrind,
            "--tool=callgrind",
            "--instr-atstart=no",
            "--callgrind-out-file=/dev/null",
            program,
            policy,
            str(live),
            str(CALLS),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    counted = re.search(r"Collected : (\d+)", run.stderr)
    # None at all: the program was compiled without its marks, or runs where they say nothing.
    if counted is None or int(counted.group(1)) < CALLS:
        raise SystemExit(f"callgrind counted nothing: {policy}, {live} blocks\n{run.stderr}")
    return int(counted.group(1))


def main(program: str, valgrind: str, *policies: str) -> int:
    worst = 0
    for policy in policies:
        costs = {}
        for live in LIVE:
            costs[live] = instructions(program, valgrind, policy, live) / CALLS
            print(
                f"{policy}: {live} live blocks, {costs[live]:.0f} instructions a pair", flush=True
            )
        ratio = max(costs.values()) / min(costs.values())
        print(f"{policy}: largest over smallest {ratio:.2f}, at most {LARGEST_RATIO} is allowed")
        worst |= ratio > LARGEST_RATIO
    return worst


if __name__ == "__main__":
    if len(sys.argv) < 4:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
