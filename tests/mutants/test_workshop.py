# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts of the workshop must be readable on any machine."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from workshop import ROOT, Workshop


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


if __name__ == "__main__":
    unittest.main()
