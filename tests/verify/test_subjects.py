# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the explorer has every manager of the registry, and says so in few words if it has not.

Usage: test_subjects.py VERIFY BENCH: the programs warpheap-verify and warpheap-bench-cpu.
"""

import json
import subprocess
import sys


def offered(program: str) -> dict[str, list[object]]:
    """Return what a program lists."""
    done = subprocess.run([program, "list"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def refused(verify: str, subject: str) -> str:
    """Return what the explorer says about an unknown subject."""
    command = [verify, "check", "--subject", subject]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode == 2 else ""


def main(verify: str, bench: str) -> int:
    """Name the managers that have no subject."""
    explored = offered(verify)
    subjects = explored["managers"]
    managers = [entry["name"] for entry in offered(bench)["managers"] if entry["available"]]
    missing = [name for name in managers if name not in subjects]
    for name in missing:
        print(f"{name} is in registry.hpp and has no explore*.cpp in tests/managers")
    wrong = refused(verify, "dynasor")
    mutant = refused(verify, "given_up")
    # `./dev test` without --all builds none.
    has_mutants = bool(explored["mutants"])
    unhelpful = not 0 < len(wrong) <= 200 or ("did you mean mutant:" in mutant) != has_mutants
    if unhelpful:
        print(f"an unknown subject: {wrong}{mutant}")
    return 1 if missing or unhelpful or not managers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
