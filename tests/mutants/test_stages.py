# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every mutant must meet everything that can tell, once, and what is likely to tell first."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import generated
import stages
from example_mutant import mutant
from workshop import Verdict

SECONDS = 20.0


class Stages(unittest.TestCase):
    def walk(self, one: generated.Mutant, without: tuple[str, ...] = ()) -> list[str]:
        labels = []
        while stage := stages.next_stage(one, SECONDS, without):
            labels.append(stage.label(one, SECONDS))
            one.tried.append(labels[-1])
            one.verdict = Verdict("survived", "")
        return labels

    def test_orders_meet_the_sanitizer_first_and_others_the_tests_second(self) -> None:
        self.assertEqual(self.walk(mutant(kind="order"))[0], "races:p:4s")
        self.assertEqual(self.walk(mutant(kind="lost"))[:2], ["plain:p:3s", "tests"])

    def test_every_mutant_meets_everything_once(self) -> None:
        for kind in ("order", "boundary", "lost", "swapped"):
            labels = self.walk(mutant(kind=kind))
            self.assertEqual(len(set(labels)), len(labels))
            for wanted in ("plain:p:20s", "races:p:20s"):
                self.assertIn(wanted, labels)
            self.assertEqual("tests" in labels, kind != "order")
            self.assertEqual("memory:tests" in labels, kind != "order")
            self.assertTrue(any(label.startswith("plain:q") for label in labels))

    def test_a_survivor_has_met_all_its_profiles_with_the_sanitizer(self) -> None:
        for kind in ("order", "lost"):
            one = mutant(kind=kind)
            one.profiles = ["p", "q", "r", "s"]
            labels = self.walk(one)
            self.assertEqual(len(set(labels)), len(labels))
            for flavour in ("plain", "races"):
                met = {label.split(":")[1] for label in labels if label.startswith(flavour)}
                self.assertEqual(met, set(one.profiles))

    def test_only_what_survives_all_else_meets_address_sanitizer(self) -> None:
        for profiles in (["p", "q"], []):
            one = mutant()
            one.profiles = profiles
            self.assertEqual(self.walk(one)[-1], "memory:tests")
            one = mutant()
            one.profiles, one.killed_before = profiles, ("memory:tests", "tests: a_test.cpp: x")
            labels = self.walk(one)
            self.assertEqual((labels[0], labels.count("memory:tests")), ("memory:tests", 1))

    def test_what_is_left_out(self) -> None:
        without = ("tests", "races", "memory")
        kinds = {label.split(":")[0] for label in self.walk(mutant(), without)}
        self.assertEqual(kinds, {"plain"})
        whole = self.walk(mutant())
        self.assertEqual(self.walk(mutant(), ("memory",)), whole[:-1])
        self.assertEqual(self.walk(mutant(), ("tests",)), [one for one in whole if one != "tests"])

    def test_one_that_no_profile_has_meets_its_tests_alone(self) -> None:
        for kind, wanted in (("order", ["tests"]), ("lost", ["tests", "memory:tests"])):
            one = mutant(kind=kind)
            one.profiles = []
            self.assertEqual(self.walk(one), wanted)
        one = mutant()
        one.profiles = []
        self.assertEqual(self.walk(one, ("tests", "memory")), [])

    def test_what_killed_it_before_comes_first(self) -> None:
        one = mutant()
        one.killed_before = "races:q:7s", "a race"
        self.assertEqual(self.walk(one)[:3], ["races:q:7s", "plain:p:3s", "tests"])
        one = mutant()
        one.killed_before = "tests", "tests: a_test.cpp: a.b"
        self.assertEqual(self.walk(one)[:2], ["tests", "plain:p:3s"])

    def test_what_killed_it_before_and_is_no_more_is_left_out(self) -> None:
        for gone in ("plain:other:3s", "nobody", "races"):
            one = mutant()
            one.killed_before = gone, ""
            self.assertEqual(self.walk(one), self.walk(mutant()))

    def test_the_dead_have_none(self) -> None:
        for status in ("killed", "stillborn"):
            one = mutant()
            one.verdict = Verdict(status, "")
            self.assertIsNone(stages.next_stage(one, SECONDS))
        one.verdict = Verdict("undecided", "")
        self.assertIsNotNone(stages.next_stage(one, SECONDS))


if __name__ == "__main__":
    unittest.main()
