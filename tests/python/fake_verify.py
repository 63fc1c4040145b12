#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A stand-in for warpheap-verify: one subject is sound, one is not; mutants of every fate."""

import argparse
import json
import os
import signal
import sys
import time

BUGGY = {"buggy": 42, "lost_unlock": 7, "forgetful": 9, "deep": 2500}


def main() -> int:
    if sys.argv[1:] == ["list"]:
        mutants = [
            {"name": "lost_unlock", "manager": "sound", "about": "never unlocks"},
            {"name": "dies", "manager": "sound", "about": "crashes the explorer"},
        ]
        for name in os.environ.get("FAKE_MUTANTS", "").split():
            mutants.append({"name": name, "manager": "sound", "about": name})
        document = {
            "schema": 1,
            "managers": ["sound", "buggy"],
            "mutants": mutants,
            "structures": ["ring"],
            "strategies": ["sticky", "uniform", "pct"],
            "memories": ["sc", "weak"],
            "cases": {"sound": ["churn", "fill"], "buggy": ["churn"], "ring": ["push_pop"]},
        }
        print(json.dumps(document))
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["run", "replay"])
    for name in ("subject", "case", "strategy", "memory"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("schedules", "seed"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    if options.case == "nocase":
        print(f"warpheap-verify: unknown case 'nocase' of {options.subject}", file=sys.stderr)
        return 2
    time.sleep(float(os.environ.get("FAKE_SLEEP", "0")))
    if options.subject == "dies":
        print("assertion failed", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGABRT)
    bad_seed = BUGGY.get(options.subject)
    if options.command == "replay":
        print(f"schedule of seed {options.seed} with [brackets]")
        return int(options.seed == bad_seed and options.subject != "forgetful")
    # The bug shows in one combination only, so that a hunt has to go through them.
    explored = range(options.seed, options.seed + options.schedules)
    found = bad_seed in explored and (options.strategy, options.memory) == ("pct", "weak")
    result = {
        "schema": 1,
        "case": "verify",
        "subject": options.subject,
        "test": options.case,
        "strategy": options.strategy,
        "memory": options.memory,
        "first_seed": options.seed,
        "schedules": bad_seed - options.seed + 1 if found else options.schedules,
        "schedules_per_second": 1e5,
        "status": "failed" if found else "ok",
        "finding": {"seed": bad_seed, "what": "I3: page 5 is owned twice"} if found else None,
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
