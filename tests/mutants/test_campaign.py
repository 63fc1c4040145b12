# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The campaign must lose no verdict, believe no broken judge, and go on where it stopped."""

import argparse
import contextlib
import copy
import io
import json
import sys
import tempfile
import time
import unittest
import unittest.mock
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import generated
import mutate
import records
import stages
from example_mutant import mutant
from faults import Fault, faults
from suites import Suites
from switchboard import Switchboard
from workshop import Flavour, OutOfTimeError, Verdict, Workshop

SECONDS = 20.0


class InAFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "verdicts.jsonl"

    def write(self, *rows: dict[str, object]) -> None:
        self.path.write_text("".join(json.dumps(row) + "\n" for row in rows))


class TheFile(InAFolder):
    def test_a_line_is_there_at_once_and_the_last_of_a_mutant_holds(self) -> None:
        kept = records.Records(self.path)
        one = mutant()
        one.tried, one.verdict = ["plain:p:3s"], Verdict("survived", "")
        kept.write(records.row_of(one, done=False))
        self.assertEqual(json.loads(self.path.read_text())["status"], "open")
        one.tried, one.verdict = ["plain:p:3s", "tests"], Verdict("killed", "a test")
        kept.write(records.row_of(one, done=True))
        again = mutant()
        records.read(self.path, [again])
        self.assertEqual((again.tried, again.verdict), (one.tried, one.verdict))
        self.assertEqual(again.killer, "tests")

    def test_an_open_mutant_goes_on_and_a_killed_one_does_not(self) -> None:
        one, two = mutant(), mutant(header="two.hpp")
        one.tried, one.verdict = ["plain:p:3s"], Verdict("survived", "")
        two.tried, two.verdict = ["plain:p:3s"], Verdict("killed", "found")
        self.write(records.row_of(one, done=False), records.row_of(two, done=True))
        one, two = mutant(), mutant(header="two.hpp")
        records.read(self.path, [one, two])
        self.assertEqual(stages.next_stage(one, SECONDS), stages.TESTS)
        self.assertIsNone(stages.next_stage(two, SECONDS))

    def test_one_that_went_through_all_is_called_survived(self) -> None:
        one = mutant()
        one.verdict = Verdict("undecided", "")
        self.assertEqual(records.row_of(one, done=True)["status"], "survived")

    def test_verdicts_on_something_else_are_refused(self) -> None:
        row = records.row_of(mutant(), done=False)
        for wrong in ({**row, "which": 1}, {**row, "line": "y = 1;"}):
            self.write(wrong)
            with self.assertRaisesRegex(records.RecordError, "not the same"):
                records.read(self.path, [mutant()])

    def test_a_mutant_keeps_its_verdict_under_another_number(self) -> None:
        one = mutant(name="g0001")
        one.tried, one.verdict = ["plain:p:3s"], Verdict("killed", "found")
        self.write(records.row_of(one, done=True))
        one, other = mutant(name="g0007"), mutant(name="g0001", header="two.hpp")
        records.read(self.path, [other, one])
        self.assertEqual((one.tried, one.lives), (["plain:p:3s"], False))
        self.assertEqual((other.tried, other.lives), ([], True))

    def test_lines_that_are_not_verdicts_are_refused(self) -> None:
        for text in ("{\n", "[]\n", '{"name": "g0001"}\n'):
            self.path.write_text(text)
            with self.assertRaisesRegex(records.RecordError, "jsonl:1: not a verdict"):
                records.read(self.path, [mutant()])
        self.path.write_text("{\n")
        with self.assertRaisesRegex(records.RecordError, "not verdicts"):
            records.keys_in(self.path)

    def test_it_names_its_mutants_once(self) -> None:
        both = mutant(), mutant(header="two.hpp")
        first, second = (records.row_of(one, done=True) for one in both)
        self.write(first, second, {"control": "tests:a", "passes": True}, first)
        self.assertEqual(records.keys_in(self.path), {one.key for one in both})


class Again(InAFolder):
    def test_a_mutant_is_known_by_what_it_changes(self) -> None:
        dead, alive, other = (mutant(name=f"g{i}") for i in range(3))
        dead.tried, dead.verdict = (
            ["plain:p:3s", "tests"],
            Verdict("killed", "tests: a_test.cpp: x"),
        )
        alive.which, other.which = 1, 2
        rows = [records.row_of(one, done=True) for one in (dead, alive)]
        self.write(rows[0], {"control": "tests:a", "passes": True}, rows[1])
        now = [mutant(name=f"g{i}") for i in (7, 8, 9)]
        for one, which in zip(now, (2, 0, 1), strict=True):
            one.which = which
        chosen = records.drawn_before(self.path, now)
        self.assertEqual([one.name for one in chosen], ["g8", "g9"])
        self.assertEqual(chosen[0].killed_before, ("tests", "tests: a_test.cpp: x"))
        self.assertEqual(chosen[1].killed_before, ("", ""))
        self.assertTrue(all(one.tried == [] and one.verdict is None for one in chosen))

    def test_lines_that_are_not_verdicts_are_refused(self) -> None:
        for text in ("{\n", "[]\n", '{"name": "g0001"}\n'):
            self.path.write_text(text)
            with self.assertRaisesRegex(records.RecordError, "not verdicts"):
                records.drawn_before(self.path, [])


class EqualLines(unittest.TestCase):
    def test_have_numbers_and_others_none(self) -> None:
        faults = [
            Fault("lost", place, place + 1, "", line, "is not there")
            for place, line in enumerate(("x = 1;", "y = 1;", "x = 1;"))
        ]
        self.assertEqual([which for _, which in generated.numbered(faults)], [1, 0, 2])


@cache
def the_table() -> dict[str, Any]:
    """Read the tables of all managers."""
    return mutate.read_table(*mutate.table_files())


@cache
def all_mutants() -> tuple[generated.Mutant, ...]:
    """Find the mutants of all headers, which takes seconds. Not to be changed."""
    return tuple(generated.all_mutants(the_table()))


class TheHeaders(InAFolder):
    def test_all_with_code_that_can_be_mutated_are_judged(self) -> None:
        judged = {one.header for one in all_mutants()}
        left = set()
        for path in generated.INCLUDE.rglob("*.hpp"):
            header = str(path.relative_to(generated.INCLUDE))
            if any(faults(generated.body_of(header))) and header not in judged:
                left.add(header)
        missing = [header for header in left if not generated.why_not_judged(header)]
        self.assertEqual(missing, [], "no profile names these, and no unit test has them")
        for start in generated.NOT_JUDGED:
            self.assertTrue(any(one.startswith(start) for one in left), f"{start} is judged")

    def test_those_without_a_profile_have_tests(self) -> None:
        controls = records.Controls(records.Records(None), {})
        workshop = Workshop(self.folder)
        board = Switchboard([], workshop, self.folder)
        suites = Suites(workshop, self.folder, 1, controls, board)
        for header in sorted({one.header for one in all_mutants() if not one.profiles}):
            self.assertTrue(suites.sources(header), header)


class Believed(InAFolder):
    def test_a_judge_is_asked_once_for_the_headers_as_they_are(self) -> None:
        asked = []

        def judge() -> Verdict:
            asked.append(1)
            return Verdict("killed", "always")

        with contextlib.redirect_stdout(io.StringIO()) as printed:
            controls = records.Controls(records.Records(self.path), {})
            self.assertFalse(controls.passes("tests:a", judge))
            self.assertFalse(controls.passes("tests:a", judge))
        self.assertEqual(len(asked), 1)
        self.assertIn("NOT BELIEVED: tests:a", printed.getvalue())
        self.assertEqual(controls.failed, ["tests:a"])
        controls.passes("tests:b", lambda: Verdict("survived", ""))
        self.assertEqual(records.read(self.path, []), {"tests:b": True})

    def test_a_control_has_nothing_wrong(self) -> None:
        table = mutate.read_table(*mutate.table_files())
        profile, how = next(iter(table["profile"].items()))
        one = generated.control(profile, how)
        text = (generated.INCLUDE / one.header).read_text()
        self.assertEqual(one.changed_body()[0], text)


class TheTime(InAFolder):
    def test_ends_a_program_and_what_it_has_started(self) -> None:
        mark = self.folder / "mark"
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\n(sleep 4; touch {mark}) &\nsleep 60\n")
        program.chmod(0o755)
        start = time.monotonic()
        workshop = Workshop(self.folder, start + 0.5)
        with self.assertRaises(OutOfTimeError):
            workshop.run_tests(program, 60)
        self.assertLess(time.monotonic() - start, 3)
        mark.unlink(missing_ok=True)
        with self.assertRaises(OutOfTimeError):
            workshop.run_tests(Path("/bin/touch"), 60, str(mark))
        self.assertFalse(mark.exists(), "a program was started when the time was over")
        time.sleep(max(0, start + 4.5 - time.monotonic()))
        self.assertFalse(mark.exists())


class Rejecting(Workshop):
    """A workshop that makes nothing, and rejects what it is told to until its time is over."""

    def __init__(self, folder: Path, killed: set[str], explored: int) -> None:
        super().__init__(folder)
        self.folder, self.killed, self.left = folder, killed, explored

    def build(
        self,
        name: str,
        source: str,
        flavour: Flavour,
        others: list[str] | None = None,
        complain: Callable[[str], None] | None = None,
    ) -> Path:
        program = self.folder / f"{name}.{flavour.name}"
        program.touch()
        return program

    def explore(
        self, program: Path, mutant: str, seconds: float, switch: int | None = None
    ) -> Verdict:
        if self.left == 0:
            self.stop()
            raise OutOfTimeError
        self.left -= 1
        name = mutant if switch is None else f"g{switch:04}"
        return Verdict("killed" if name in self.killed else "survived", "")


class TheHunt(InAFolder):
    def hunt(
        self, killed: set[str], explored: int = 1000, equivalent: int = 0
    ) -> list[generated.Mutant]:
        """Hunt four mutants without their tests, on from where the file says they are.

        So many of them are known to be equivalent, and then not hunted.
        """
        found = [m for m in all_mutants() if m.header.startswith("managers/bump/")]
        chosen = copy.deepcopy(found[:4])
        for one in chosen[:equivalent]:
            one.why_equivalent = "for this test"
        known = records.read(self.path, chosen) if self.path.exists() else {}
        kept = records.Records(self.path)
        options = argparse.Namespace(
            work=self.folder, minutes=None, seed=1, jobs=1, seconds=SECONDS, schedules=1,
            test_seconds=1, without_tests=True, without_races=False, without_memory=False,
            without_equivalent=equivalent != 0,
        )  # fmt: skip
        hunt = campaign.Hunt(the_table(), options, kept, records.Controls(kept, known))
        hunt._workshop = Rejecting(self.folder, killed, explored)
        hunt._workshop.prepare = lambda *_: []  # type: ignore[method-assign]
        for one in chosen:
            kept.write(records.row_of(one, hunt.done(one)))
        with contextlib.redirect_stdout(io.StringIO()):
            hunt.run(chosen)
        self.explored = 1000 - hunt._workshop.left
        return chosen

    def test_one_is_killed_and_the_others_survive_all_stages(self) -> None:
        first = self.hunt(set())[0].name
        self.path.unlink()
        chosen = self.hunt({first})
        self.assertEqual([one.lives for one in chosen], [False, True, True, True])
        self.assertEqual(len(chosen[0].tried), 1)
        self.assertTrue(all(len(one.tried) > 2 for one in chosen[1:]))
        rows = [json.loads(line) for line in self.path.read_text().splitlines()]
        last = {row["name"]: row["status"] for row in rows if "name" in row}
        self.assertEqual(sorted(last.values()), ["killed", "survived", "survived", "survived"])

    def test_known_equivalents_are_left_out_when_asked(self) -> None:
        chosen = self.hunt(set(), equivalent=1)
        self.assertTrue(chosen[0].why_equivalent)
        for one in chosen:
            self.assertEqual(one.tried == [], bool(one.why_equivalent), one)

    def test_nobody_is_killed_by_what_rejects_the_headers_as_they_are(self) -> None:
        first = self.hunt(set())[0].name
        self.path.unlink()
        wrong = {"control", "layer_0_of_bump", "layer_0_of_bump_warp"}
        self.assertTrue(all(one.lives for one in self.hunt({first, *wrong})))

    def test_in_pieces_it_tries_everything_and_nothing_twice(self) -> None:
        whole = [one.tried for one in self.hunt(set())]
        explored = self.explored
        self.path.unlink()
        cut = self.hunt(set(), explored=5)
        self.assertEqual(sum(len(one.tried) for one in cut), 5)
        self.assertEqual([one.tried for one in self.hunt(set())], whole)
        self.assertEqual(self.explored, explored - 5)

    def test_those_that_an_earlier_run_began_come_first(self) -> None:
        last = self.hunt(set())[-1]
        whole, last.tried = last.tried, last.tried[:1]
        self.path.write_text(json.dumps(records.row_of(last, False)) + "\n")
        cut = self.hunt(set(), explored=len(whole) - 1)
        self.assertEqual([one.tried for one in cut], [[], [], [], whole])


class WhichAreChosen(unittest.TestCase):
    def listed(self, *options: str) -> tuple[int, list[str]]:
        """Return the exit status and the names of the mutants that a campaign would judge."""
        printed = io.StringIO()
        with (
            unittest.mock.patch.object(sys, "argv", ["campaign.py", "--list", *options]),
            unittest.mock.patch.object(campaign, "all_mutants", lambda _: list(all_mutants())),
            contextlib.redirect_stdout(printed),
        ):
            status = campaign.main()
        return status, [line.split()[0] for line in printed.getvalue().splitlines()[:-1]]

    def test_those_that_count_as_equivalent_alone_in_a_sample_of_each_seed(self) -> None:
        equivalent = {one.name for one in all_mutants() if one.why_equivalent}
        status, names = self.listed("--only-equivalent")
        self.assertEqual((status, set(names)), (0, equivalent))
        drawn = [self.listed("--only-equivalent", "--sample", "20", "--seed", s)[1] for s in "12"]
        for some in drawn:
            self.assertEqual(len(some), 20)
            self.assertLess(set(some), equivalent)
        self.assertNotEqual(*drawn)

    def test_none_to_doubt_is_an_error(self) -> None:
        self.assertEqual(self.listed("--only-equivalent", "--header", "no such one"), (2, []))


if __name__ == "__main__":
    unittest.main()
