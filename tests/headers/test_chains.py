# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of chains.py: no header gets from others of its chain what it does not include itself."""

import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from chains import all_includes, chains, direct_includes

HERE = Path(__file__).parent


def chains_of(direct: dict[str, set[str]]) -> list[list[str]]:
    return sorted(chains(all_includes(direct)))


class Includes(unittest.TestCase):
    def test_what_stands_under_a_condition_may_be_missing(self) -> None:
        text = '#include "a.hpp"\n#ifdef X\n#  include "b.hpp"\n#else\n#include "c.hpp"\n#endif\n'
        self.assertEqual(direct_includes(text + '#include "d.hpp"\n', "cpu"), {"a.hpp", "d.hpp"})

    def test_the_model_that_is_compiled_is_there(self) -> None:
        text = (
            '#if CUDA\n#include "x/simt/cuda/y.hpp"\n#else\n#include "x/simt/cpu/y.hpp"\n#endif\n'
        )
        self.assertEqual(direct_includes(text, "cpu"), {"x/simt/cpu/y.hpp"})
        self.assertEqual(direct_includes(text, "cuda"), {"x/simt/cuda/y.hpp"})

    def test_an_include_reaches_through_others(self) -> None:
        direct = {"a": set[str](), "b": {"a"}, "c": {"b"}}
        self.assertEqual(all_includes(direct)["c"], {"a", "b"})


class Chains(unittest.TestCase):
    def test_headers_without_each_other_are_apart(self) -> None:
        self.assertEqual(chains_of({"a": set(), "b": set()}), [["a"], ["b"]])

    def test_a_header_follows_those_that_it_includes(self) -> None:
        self.assertEqual(chains_of({"c": {"b"}, "b": {"a"}, "a": set()}), [["a", "b", "c"]])

    def test_of_two_that_do_not_include_each_other_one_is_apart(self) -> None:
        found = chains_of(
            {"low": set(), "left": {"low"}, "right": {"low"}, "top": {"left", "right"}}
        )
        self.assertEqual(len(found), 2)
        self.assertEqual(sorted(itertools.chain(*found)), ["left", "low", "right", "top"])
        self.assertFalse(any({"left", "right"} <= set(chain) for chain in found))

    def test_all_headers_of_this_tree_are_in_one_chain_each(self) -> None:
        include = HERE.parents[1] / "include"
        files = [file for file in include.rglob("*.hpp") if "cuda" not in file.parts]
        names = [str(file.relative_to(include)) for file in files]
        texts = {name: (include / name).read_text(encoding="utf-8") for name in names}
        direct = {name: direct_includes(texts[name], "cpu") & set(names) for name in names}
        includes = all_includes(direct)
        found = chains(includes)
        self.assertEqual(sorted(itertools.chain(*found)), sorted(names))
        for chain in found:
            for below, top in itertools.pairwise(chain):
                self.assertIn(below, includes[top])


class Sources(unittest.TestCase):
    def test_each_chain_is_included_twice(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            include, out = Path(folder) / "include", Path(folder) / "out"
            include.mkdir()
            (include / "low.hpp").write_text("#pragma once\n")
            (include / "top.hpp").write_text('#pragma once\n#include "low.hpp"\n')
            command = (sys.executable, "-B", HERE / "chains.py", include, "cpu", out, "cpp")
            said = subprocess.check_output([*command, "top.hpp", "low.hpp"], text=True)
            self.assertEqual(said, f"{out}/top_hpp.cpp\n")
            lines = (out / "top_hpp.cpp").read_text().splitlines()
            self.assertEqual(lines, ['#include "low.hpp"', '#include "top.hpp"'] * 2)


if __name__ == "__main__":
    unittest.main()
