# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source check finds each planted violation and accepts a sound file."""

import unittest

import check_sources

LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def what(name: str, text: str) -> list[tuple[int, str]]:
    return list(check_sources.violations(name, text))


class CheckSourcesTest(unittest.TestCase):
    def test_a_sound_file_passes(self) -> None:
        for name, start in [
            ("include/a.hpp", "// "),
            ("tests/CMakeLists.txt", "# "),
            ("tools/a.py", "# "),
            ("dev", "#!/usr/bin/env bash\n# "),
        ]:
            with self.subTest(name=name):
                self.assertEqual(what(name, f"{start}{LINE}\n" + "code\n" * 300), [])

    def test_the_licence_line_is_missing(self) -> None:
        for name in ["a.hpp", "a.cu", "CMakeLists.txt", "cmake/a.cmake", "a.py", "dev", ".ci/run"]:
            with self.subTest(name=name):
                ((line, text),) = what(name, "code\n" * 5 + LINE + "\n")
                self.assertEqual(line, 1)
                self.assertIn("SPDX", text)

    def test_text_needs_no_licence_line(self) -> None:
        self.assertEqual(what("README.md", "# Title\n"), [])
        self.assertEqual(what("results/a.jsonl", "{}\n"), [])

    def test_open_ends(self) -> None:
        for marker in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"):
            with self.subTest(marker=marker):
                ((line, text),) = what("a.hpp", f"// {LINE}\n\n// {marker}: later\n")
                self.assertEqual(line, 3)
                self.assertIn(marker, text)

    def test_a_file_that_is_too_long(self) -> None:
        ((line, text),) = what("a.hpp", f"// {LINE}\n" + "code\n" * 400)
        self.assertEqual(line, 401)
        self.assertIn("401 lines: at most 400", text)


if __name__ == "__main__":
    unittest.main()
