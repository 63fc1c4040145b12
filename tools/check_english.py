# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps turns of phrase that no native speaker would write out of comments, messages and pages.

Usage: check_english.py FILE...: prints `FILE:LINE: 'found': better` for each and exits 1 if there
is any. A phrase may go over a line's end. A name of three words or more is read as a phrase, too:
those of tests are. It knows the worst only; that a text passes does not make it good. A line with
the mark `english: ok` may quote what it likes.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# What to look for, and what to write instead.
PHRASES = (
    (r"gives? (?:a )?null|answers? with null|(?:is|are|was) given null", "'returns null'"),
    (r"memory (?:that )?(?:is|was|were) out|out of memory is", "'out of memory' or 'exhausted'"),
    (r"(?:mallocs?|frees?) (?:warm|cold|fresh)(?=[ ,.;:)])", "'warm malloc'"),
    (r"waits? for nobody", "'never waits'"),
    (r"com(?:es?|ing) to (?:its|their|an) end|to (?:its|their) ends?", "'finishes' or 'ends'"),
    (r"(?:did|does|do) not end(?! in an? | with)", "'has not finished'"),
    (r"whoever|Whoever", "name the one who acts: 'a lane that ...'"),
    (r"Who [a-z]+s\b", "name the one who acts: 'a lane that ...'"),
    (r"(?:his|her|himself|herself)\b(?! or )", "'its' or 'their'"),
    (r"so (?:large|small|long|short|big) an?\b", "'a block that large'"),
    (r"so (?:many|much) (?:blocks|pages|lanes|threads|segments|bytes|memory) as", "'as many as'"),
    (r"how many \w+ it (?:is|was|were)", "'the number of ...'"),
    (r"(?:M|m)akes? sure of", "'ensures that ...'"),
    (r"is answered with", "'returns' or 'the error states'"),
    (r"(?:is|are|was|were) made up for", "'is replaced'"),
    (
        r"(?<![Tt]here )(?:is|are|was|were) no "
        r"(?!longer|more|less|fewer|larger|smaller|worse|better|later|earlier|different|such|other"
        r"|need|matter)['\"`]?[a-zA-Z/#]+",
        "'is not a ...' or 'unknown ...'",
    ),
    (r"what (?:is|was) no\b", "'a pointer that is not a ...'"),
    (r"(?<!there )(?:is|are|was|were) none(?! left| of)", "'does not exist' or 'is not one'"),
    (r"nothing that is needed is missing", "'all requirements are met'"),
    (r"[Nn]othing here is", "'none of this is'"),
    (
        r"(?:can|could|cannot|to) (?:\w+ )?be had\b|(?:is|are|was|were) had\b",
        "'is available' or 'got'",
    ),
    (r"(?:of|in|with|takes?|has|as|up to) so many(?! \w+ that\b)", "'this many'"),
    (r"for want of", "'because there is no ...'"),
    (r"counts? from below|memory from below", "'upstream'"),
    (r"(?:[Ii]n|[Oo]ut)side of (?:the|an?|its|it|what|any|each|every)", "'inside' or 'outside'"),
    (
        r"(?:[Oo]ne|\d+ (?:bits?|words?|B)|(?:[Aa]|[Oo]ne) (?:bit|word|flag|row|slot)) an? "
        r"(?:unit|page|class|chunk|word|granule|lane|measurement|multiprocessor)",
        "'per', as in 'one bit per page'",
    ),
    (
        r"(?:atomics?|registers?|threads|lanes|lines?|bytes|slots|slices|buckets|searches|chunks"
        r"|blocks|words|superblocks|[Oo]ne search) an? "
        r"(?:lane|thread|warp|block|group|launch|kernel|page|chunk|bucket|slice|request|search"
        r"|atomic|class|call|multiprocessor)"
        r"(?! (?:can|has|had|holds|is|may|must|takes|that)\b)",
        "'per', as in 'bytes per block'",
    ),
    (r"requests an? (?:lane|thread|warp|launch|group)", "'requests per lane'"),
    (r"(?:names|files|[Oo]ne) a (?:line|request|search)", "'one per line'"),
    (r"(?:says?|tells?) of (?:an?|the|it|them|itself|each|this)", "'says about'"),
    (r"(?:knows?|knowing) nothing of", "'does not know'"),
    (r"(?:any|some)body", "'a lane', or the one who acts"),
    (r"for ever", "'forever'"),
    (r"[Ff]or the time when", "'only while'"),
    (r"others (?:are|were) faster", "'it lost to others'"),
    (r"[Aa]s of (?=`)", "'as in' or 'like'"),
)
# Only in the library, where those who act are lanes, threads or callers.
IN_HEADERS = ((r"[Nn]obody(?: else)?(?= [a-z])", "'no lane', or the one who acts"),)
HEADERS = "include/"
PERMIT = "english: ok"
# In snake_case or CamelCase, but for those of unittest, such as assertIsNone. Shorter ones, such as
# `is_none`, are not sentences.
NAME = re.compile(r"(?!assert[A-Z])\b[A-Za-z]\w*")
LEAST_WORDS = 3
WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
# What a comment's next line begins with.
LINE_BREAK = re.compile(r"\s*\n\s*(?:///?|#|\*)?[<!]?\s*")


@cache
def any_of(phrases: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    """Matches each phrase as a group of its number."""
    return re.compile(
        "|".join(rf"(?P<p{k}>(?<!\w)(?:{found})(?!\w))" for k, (found, _) in enumerate(phrases))
    )


def violations(text: str, name: str = "") -> Iterator[tuple[int, str, str]]:
    """(line, phrase, better) of each phrase in the text of a file."""
    phrases = PHRASES + IN_HEADERS if name.startswith(HEADERS) else PHRASES
    # Every position of the joined text with the line that it is from.
    joined, starts, at = [], [], 0
    number = 1
    for part in re.split(rf"({LINE_BREAK.pattern})", text):
        is_break = "\n" in part
        piece = " " if is_break else part
        starts.append((at, number))
        joined.append(piece)
        at += len(piece)
        number += part.count("\n")
    lines = text.splitlines()
    yield from violations_in_names(lines)
    for match in any_of(phrases).finditer("".join(joined)):
        line = next(n for start, n in reversed(starts) if start <= match.start())
        if PERMIT not in lines[line - 1]:
            assert match.lastgroup is not None
            yield line, match.group(), phrases[int(match.lastgroup[1:])][1]


def violations_in_names(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """The same of the names in these lines."""
    for number, line in enumerate(lines, 1):
        if PERMIT in line:
            continue
        for name in NAME.findall(line):
            words = WORD.findall(name)
            if len(words) < LEAST_WORDS:
                continue
            for match in any_of(PHRASES).finditer(" ".join(words).lower()):
                assert match.lastgroup is not None
                better = PHRASES[int(match.lastgroup[1:])][1]
                yield number, name, f"'{match.group()}': {better}"


def main(names: list[str]) -> int:
    found = 0
    for name in names:
        for line, phrase, better in violations(Path(name).read_text(encoding="utf-8"), name):
            print(f"{name}:{line}: '{phrase}': {better}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
