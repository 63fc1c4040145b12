# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checker must accept what CONTRIBUTING.md allows, and reject each planted name."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_names

CODE = [
    "include/warpheap/registry.hpp",
    "include/warpheap/heap/layers/checked.hpp",
    "include/warpheap/heap/layers/checked/guards.hpp",
    "include/warpheap/malloc/settings.hpp",
    "include/warpheap/managers/halloc/halloc.hpp",
    "include/warpheap/managers/halloc/chunk_map.hpp",
    "include/warpheap/managers/kma/kma.hpp",
    "include/warpheap/host/stores/bit_array.hpp",
    "src/simt/cpu/executor.cpp",
    "bench/cases/alloc.cpp",
    "tests/managers/kma/setups.hpp",
    "tests/simt/litmus.hpp",
    "tests/support/damage.hpp",
]
RIGHT = [
    "heap/checked_test.cpp",
    "heap/checked_guards_test.cpp",
    "drop_in/settings_test.cpp",
    "managers/halloc/chunk_map_device_test.cpp",
    "managers/halloc/halloc_handed_on_test.cpp",
    "managers/halloc/damage_test.cpp",
    "managers/registry_plain_launches_test.cu",
    "host/stores_test.cpp",
    "bench/alloc_test.cpp",
    "simt/executor_test.cpp",
    "simt/litmus_hints_test.cpp",
]
WRONG = [
    "heap/chunk_map_test.cpp",  # of another folder
    "managers/chunk_map_test.cpp",  # of a manager whose tests have a folder
    "managers/kma/chunk_map_test.cpp",  # of another manager
    "managers/halloc/handed_on_test.cpp",
    "managers/halloc/chunk_maps_test.cpp",
    "managers/plain_launches_test.cu",
    "simt/block_test.cpp",
]


def write(root: Path, files: list[str]) -> None:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")


class Names(unittest.TestCase):
    def test_of_the_rule_are_accepted(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            write(root, [*CODE, *(f"tests/{test}" for test in RIGHT)])
            self.assertEqual(check_names.check(root), (len(RIGHT), []))

    def test_others_are_rejected_and_told(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            write(root, [*CODE, *(f"tests/{test}" for test in WRONG)])
            count, found = check_names.check(root)
            self.assertEqual(count, len(WRONG))
            told = {line.partition(":")[0].removeprefix("tests/") for line in found}
            self.assertEqual(told, set(WRONG))

    def test_a_checkout_without_tests_is_a_failure(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, check_names.__file__, folder]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("0 tests", run.stdout)


if __name__ == "__main__":
    unittest.main()
