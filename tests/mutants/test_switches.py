# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A switched text is the text with no number, and the mutant with its number."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from faults import faults
from switches import TEXT, VARIABLE, blamed, can_switch, layers, with_switches

BODY = """
inline int calls = 0;
class place {
 public:
  static constexpr int most = 8 - 1;
  constexpr int fixed(int a) const { return a < 3 ? a : 3; }
  void record(int a, bool twice) {
    if (a < limit_) calls += 10;
    if (a > limit_ - 1)
      calls += 100;
    sum_ = a + 1;
    sum_ *= 2;
    if (twice) {
      calls += 1000;
    }
  }
  int sum_ = 0;
  int limit_ = 5;
};
"""
MAIN = """
#include <cstdio>
int main() {
  place p;
  p.record(5, true);
  std::printf("%d %d", calls, p.sum_);
}
"""


class Switches(unittest.TestCase):
    def setUp(self) -> None:
        found = [*faults(BODY)]
        self.switchable = [fault for fault in found if can_switch(BODY, fault)]
        self.others = [fault for fault in found if fault not in self.switchable]

    def test_what_the_compiler_evaluates_and_what_an_if_governs_never_becomes_a_switch(
        self,
    ) -> None:
        lines = {fault.line for fault in self.others}
        self.assertEqual(
            lines,
            {
                "static constexpr int most = 8 - 1;",
                "constexpr int fixed(int a) const { return a < 3 ? a : 3; }",
                "calls += 100;",
            },
        )

    def test_a_switch_is_its_mutant_and_none_is_the_text(self) -> None:
        of = layers(self.switchable)
        self.assertGreater(max(of), 0)
        compared = 0
        with tempfile.TemporaryDirectory() as folder:
            for layer in range(max(of) + 1):
                here = [(i, f) for i, f in enumerate(self.switchable) if of[i] == layer]
                switched = self.compiled(folder, TEXT + with_switches(BODY, here) + MAIN)
                plain = self.compiled(folder, BODY + MAIN)
                self.assertEqual(self.output(switched), self.output(plain))
                for i, fault in here:
                    mutant = self.compiled(folder, fault.apply(BODY) + MAIN)
                    self.assertEqual(self.output(switched, i), self.output(mutant), fault)
                    compared += self.output(mutant) != self.output(plain)
        self.assertGreater(compared, 5)

    def test_overlapping_faults_are_in_different_layers(self) -> None:
        of = layers(self.switchable)
        for i, one in enumerate(self.switchable):
            for j, other in enumerate(self.switchable[:i]):
                if one.start < other.end and other.start < one.end:
                    self.assertNotEqual(of[i], of[j])

    def test_a_compiler_blames_switches(self) -> None:
        errors = "error: here\n  a < ::warpheap_switches::at<17>{} < ::warpheap_switches::one(4)"
        self.assertEqual(blamed(errors), {4, 17})

    def compiled(self, folder: str, text: str) -> str:
        source = Path(folder) / "a.cpp"
        program = Path(folder) / f"{abs(hash(text))}"
        source.write_text(text.replace("#pragma once", ""))
        compiler = os.environ.get("CXX", "g++")
        if not program.exists():
            subprocess.run([compiler, "-std=c++20", "-w", source, "-o", program], check=True)
        return str(program)

    def output(self, program: str, number: int | None = None) -> str:
        environment = {**os.environ, **({} if number is None else {VARIABLE: str(number)})}
        return subprocess.run(
            [program], env=environment, capture_output=True, text=True, check=True
        ).stdout


if __name__ == "__main__":
    unittest.main()
