# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts of the workshop must be readable on any machine."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from workshop import MEMORY, PLAIN, ROOT, Flavour, Verdict, Workshop

FREED = """#include <gtest/gtest.h>
TEST(memory, is_read_when_freed) {
  const volatile char* const one = new char[8]{};
  delete[] one;
  static_cast<void>(*one);
}
"""
WHOLE = "#include <gtest/gtest.h>\nTEST(memory, is_there) { delete[] new char[8]; }\n"


class Verdicts(unittest.TestCase):
    def test_name_files_as_the_repository_does(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            said = f"data-race at {ROOT}/tests/a.hpp:3 and {folder}/g1.races.cpp:9"
            program.write_text(f"#!/bin/sh\necho 'FOUND in mutant:g1 0.1 s: {said}'\n")
            program.chmod(0o755)
            verdict = Workshop(Path(folder)).explore(program, "g1", 1)
        self.assertEqual(verdict.status, "killed")
        self.assertIn("data-race at tests/a.hpp:3 and g1.races.cpp:9", verdict.by)


class TestsUnderAddressSanitizer(unittest.TestCase):
    def test_reject_what_plain_ones_cannot_see_and_nothing_else(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            workshop = Workshop(Path(folder))

            def judged(text: str, *flavours: Flavour) -> list[Verdict]:
                source = Path(folder) / "one_test.cpp"
                source.write_text(text)
                verdicts = []
                for flavour in flavours:
                    program = workshop.test_program("m", source, source.parent, flavour=flavour)
                    assert program is not None
                    verdicts.append(workshop.run_tests(program, 20, flavour=flavour))
                return verdicts

            plain, memory = judged(FREED, PLAIN, MEMORY)
            (whole,) = judged(WHOLE, MEMORY)
        self.assertEqual((plain.status, whole.status), ("survived", "survived"))
        self.assertEqual(memory.status, "killed")
        self.assertIn("tests: AddressSanitizer: heap-use-after-free", memory.by)


if __name__ == "__main__":
    unittest.main()
