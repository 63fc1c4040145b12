# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generator of mutants must refuse whatever would make a mutant meaningless."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import mutate
import workshop

HEADER = """#pragma once
#include "warpheap/core/bits.hpp"
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace inner {
inline int answer() { return 42; }
}
inline int twice() { return 2; }
inline int again() { return 2; }
WARPHEAP_END_NAMESPACE
"""


def mutant(find: str, replace: str) -> dict[str, str]:
    return {"name": "broken", "file": "table.toml", "find": find, "replace": replace}


class Mutated(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.include = Path(self.folder.name)
        (self.include / "one.hpp").write_text(HEADER)

    def mutated(self, find: str, replace: str) -> str:
        return mutate.mutated(mutant(find, replace), {"headers": ["one.hpp"]}, self.include)

    def test_changes_one_place_in_a_namespace_of_its_own(self) -> None:
        text = self.mutated("return 42;", "return 41;")
        self.assertIn("namespace mutants::broken {", text)
        self.assertIn("{ return 41; }", text)
        self.assertNotIn("42", text)
        self.assertIn('#include "warpheap/core/bits.hpp"', text)
        self.assertIn('#include "warpheap/one.hpp"', text)

    def test_copies_what_includes_the_changed_header_over_others_too(self) -> None:
        headers = {"before": "core/bits", "between": "one", "behind": "between", "beside": "before"}
        for name, included in headers.items():
            text = HEADER.replace("core/bits", included).replace("answer", name)
            (self.include / f"{name}.hpp").write_text(text)
        (self.include / "one.hpp").write_text(HEADER.replace("core/bits", "before"))
        how = {"headers": ["before.hpp", "one.hpp", "behind.hpp", "beside.hpp"]}
        change = mutant("int answer() { return 42; }", "int answer() { return 41; }")
        text = mutate.mutated(change, how, self.include)
        self.assertEqual(re.findall(r"int (\w+)\(\) { return 4[12]; }", text), ["answer", "behind"])
        self.assertNotIn("beside.hpp", text)
        text = mutate.mutated(change, how | {"whole": True}, self.include)
        found = re.findall(r"int (\w+)\(\) { return 4[12]; }", text)
        self.assertEqual(found, ["before", "answer", "behind", "beside"])

    def test_a_subject_says_where_it_is_met(self) -> None:
        how = {"setups": [], "type": "one", "cases": "cases()", "original": "one"}
        copies = [("a", "wrong", "text"), ("b", "also wrong", "text")]
        text = mutate.translation_unit(how, copies, {"b": "case/pct/weak/7"})
        self.assertIn('"one", "wrong", ""}};', text)
        self.assertIn('"one", "also wrong", "case/pct/weak/7"}};', text)

    def test_nested_namespaces_still_see_the_originals(self) -> None:
        text = self.mutated("return 42;", "return 41;")
        self.assertIn("namespace inner {\nusing namespace ::warpheap::inner;\n}", text)

    def test_line_breaks_do_not_matter(self) -> None:
        self.assertIn(
            "= 1;", self.mutated("answer()\n  {   return\n42;", "answer() { return 0 = 1;")
        )

    def test_a_text_that_is_not_there_is_refused(self) -> None:
        with self.assertRaisesRegex(mutate.TableError, "stands 0 times in one.hpp"):
            self.mutated("return 43;", "return 41;")

    def test_a_text_that_is_there_twice_is_refused(self) -> None:
        with self.assertRaisesRegex(mutate.TableError, "stands 2 times"):
            self.mutated("return 2;", "return 3;")

    def test_a_change_of_nothing_is_refused(self) -> None:
        with self.assertRaisesRegex(mutate.TableError, "changes nothing"):
            self.mutated("return 42;", "return 42;")

    def test_a_header_without_the_namespace_is_refused(self) -> None:
        (self.include / "one.hpp").write_text("int x;\n")
        with self.assertRaisesRegex(mutate.TableError, "one.hpp: exactly one"):
            self.mutated("int x;", "int y;")

    def test_a_header_that_does_not_exist_is_named(self) -> None:
        (self.include / "one.hpp").unlink()
        with self.assertRaisesRegex(mutate.TableError, "'headers' names one.hpp, and there is no"):
            self.mutated("int x;", "int y;")


PROFILE = """[profile.{}]
original = "one"
headers = ["one.hpp"]
setups = []
type = "one"
cases = "cases()"
"""
MUTANT = """[[mutant]]
name = "{}"
profile = "{}"
about = "is wrong"
find = "1"
replace = "2"
"""


class Table(unittest.TestCase):
    def check(self, text: str, message: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.toml"
            table.write_text(text)
            with self.assertRaisesRegex(mutate.TableError, f"table.toml: .*{message}"):
                mutate.read_table(table)

    def test_a_name_twice(self) -> None:
        one = MUTANT.format("a", "p")
        self.check(PROFILE.format("p") + one + one, "'a' is there twice")

    def test_an_unknown_profile(self) -> None:
        self.check(PROFILE.format("p") + MUTANT.format("a", "q"), "no profile is called 'q'")

    def test_a_name_that_is_not_an_identifier(self) -> None:
        self.check(PROFILE.format("p") + MUTANT.format("a-b", "p"), "lower-case letters")

    def test_text_that_is_not_toml(self) -> None:
        self.check("[profile.p\n", "at line 1")

    def test_a_field_that_is_missing(self) -> None:
        self.check('[[mutant]]\nname = "a"\n', r"mutant number 1 \('a'\) lacks 'profile'")
        self.check('[profile.p]\noriginal = "p"\n', "profile 'p' lacks 'headers'")
        self.check("[[mutant]]\n", "mutant number 1 lacks 'name'")

    def test_a_field_of_another_type(self) -> None:
        text = PROFILE.format("p").replace('["one.hpp"]', '"one.hpp"')
        self.check(text, "profile 'p' has a 'headers' that is not a list")
        text = PROFILE.format("p").replace('["one.hpp"]', "[3]")
        self.check(text, "profile 'p' has a 'headers' that is not a list of str")
        where = MUTANT.format("a", "p") + "met = 3\n"
        self.check(PROFILE.format("p") + where, r"number 1 \('a'\) has a 'met' that is not a str")

    def test_an_unknown_key(self) -> None:
        profile, mutant = PROFILE.format("p"), MUTANT.format("a", "p")
        meant = r"has an unknown key 'source' \(did you mean 'sources'\?\); known: original, "
        self.check(profile + 'source = ["one.cpp"]\n' + mutant, f"profile 'p' {meant}")
        # What the other kind of entry may have is unknown, too.
        self.check(
            profile + mutant + "whole = true\n",
            r"mutant number 1 \('a'\) has an unknown key 'whole'; known: name, ",
        )
        self.check(
            profile + 'met = "case/pct/weak/7"\n' + mutant,
            "profile 'p' has an unknown key 'met'; known: original, ",
        )

    def test_a_place_without_a_seed(self) -> None:
        where = MUTANT.format("a", "p") + 'met = "case/pct/weak"\n'
        self.check(
            PROFILE.format("p") + where, "'case/pct/weak', which is not CASE/STRATEGY/MEMORY/SEED"
        )

    def test_a_table_of_another_shape(self) -> None:
        self.check("mutant = 3\n", "'mutant' is not a list of tables")
        self.check("profile = [1]\n", "'profile' is not a table of tables")
        self.check("[mutants]\n", "unknown table 'mutants'; known: profile, mutant")
        self.check("mutant = [1]\n", "mutant number 1 is not a table")

    def test_a_profile_is_like_one_before_it(self) -> None:
        like = '[profile.q]\nlike = "p"\ncases = "others"\n'
        text = PROFILE.format("p") + like + MUTANT.format("a", "p") + MUTANT.format("b", "q")
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.toml"
            table.write_text(text)
            found = mutate.read_table(table)["profile"]
        self.assertEqual(found["q"], {**found["p"], "cases": "others"})
        self.check(like + PROFILE.format("p"), "'q' is like 'p', not one before it")

    def test_a_profile_that_nobody_uses(self) -> None:
        text = PROFILE.format("p") + PROFILE.format("q") + MUTANT.format("a", "p")
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.toml"
            table.write_text(text)
            with self.assertRaisesRegex(mutate.TableError, "profiles without a mutant: q"):
                mutate.read_table(table)
            q = PROFILE.format("q") + "generated = true\n"
            table.write_text(PROFILE.format("p") + q + MUTANT.format("a", "p"))
            self.assertEqual(set(mutate.read_table(table)["profile"]), {"p", "q"})

    def test_parts_that_do_not_fit_together(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            parts = [Path(folder) / "a.toml", Path(folder) / "b.toml"]
            for part in parts:
                part.write_text(PROFILE.format("p") + MUTANT.format(part.stem, "p"))
            with self.assertRaisesRegex(mutate.TableError, "b.toml: profile 'p' is there twice"):
                mutate.read_table(*parts)

    def test_the_real_table_is_sound(self) -> None:
        files = mutate.table_files()
        self.assertIn("mutants.toml", [file.name for file in files])
        table = mutate.read_table(*files)
        self.assertGreaterEqual(len(table["mutant"]), 10)
        for how in table["profile"].values():
            for path in how.get("sources", []):
                self.assertTrue((workshop.ROOT / "tests" / path).is_file(), path)


class TheWorkshop(unittest.TestCase):
    def test_its_explorer_has_what_the_explorer_is_made_of(self) -> None:
        lists = (workshop.ROOT / "tests/verify/CMakeLists.txt").read_text()
        target = re.search(r"add_executable\(\s*warpheap-verify\s([^)]*)\)", lists)
        assert target is not None
        named = [word for word in target[1].split() if word.endswith(".cpp")]
        self.assertEqual([source.name for source in workshop.HARNESS], sorted(named))


if __name__ == "__main__":
    unittest.main()
