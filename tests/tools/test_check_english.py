# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The phrases that lint refuses are found, also over a line's end; what is English passes."""

import unittest

import check_english

REFUSED = (
    "a full heap gives null",
    "a full heap answers with null",
    "when memory is out",
    "times of malloc warm, on an H200",
    "it waits for nobody",
    "the search comes to its end",
    "it did not end in 145 s",
    "taken by whoever came first",
    "/// Who moves the block is safe.",
    "until it is his turn",
    "so large a block",
    "how many bytes it were",
    "Makes sure of slots",
    "the heap is answered with its size",
    "pages are made up for",
    "'surwey' is no command of ./dev",
    "what is no block in use",
    "0 for what is none",
    "nothing that is needed is missing",
    "Nothing here is usual",
    "all blocks that can be had",
    "the memory cannot be had here",
    "blocks that can still be had",
    "3 blocks were had from a heap",
    "a heap of so many chunks",
    "the answer is no JSON",
    "the first line is no '// NAME.cpp'",
    "it fails for want of memory",
    "a bitmap outside of the heap",
    "a bit a page, and no more",
    "4 B a chunk",
    "one atomic a lane",
    "what a row says of the machine",
    "a program that knows nothing of heaps",
    "lost to somebody else",
    "it is gone for ever",
    "for the time when nobody allocates",
    "others were faster with the block",
    "progress as of `stream_pool`",
    "k buckets a class",
    "fewer slices a block in small heaps",
    "one atomic a request",
    "one search a group",
    "13 requests a lane",
    "prints the names, one a line",
)
PERMITTED = (
    "returns null when out of memory",
    "there is no such file",
    "it is no longer needed",
    "with so many lanes that it takes long",
    "raises KeyError if there is none",
    "until there are none left",
    "this is the history of others",
    "says how many blocks there are",
    "a lane that waits for another lane",
    "the person who calls it",
    "one bit per page",
    "slots a lane may claim",
    "nobody, and none of the others",
    "in the words a lane has read",
    "the state as of today",
    "it requests a chunk and waits",
    "a superblock is used again once a block of it is free",
)


def phrases(text: str) -> list[tuple[int, str]]:
    return [(line, phrase) for line, phrase, _ in check_english.violations(text)]


class CheckEnglishTest(unittest.TestCase):
    def test_refused_phrases_are_found_with_their_line(self) -> None:
        for text in REFUSED:
            with self.subTest(text=text):
                ((line, _),) = phrases(f"first line\n{text}\n")
                self.assertEqual(line, 2)

    def test_english_passes(self) -> None:
        for text in PERMITTED:
            with self.subTest(text=text):
                self.assertEqual(phrases(text), [])

    def test_lanes_are_called_lanes_in_headers(self) -> None:
        text = "/// The words, while nobody\n/// allocates.\n"
        self.assertEqual(phrases(text), [])
        found = list(check_english.violations(text, "include/warpheap/one.hpp"))
        self.assertEqual([line for line, _, _ in found], [1])
        state = "/// A chunk that belongs to nobody; `chunk_owner::nobody`.\n"
        self.assertEqual(list(check_english.violations(state, "include/warpheap/one.hpp")), [])

    def test_a_phrase_over_the_end_of_a_comments_line(self) -> None:
        for mark in ("///", "//", "#", " *", ""):
            with self.subTest(mark=mark):
                found = phrases(
                    f"{mark} the holder never\n{mark} waits for\n{mark}   nobody else\n"
                )
                self.assertEqual(found, [(2, "waits for nobody")])

    def test_a_name_is_a_phrase(self) -> None:
        for name in (
            "TEST(heap, a_full_one_gives_null_and_is_whole_again) {",
            "TEST(Growth, EndsWhenMemoryIsOut) {",
            "    def test_what_is_no_file_is_named(self) -> None:",
            'case_of<spinning>("spin_for_ever", how)',
        ):
            with self.subTest(name=name):
                self.assertEqual([line for line, _ in phrases(f"first line\n{name}\n")], [2])

    def test_a_name_of_few_words_or_in_english_passes(self) -> None:
        for name in ("is_none(piece)", "self.assertIsNone(it)", "a_full_heap_returns_null()"):
            with self.subTest(name=name):
                self.assertEqual(phrases(name), [])

    def test_a_marked_line_may_quote(self) -> None:
        self.assertEqual(phrases('"gives null"  # english: ok\n'), [])


if __name__ == "__main__":
    unittest.main()
